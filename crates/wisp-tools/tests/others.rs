//! `inspect`, `ask` and `notify` through a real registry, and what the definitions of all tools cost.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

use std::sync::Mutex;

use serde_json::{Value, json};
use support::{Stage, block};
use wisp_exec::Cancel;
use wisp_tools::behind::State;
use wisp_tools::{Answering, Behind, BuiltinOptions, Choosing, Person, Question, Request, Scene, builtin};

struct Settings(Value);

impl State for Settings {
    fn config(&self) -> Value {
        self.0.clone()
    }

    fn status(&self) -> Value {
        json!({"model": "sim", "turn": 1})
    }
}

/// Chooses the last choice, and notes what is shown.
#[derive(Default)]
struct Somebody(Mutex<Vec<String>>);

impl Person for Somebody {
    fn ask(&self, _: Question) -> Answering<'_> {
        Box::pin(async { None })
    }

    fn doing(&self, _: &str) {}

    fn choose(&self, question: &str, choices: Vec<String>) -> Choosing<'_> {
        self.0.lock().unwrap().push(question.to_owned());
        Box::pin(async move { choices.last().cloned() })
    }

    fn notify(&self, title: &str, message: &str) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("{title}|{message}"));
        Ok(())
    }
}

async fn with(stage: &mut Stage, person: &dyn Person, tool: &str, arguments: Value) -> String {
    let settings = Settings(json!({"notifications": {"enabled": true}}));
    let scene = Scene {
        turn: 1,
        person,
        cancel: &Cancel::new(),
        behind: Behind {
            state: Some(&settings),
            ..Behind::default()
        },
    };
    let request = Request {
        tool,
        arguments: &arguments,
    };
    let pending = stage.registry.run(request, &scene).await.unwrap();
    stage.finish(vec![pending]).remove(0).pending.admitted.shown
}

#[test]
fn inspect_shows_a_turns_calls_one_line_each() {
    block(async {
        let mut stage = Stage::new(true);
        stage.shown("run_command", json!({"command": "exit 3"})).await;
        stage.shown("print", json!({"lines": 2})).await;
        let calls = stage.shown("inspect", json!({"what": "calls"})).await;
        assert_eq!(calls.lines().count(), 3, "{calls}");
        assert!(
            calls.starts_with("turn 1:\nrun_command exit 3 → exit 3, "),
            "{calls}"
        );
        assert!(calls.contains("\nprint {\"lines\":2} → ok, 14 bytes"), "{calls}");
        let none = stage.shown("inspect", json!({"what": "calls", "turn": 9})).await;
        assert_eq!(none, "no tool was called in turn 9");
    });
}

#[test]
fn an_argument_that_a_tool_does_not_have_is_told_above_the_result() {
    block(async {
        let mut stage = Stage::new(true);
        let shown = stage
            .shown(
                "run_command",
                json!({"command": "echo hi", "colour": "/tmp", "why": null}),
            )
            .await;
        assert_eq!(
            shown,
            "[ignored: run_command has no argument \"colour\"; it takes command, workingDirectory, timeoutSeconds, background]\nexit status 0\nstdout:\nhi\n"
        );
        let again = json!({"command": "echo hi", "colour": "/tmp", "why": null});
        let shown = stage.shown("run_command", again).await;
        assert!(
            shown.starts_with("[repeated call: ") && shown.contains("]\n[ignored: run_command has no"),
            "{shown}"
        );
        let without = stage.shown("run_command", json!({"command": "echo hi"})).await;
        assert!(!without.contains("[ignored"), "{without}");
    });
}

