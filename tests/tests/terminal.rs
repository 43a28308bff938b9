//! Plain chat on a real pseudo-terminal: the terminal is as it was after a signal and a panic, Ctrl-C stops a turn
//! and keeps the chat, an idle chat uses no processor time.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::Child;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ollama_sim::{Model, Reply};
use pty_process::blocking::{Command, Pty, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Termios, tcgetattr};
use wisp_tests::{Wisp, binary, runs, serve};

/// wisp on a terminal of 80 by 24.
struct Terminal {
    child: Child,
    input: std::fs::File,
    output: mpsc::Receiver<Vec<u8>>,
    seen: String,
    /// All that was printed.
    all: String,
    before: Termios,
    pty: std::os::fd::OwnedFd,
}

impl Terminal {
    fn start(wisp: &Wisp, args: &[&str]) -> Self {
        Self::program(wisp, Command::new(binary("wisp")).args(args))
    }

    /// A program on the terminal, in the environment of a run of wisp.
    fn program(wisp: &Wisp, command: Command) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(pty_process::Size::new(24, 80)).unwrap();
        let before = tcgetattr(&pty).unwrap();
        let plain = wisp.command(&[]);
        let mut command = command.env_clear();
        for (name, value) in plain.get_envs() {
            if let Some(value) = value {
                command = command.env(name, value);
            }
        }
        command = command.env("TERM", "xterm-256color").current_dir(wisp.work());
        let child = command.spawn(pts).unwrap();
        let (to, output) = mpsc::channel();
        let fd = duplicate(&pty);
        let mut reading = std::fs::File::from(duplicate(&pty));
        std::thread::spawn(move || {
            let mut block = [0; 4096];
            while let Ok(read @ 1..) = reading.read(&mut block) {
                if to.send(block[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let input = std::fs::File::from(duplicate(&pty));
        Self {
            child,
            input,
            output,
            seen: String::new(),
            all: String::new(),
            before,
            pty: fd,
        }
    }

    fn send(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until `text` has been printed since the last wait.
    fn wait_for(&mut self, text: &str) {
        let limit = Instant::now() + Duration::from_secs(20);
        while !self.seen.contains(text) {
            let left = limit.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => {
                    self.seen.push_str(&String::from_utf8_lossy(&bytes));
                    self.all.push_str(&String::from_utf8_lossy(&bytes));
                }
                Err(e) => panic!("{text:?} was not printed ({e}); this was: {}", self.seen),
            }
        }
        let at = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..at);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end and looks at the terminal.
    fn end(&mut self) -> std::process::ExitStatus {
        let limit = Instant::now() + Duration::from_secs(15);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let after = tcgetattr(&self.pty).unwrap();
                assert_eq!(
                    after.local_modes, self.before.local_modes,
                    "echo and line editing are back"
                );
                assert_eq!(after.input_modes, self.before.input_modes);
                assert_eq!(after.output_modes, self.before.output_modes);
                return status;
            }
            assert!(Instant::now() < limit, "wisp did not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn duplicate(pty: &Pty) -> std::os::fd::OwnedFd {
    pty.as_fd().try_clone_to_owned().unwrap()
}

#[test]
fn what_is_typed_before_the_choice_of_a_model_is_seen_chooses_nothing_and_stands_in_the_next_line() {
    let models = ["first", "second"].map(Model::new);
    let config = ollama_sim::Config::new(|_: &ollama_sim::Seen| Reply::text("Hello.")).models(models);
    let server = ollama_sim::Server::start(config).unwrap();
    let wisp = Wisp::with(&server);
    wisp.configure(&serde_json::json!({}));
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.send("1\r");
    terminal.wait_for("number or name");
    terminal.wait_for("> ");
    terminal.send("9\r");
    terminal.wait_for("\"9\" is none of these");
    terminal.wait_for("> ");
    terminal.send("sec\r");
    terminal.wait_for("second:latest is kept as the model");
    terminal.wait_for("approve at moderate");
    terminal.wait_for("> ");
    terminal.wait_for("1");
    terminal.send("\x7f\x04");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(server.chats().is_empty(), "nothing was sent");
    let events = wisp.audit();
    assert_eq!(events[0]["kind"], "session.start");
    let changed = events.iter().find(|e| e["kind"] == "config.change").unwrap();
    assert_eq!(changed["details"]["new"], "second:latest");
}

#[test]
fn a_command_typed_at_an_approval_is_no_answer() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("go\r");
    terminal.wait_for("[n]o");
    terminal.send("/says");
    // What is typed comes to the question in order, and the question is still open.
    terminal.send("\x03");
    terminal.wait_for("refused");
    terminal.wait_for("> ");
    terminal.wait_for("/says");
    assert!(!wisp.work().join("made").exists());
    terminal.send("\x15\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_byte_that_is_not_utf_8_keeps_the_line_and_the_chat() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal
        .input
        .write_all(b"!printf '[%s]' caf\xe9-au-lait\r")
        .unwrap();
    terminal.wait_for("  [caf\u{fffd}-au-lait]");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_cd_that_changes_nothing_here_says_so() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("!cd /\r");
    terminal.wait_for("cd holds only for the shell that ran it");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn ctrl_c_at_a_question_refuses_and_ends_the_turn() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("go\r");
    terminal.wait_for("[n]o");
    terminal.send("\x03");
    terminal.wait_for("interrupted");
    terminal.wait_for("> ");
    assert_eq!(server.chats().len(), 1, "the model was not asked again");
    assert!(!wisp.work().join("made").exists());
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn ctrl_d_leaves_and_the_terminal_is_as_it_was() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("approve at moderate");
    terminal.wait_for("> ");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn ctrl_d_typed_during_a_turn_leaves_once_it_is_over() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    let gate = wisp.work().join("gate");
    terminal.send("!while [ ! -e gate ]; do sleep 0.05; done; echo $((20 + 1))\r");
    terminal.wait_for("· running while");
    terminal.send("\x04");
    std::fs::write(gate, "").unwrap();
    terminal.wait_for("  21");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn lines_typed_ahead_are_each_run() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("!echo $((20 + 1))\r!echo $((20 + 2))\r!echo $((20 + 3))\r");
    for said in ["  21", "  22", "  23"] {
        terminal.wait_for(said);
    }
    terminal.wait_for("> ");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn sigterm_sighup_and_sigquit_at_the_prompt_put_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
        let wisp = Wisp::new();
        let mut terminal = Terminal::start(&wisp, &["chat"]);
        terminal.wait_for("> ");
        terminal.signal(signal);
        assert_eq!(terminal.end().code(), Some(code));
        let last = wisp.audit().pop().unwrap();
        assert_eq!(last["kind"], "session.end", "the audit is closed");
    }
}

#[test]
fn sigterm_during_a_command_ends_the_command_too() {
    let server = runs("echo $$ > pid; sleep 300");
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat", "--yes"]);
    terminal.wait_for("> ");
    terminal.send("go\r");
    terminal.wait_for("sleep 300");
    let pid = wait_for_file(&wisp.work().join("pid"));
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end().code(), Some(143));
    assert!(
        !std::path::Path::new(&format!("/proc/{pid}/cmdline")).exists(),
        "the command is gone"
    );
}

#[test]
fn programs_that_want_the_terminal_do_not_get_it_and_leave_it_as_it_was() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    let programs = [
        "stty -echo -icanon < /dev/tty",
        "read x < /dev/tty",
        "cat",
        "python3 -c \"import getpass; getpass.getpass()\"",
    ];
    for (at, program) in programs.iter().enumerate() {
        terminal.send(&format!("!{program}\r"));
        terminal.send(&format!("!echo $(({at} + 70))th\r"));
        terminal.wait_for(&format!("{}th", at + 70));
        terminal.wait_for("> ");
    }
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

fn wait_for_file(path: &std::path::Path) -> String {
    let limit = Instant::now() + Duration::from_secs(10);
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(Instant::now() < limit, "{} did not appear", path.display()),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_panic_leaves_the_terminal_as_it_was_and_its_text_readable() {
    let mut wisp = Wisp::new();
    wisp.set("WISP_DEBUG_PANIC", "prompt");
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("a panic was asked for");
    assert_ne!(terminal.end().code(), Some(0));
}

#[test]
fn ctrl_c_stops_the_turn_and_keeps_the_chat_and_what_had_arrived() {
    let server = runs("i=0; while :; do echo tick; sleep 0.1; done");
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat", "--yes"]);
    terminal.wait_for("> ");
    terminal.send("go\r");
    terminal.wait_for("run_command");
    terminal.wait_for("running");
    terminal.send("\x03");
    terminal.wait_for("interrupted");
    terminal.wait_for("--yes");
    terminal.wait_for("> ");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
    let events = wisp.audit();
    let outcome = events.iter().find(|e| e["kind"] == "command.outcome").unwrap();
    assert_eq!(outcome["details"]["cancelled"], true);
    let result = events.iter().find(|e| e["kind"] == "tool.result").unwrap();
    let told = result["details"]["output"].as_str().unwrap();
    assert!(
        told.starts_with("interrupted by the person") && told.contains("tick"),
        "{told}"
    );
}

#[test]
fn a_pasted_block_is_one_message_and_is_sent_by_enter_alone() {
    let server = serve(Model::new("sim"), |_| Reply::text("ok"));
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("\x1b[200~line 1\nline 2\nline 3\x1b[201~");
    terminal.wait_for("line 3");
    assert!(server.chats().is_empty(), "a paste sends nothing");
    terminal.send("\r");
    terminal.wait_for("ok");
    let messages = server.chats()[0].json.as_ref().unwrap()["messages"].clone();
    assert_eq!(messages[1]["content"], "line 1\nline 2\nline 3");
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn an_idle_chat_uses_no_processor_time() {
    let wisp = Wisp::new();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    std::thread::sleep(Duration::from_millis(300));
    let before = processor_ticks(terminal.child.id());
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(
        processor_ticks(terminal.child.id()) - before,
        0,
        "ticks of a hundredth of a second"
    );
    terminal.send("\x04");
    terminal.end();
}

/// User and system time of a process, in clock ticks.
fn processor_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn escape_sequences_of_a_command_do_not_reach_the_terminal() {
    let command = format!("cat {}", wisp_tests::quoted(&wisp_tests::case("97-escapes.bin")));
    let server = runs(&command);
    let mut wisp = Wisp::with(&server);
    wisp.set("NO_COLOR", "1");
    let ran = wisp.run(&["--yes", "go"], "");
    assert!(
        !ran.err.contains('\u{1b}') && !ran.err.contains('\u{7}') && !ran.err.contains('\u{9b}'),
        "{:?}",
        ran.err
    );
    assert!(ran.err.contains("STILL-HERE-01"), "{}", ran.err);
}

#[test]
fn a_download_has_a_bar_and_ctrl_c_ends_it_where_a_later_one_goes_on() {
    let clock = ollama_sim::Clock::manual();
    let config = ollama_sim::Config::new(ollama_sim::Script::new()).clock(clock.clone());
    let server = ollama_sim::Server::start(config).unwrap();
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["models", "pull", "new"]);
    terminal.wait_for("pulling 4f5a3e2d1c0b [                        ] 0 %, 0 bytes of 977 KiB");
    // Two ticks of the server's clock, further apart than the bar is drawn: a quarter, then a half of the layer.
    for _ in 0..2 {
        assert!(clock.wait_for_sleepers(1, Duration::from_secs(20)));
        clock.advance(Duration::from_millis(60));
        std::thread::sleep(Duration::from_millis(150));
    }
    terminal.wait_for("pulling 4f5a3e2d1c0b [############            ] 50 %, 489 KiB of 977 KiB");
    terminal.send("\x03");
    let gone = |r: &[ollama_sim::Received]| {
        let pull = r.iter().find(|r| r.path == "/api/pull");
        pull.is_some_and(|r| r.ended == ollama_sim::Ended::ClientLeft)
    };
    assert!(
        server.wait_until(Duration::from_secs(1), gone),
        "the server notices"
    );
    terminal.wait_for("stopped; wisp models pull new goes on where it stopped");
    assert_eq!(terminal.end().code(), Some(130));
    let pull = wisp
        .audit()
        .into_iter()
        .find(|e| e["kind"] == "model.pull")
        .unwrap();
    assert_eq!(pull["details"]["outcome"], "stopped");
    assert_eq!(pull["details"]["bytes"], 500_000);
}

/// A home whose last conversation kept one output; its id.
fn kept() -> (ollama_sim::Server, Wisp, String) {
    let server = runs("seq 1 20000");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let id = wisp.kept()[0].0["id"].as_str().unwrap().to_owned();
    (server, wisp, id)
}

#[test]
fn a_pager_that_does_not_exist_is_named_and_the_output_is_shown_all_the_same() {
    let (_server, mut wisp, id) = kept();
    wisp.set("PAGER", "/nonexistent/pager --with 'an argument'");
    wisp.set("PATH", "/nonexistent");
    let mut terminal = Terminal::start(&wisp, &["show", &id]);
    terminal.wait_for("19999\r\n20000\r\n");
    terminal.wait_for("/nonexistent/pager");
    terminal.wait_for("shown without a pager");
    assert_eq!(terminal.end().code(), Some(1));
}

#[test]
fn a_chat_whose_pager_does_not_exist_says_so_and_goes_on() {
    let server = runs("seq 1 20000");
    let mut wisp = Wisp::with(&server);
    wisp.configure(&serde_json::json!({"model": "sim", "approval": {"threshold": "never"}}));
    wisp.set("PAGER", "/nonexistent/pager");
    let path = std::env::var("PATH").unwrap();
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("go\r");
    terminal.wait_for("done");
    terminal.wait_for("> ");
    terminal.send("/last\r");
    if path
        .split(':')
        .any(|dir| std::path::Path::new(dir).join("less").exists())
    {
        terminal.wait_for("stdout:");
        terminal.send("q");
    }
    terminal.wait_for("/nonexistent/pager");
    terminal.wait_for("> ");
    terminal.send("/quit\r");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_reply_that_stops_in_the_middle_of_a_line_goes_on_there() {
    let clock = ollama_sim::Clock::manual();
    let reply = Reply::new()
        .content("Half of the line, ")
        .silence_ms(300_000)
        .content("and the other half.");
    let script = ollama_sim::Script::new().reply(reply);
    let config = ollama_sim::Config::new(script).clock(clock.clone());
    let server = ollama_sim::Server::start(config).unwrap();
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send("go\r");
    terminal.wait_for("Half of the line,");
    // What is being done is said on the row below.
    terminal.wait_for("\n");
    terminal.wait_for("the model is silent");
    assert!(clock.wait_for_sleepers(1, Duration::from_secs(20)));
    clock.advance(Duration::from_mins(5));
    // Up again, to the column behind the seventeen cells; the blank comes with the word that follows it.
    terminal.wait_for("\x1b[A\x1b[18G and");
    terminal.wait_for("the other half.");
    terminal.wait_for("approve at moderate");
    terminal.wait_for("> ");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn where_no_model_is_installed_one_is_offered_fetched_and_talked_to() {
    let config = ollama_sim::Config::new(|_: &ollama_sim::Seen| Reply::text("Hello.")).models([]);
    let server = ollama_sim::Server::start(config).unwrap();
    let wisp = Wisp::with(&server);
    wisp.configure(&serde_json::json!({}));
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("no model is installed. Fetch one now?");
    terminal.wait_for("qwen3:8b");
    terminal.wait_for("> ");
    terminal.send("1\r");
    terminal.wait_for("qwen3:8b is installed");
    terminal.wait_for("qwen3:8b is kept as the model");
    terminal.wait_for("approve at moderate");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(server.requests().iter().any(|r| r.path == "/api/pull"));
}

#[test]
fn a_single_prompt_asks_on_the_terminal() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["go"]);
    terminal.wait_for("[n]o");
    std::thread::sleep(Duration::from_millis(600));
    terminal.send("y");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(wisp.work().join("made").exists());
}

#[test]
fn the_reader_of_a_pipe_has_the_terminal_to_itself_once_there_is_a_reply() {
    let server = serve(Model::new("sim"), |_: &ollama_sim::Seen| {
        Reply::text("no newline")
    });
    let wisp = Wisp::with(&server);
    let line = format!("{} go | cat; echo; echo over", binary("wisp").display());
    let mut terminal = Terminal::program(&wisp, Command::new("/bin/sh").args(["-c", &line]));
    terminal.wait_for("over");
    assert_eq!(terminal.end().code(), Some(0));
    let printed: String = terminal.all.replace('\r', "");
    assert_eq!(printed.trim_start(), "no newline\n\nover\n");
}

/// What the person said last, as the model was sent it.
fn last_prompt(server: &ollama_sim::Server) -> String {
    let chats = server.chats();
    let body = chats.last().unwrap().json.clone().unwrap();
    let messages = body["messages"].as_array().unwrap().clone();
    let last = messages.iter().rev().find(|m| m["role"] == "user").unwrap();
    last["content"].as_str().unwrap().to_owned()
}

/// What a model is sent when these keys are typed at the prompt, with Enter after them.
fn typed(keys: &str) -> String {
    let server = serve(Model::new("sim"), |_: &ollama_sim::Seen| Reply::text("I see."));
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["chat"]);
    terminal.wait_for("> ");
    terminal.send(keys);
    terminal.send("\r");
    terminal.wait_for("I see.");
    terminal.wait_for("> ");
    terminal.send("\x04");
    assert_eq!(terminal.end().code(), Some(0));
    last_prompt(&server)
}

#[test]
fn backspace_at_the_prompt_removes_a_whole_grapheme() {
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let flag = "\u{1f1e9}\u{1f1ea}";
    let sent = typed(&format!("a{family}\x7fb{flag}\x7fce\u{301}\u{323}\x7fd"));
    assert!(sent.ends_with("abcd"), "{sent:?}");
}

#[test]
fn reports_of_the_terminal_are_no_part_of_the_line() {
    let reports = [
        "\x1b[?62;4;22c",
        "\x1b[>1;5202;0c",
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1bP>|XTerm(390)\x1b\\",
        "\x1b[0n",
        "\x1b[12;40R",
        "\x1b[I",
        "\x1b[O",
        "\x1b[48;24;80;480;640t",
    ];
    let keys = reports
        .iter()
        .zip('a'..)
        .map(|(report, key)| format!("{key}{report}"))
        .collect::<Vec<_>>()
        .concat();
    let sent = typed(&keys);
    assert!(sent.ends_with("abcdefghij"), "{sent:?}");
}

#[test]
fn sigterm_at_the_question_of_a_single_prompt_puts_the_terminal_back() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let mut terminal = Terminal::start(&wisp, &["go"]);
    terminal.wait_for("[n]o");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end().code(), Some(143));
    assert!(!wisp.work().join("made").exists());
}

#[test]
fn a_single_prompt_with_piped_input_asks_on_the_terminal() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let line = format!("echo piped | {} go", binary("wisp").display());
    let mut terminal = Terminal::program(&wisp, Command::new("/bin/sh").args(["-c", &line]));
    terminal.wait_for("[n]o");
    std::thread::sleep(Duration::from_millis(600));
    terminal.send("y");
    terminal.wait_for("done");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(wisp.work().join("made").exists());
}