#[test]
fn inspect_audit_filters_by_kind_turn_and_count() {
    block(async {
        let mut stage = Stage::new(true);
        stage.shown("print", json!({"lines": 1})).await;
        stage.shown("print", json!({"lines": 2})).await;
        let one = stage
            .shown(
                "inspect",
                json!({"what": "Audit", "kind": "tool.call", "last": "1"}),
            )
            .await;
        assert_eq!(one.lines().count(), 1);
        assert!(
            one.contains(" tool.call session=") && one.contains(" turn=1 call="),
            "{one}"
        );
        assert!(
            one.contains(": inspect {"),
            "the call under way is recorded: {one}"
        );
        let family = stage
            .shown("inspect", json!({"what": "audit", "kind": "tool", "turn": 2}))
            .await;
        assert_eq!(family, "no matching audit events");
        let wrong = stage
            .shown("inspect", json!({"what": "audit", "kind": "tol.call"}))
            .await;
        assert!(
            wrong.starts_with(
                "error: there is no kind \"tol.call\"; leave `kind` out, or give one of: session.start"
            ),
            "{wrong}"
        );
        let wrong = stage.shown("inspect", json!({"what": "weather"})).await;
        assert_eq!(
            wrong,
            "error: there is no view \"weather\"; call inspect again with `what` one of: config, status, approvals, audit, calls"
        );
        let approvals = stage.shown("inspect", json!({"what": "approvals"})).await;
        assert!(approvals.starts_with("nothing is approved"), "{approvals}");
    });
}

#[test]
fn inspect_config_and_status_are_the_conversations() {
    block(async {
        let mut stage = Stage::new(true);
        let nobody = Somebody::default();
        let config = with(&mut stage, &nobody, "inspect", json!({"what": "config"})).await;
        assert!(config.contains("\"enabled\": true"), "{config}");
        let status = with(&mut stage, &nobody, "inspect", json!({"what": "status"})).await;
        assert!(status.contains("\"model\": \"sim\""), "{status}");
        let none = Stage::new(true).shown("inspect", json!({"what": "status"})).await;
        assert_eq!(
            none,
            "error: there is no conversation to inspect: answer without it"
        );
    });
}

#[test]
fn a_question_is_answered_or_declined() {
    block(async {
        let mut stage = Stage::new(true);
        let person = Somebody::default();
        let arguments = json!({"question": "Which\nlicence?", "choices": ["MIT", "Apache-2.0"]});
        let answer = with(&mut stage, &person, "ask", arguments.clone()).await;
        assert_eq!(answer, "the person answered: Apache-2.0");
        assert_eq!(person.0.lock().unwrap()[0], "Which licence?");
        let declined = stage.shown("ask", arguments).await;
        assert!(declined.contains("the person did not answer"), "{declined}");
        let ten = vec!["a"; 10];
        let many = with(
            &mut stage,
            &person,
            "ask",
            json!({"question": "?", "choices": ten}),
        )
        .await;
        assert_eq!(
            many,
            "error: at most 9 choices can be given: ask again with fewer choices"
        );
    });
}

#[test]
fn notifications_are_bounded_and_recorded() {
    block(async {
        let mut stage = Stage::new(true);
        let person = Somebody::default();
        let long = "x".repeat(300);
        for at in 0..5 {
            let arguments = json!({"title": format!("t{at}\u{1b}[31m"), "message": long});
            assert_eq!(
                with(&mut stage, &person, "notify", arguments).await,
                "notification posted"
            );
        }
        let shown = person.0.lock().unwrap()[0].clone();
        assert_eq!(shown, format!("t0 [31m|{}…", "x".repeat(255)));
        let sixth = with(
            &mut stage,
            &person,
            "notify",
            json!({"title": "t", "message": "m"}),
        )
        .await;
        assert_eq!(
            sixth,
            "error: notification not shown: 5 were shown in the last minute"
        );
        let recorded = stage.recorded("notification");
        assert_eq!(recorded.len(), 6);
        assert_eq!(recorded[5].details["outcome"], "refused");
        let mut alone = Stage::new(true);
        let nobody = alone.shown("notify", json!({"title": "t", "message": "m"})).await;
        assert_eq!(nobody, "error: notification not shown: this front end shows none");
    });
}