#[test]
fn a_chat_with_piped_input_asks_on_the_terminal() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let line = format!("echo go | {} chat", binary("wisp").display());
    let mut terminal = Terminal::program(&wisp, Command::new("/bin/sh").args(["-c", &line]));
    terminal.wait_for("[n]o");
    std::thread::sleep(Duration::from_millis(600));
    terminal.send("y");
    terminal.wait_for("done");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(wisp.work().join("made").exists());
}

#[test]
fn a_pager_that_is_killed_leaves_no_alternate_screen_behind() {
    let (_server, mut wisp, id) = kept();
    wisp.set("PAGER", "printf '\\033[?1049h\\033[?25lin the pager'; kill -9 $$");
    let mut terminal = Terminal::start(&wisp, &["show", &id]);
    terminal.wait_for("\x1b[?1049h\x1b[?25lin the pager");
    terminal.wait_for("\x1b[?1049l");
    terminal.wait_for("\x1b[?25h");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn ctrl_z_in_the_pager_stops_wisp_too_and_both_go_on() {
    let (_server, mut wisp, id) = kept();
    wisp.set(
        "PAGER",
        "cat >/dev/null; echo in the pager; read key </dev/tty; echo went on",
    );
    let line = format!(
        "set -m; {} show {id}; echo status $?; fg",
        binary("wisp").display()
    );
    let mut terminal = Terminal::program(&wisp, Command::new("/bin/sh").args(["-c", &line]));
    terminal.wait_for("in the pager");
    terminal.send("\x1a");
    let stopped = 128 + rustix::process::Signal::STOP.as_raw();
    terminal.wait_for(&format!("status {stopped}"));
    terminal.send("\r");
    terminal.wait_for("went on");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn an_edit_that_was_not_asked_about_leaves_its_difference() {
    let edit = serde_json::json!({"path": "notes.txt", "mode": "replace", "find": "old words", "content": "new words"});
    let server = wisp_tests::calls("edit_file", edit);
    let wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("notes.txt"), "first\nold words\nlast\n").unwrap();
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows: Vec<&str> = ran.err.lines().map(str::trim).collect();
    for row in ["2 - old words", "2 + new words"] {
        assert!(rows.contains(&row), "{row}: {}", ran.err);
    }
}