#[test]
fn all_definitions_together_are_small_and_no_name_lies_in_another() {
    let tools = builtin(&BuiltinOptions::default());
    let rows: Vec<_> = tools.iter().map(|t| t.descriptor()).collect();
    let all = Value::Array(rows.iter().map(wisp_tools::Descriptor::definition).collect()).to_string();
    // With the system prompt, which has at most 1 KiB, a first request has at most 6 KiB.
    assert!(all.len() <= 5 * 1024, "{}", all.len());
    for one in &rows {
        assert!(
            !one.description.contains('\n') && one.description.ends_with('.'),
            "{}",
            one.name
        );
        for other in rows.iter().filter(|o| o.name != one.name) {
            assert!(
                !other.name.contains(&*one.name),
                "{} lies in {}",
                one.name,
                other.name
            );
        }
    }
}

#[test]
fn system_info_tells_about_this_machine() {
    block(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut stage = Stage::new(true);
        if cfg!(target_os = "linux") {
            let found = stage
                .shown("system_info", json!({"topic": "ports", "port": port}))
                .await;
            assert!(
                found.starts_with(&format!("1 sockets listen on port {port}\n")),
                "{found}"
            );
            assert!(
                found.contains(&format!("{}  127.0.0.1:{port}", std::process::id())),
                "{found}"
            );
        }
        let own = json!({"topic": "process", "process": std::process::id().to_string()});
        let own = stage.shown("system_info", own).await;
        assert!(
            own.lines()
                .nth(1)
                .unwrap()
                .starts_with(&std::process::id().to_string()),
            "{own}"
        );
        assert!(own.contains("\ncommand: "), "{own}");
        let memory = stage.shown("system_info", json!({"topic": "Memory"})).await;
        assert!(
            memory.contains(" installed, ") && memory.lines().count() <= 18,
            "{memory}"
        );
        let folder = stage.home.path().join("sized");
        wisp_host::files::private_dir(&folder).unwrap();
        wisp_host::files::replace(&folder.join("large"), &[0; 4_096]).unwrap();
        wisp_host::files::replace(&folder.join("small"), &[0; 10]).unwrap();
        let sizes = json!({"topic": "folderSizes", "path": folder.display().to_string()});
        let sizes = stage.shown("system_info", sizes).await;
        assert!(
            sizes.contains(" in 2 items\nSIZE      PATH\n4 KiB     large\n10 bytes  small"),
            "{sizes}"
        );
        for topic in ["freeSpace", "system", "network", "processes"] {
            let told = stage.shown("system_info", json!({"topic": topic})).await;
            assert!(!told.starts_with("error"), "{topic}: {told}");
        }
        let wrong = stage.shown("system_info", json!({"topic": "weather"})).await;
        assert!(
            wrong.starts_with("error: there is no topic \"weather\"; call system_info again with `topic` one of: ports, freeSpace"),
            "{wrong}"
        );
        let port = stage
            .shown("system_info", json!({"topic": "ports", "port": 70_000}))
            .await;
        assert_eq!(port, "error: port 70000 is outside 1–65535");
    });
}

#[test]
fn inspect_audit_of_a_turn_shows_all_of_its_events() {
    block(async {
        let mut stage = Stage::new(true);
        for n in 0..60 {
            stage
                .shown("print", json!({"lines": 1, "of": format!("call {n}")}))
                .await;
        }
        let pending = stage.run("inspect", json!({"what": "audit", "turn": 1})).await;
        // A call and a result for each, and the call that asks.
        assert_eq!(pending.admitted.lines, 121);
        let shown = &pending.admitted.shown;
        assert!(
            shown.contains("call 0") && shown.contains("held back: lines "),
            "{shown}"
        );
    });
}

#[test]
fn what_a_command_left_running_is_named_to_the_model_and_to_the_person() {
    block(async {
        let mut stage = Stage::new(true);
        let pending = stage
            .run("run_command", json!({"command": "sleep 300 & echo started"}))
            .await;
        let left = pending.admitted.left.clone().unwrap();
        assert!(
            left.starts_with("left running and ended with the command: sleep ("),
            "{left}"
        );
        assert!(
            pending.admitted.shown.contains(&left),
            "{}",
            pending.admitted.shown
        );
        let pending = stage.run("run_command", json!({"command": "echo started"})).await;
        assert_eq!(pending.admitted.left, None);
    });
}
