//! A real registry over a home of its own, with tools that return what a test wants and a person who never answers.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and make their own files"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use wisp_audit::{AuditFile, AuditLog, Filter, Record, SessionId};
use wisp_exec::Cancel;
use wisp_guard::{Gate, Policy, Threshold};
use wisp_host::{Env, RandomIds, SystemClock};
use wisp_output::{Store, ToolBudget};
use wisp_tools::arguments::Arguments;
use wisp_tools::behind::{Answered, Model, NoAnswer, Plain, Recalled, Recollection, Wanted};
use wisp_tools::{
    Answering, Asking, Behind, BuiltinOptions, Call, Descriptor, Ending, Finished, Gatekeeper, Keep, Pending,
    Person, Question, Registry, Request, Returned, Running, Scene, Services, Tool, ToolOptions, builtin,
};

/// Nobody: refuses by not answering, and notes what is said to be done.
#[derive(Default)]
pub struct Nobody {
    pub doing: Mutex<Vec<String>>,
}

impl Person for Nobody {
    fn ask(&self, _: Question) -> Answering<'_> {
        Box::pin(async { None })
    }

    fn doing(&self, what: &str) {
        self.doing.lock().unwrap().push(what.to_owned());
    }
}

wisp_tools::arguments! {
    /// What [`Print`] is called with.
    pub struct PrintArguments {
        lines: Option<i64> = "lines", "How many";
        of: Option<String> = "of", "What each says";
        how: Option<String> = "how", "Whether it refuses or pages";
    }
}

/// A tool that prints what its argument says: `{"lines": N, "of": TEXT}`, or refuses, or pages.
pub struct Print;

impl Tool for Print {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "print".into(),
            description: "Prints.".into(),
            parameters: PrintArguments::PARAMETERS.into(),
            limits: String::new(),
            example: "".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        let of = arguments["of"].as_str().unwrap_or("line");
        let lines = 1..=arguments["lines"].as_u64().unwrap_or(0);
        let text = lines.fold(String::new(), |text, n| text + &format!("{n} {of}\n"));
        let _ = call;
        Box::pin(async move {
            match arguments["how"].as_str() {
                Some("refused") => Returned::refused("the person refused", Ending::Declined),
                Some("page") => Returned::page(text),
                _ => Returned::text(text),
            }
        })
    }
}

/// The stage of a test.
pub struct Stage {
    pub home: TempDir,
    pub registry: Registry,
    pub person: Nobody,
    pub cancel: Cancel,
    pub session: SessionId,
}

impl Stage {
    /// A registry with the built-in tools and [`Print`], keeping outputs when `keep`.
    pub fn new(keep: bool) -> Self {
        Self::asking(keep, Threshold::Never)
    }

    /// The same, which asks from this threshold on.
    pub fn asking(keep: bool, threshold: Threshold) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
        let session = SessionId::new(&SystemClock, &RandomIds);
        let audit = AuditLog::open(home.path(), &session, clock.clone(), ids.clone()).unwrap();
        let keep = if keep {
            Keep::In(Store::new(home.path(), session.as_str()).unwrap())
        } else {
            Keep::Nowhere("the disk is full".to_owned())
        };
        let services = Services {
            clock,
            ids,
            audit,
            keep,
            budget: ToolBudget::for_window(8_192),
            directory: home.path().to_owned(),
            home: home.path().join(".wisp"),
            env: Env::default(),
            options: ToolOptions {
                command_timeout: None,
                shown_lines: 10,
                output_ceiling: 16 << 20,
            },
            confining: wisp_tools::Confining::none(),
        };
        let gate = Gate::new(Policy::new(&[], &[]).unwrap(), threshold);
        let asking = Asking {
            file: home.path().join("approvals.json"),
            days: 30,
            yes: false,
            source: "test",
        };
        let mut tools = builtin(&BuiltinOptions::default());
        tools.push(Box::new(Print));
        Self {
            registry: Registry::new(tools, services, Gatekeeper::new(gate, asking)),
            home,
            person: Nobody::default(),
            cancel: Cancel::new(),
            session,
        }
    }

    /// Runs one call with what stands behind it.
    pub async fn run_with(&mut self, tool: &str, arguments: Value, behind: Behind<'_>) -> Pending {
        let scene = Scene {
            turn: 1,
            person: &self.person,
            cancel: &self.cancel,
            behind,
        };
        let request = Request {
            tool,
            arguments: &arguments,
        };
        self.registry.run(request, &scene).await.unwrap()
    }

    /// Runs one call.
    pub async fn run(&mut self, tool: &str, arguments: Value) -> Pending {
        self.run_with(tool, arguments, Behind::default()).await
    }

    /// Runs one call and finishes it alone; what the model is sent.
    pub async fn shown(&mut self, tool: &str, arguments: Value) -> String {
        let pending = self.run(tool, arguments).await;
        self.finish(vec![pending]).remove(0).pending.admitted.shown
    }

    /// What `memory` answers.
    pub async fn memory(&mut self, request: &str, behind: Behind<'_>) -> String {
        let pending = self
            .run_with("memory", json!({ "request": request }), behind)
            .await;
        self.finish(vec![pending]).remove(0).pending.admitted.shown
    }

    /// Finishes a batch.
    pub fn finish(&mut self, batch: Vec<Pending>) -> Vec<Finished> {
        self.registry.finish(1, batch)
    }

    /// Every recorded event of `kind`.
    pub fn recorded(&self, kind: &str) -> Vec<Record> {
        let file = AuditFile::open(self.home.path(), &self.session).unwrap();
        let all = file.last(10_000, &Filter::default()).unwrap();
        all.into_iter().filter(|record| record.kind == kind).collect()
    }

    /// The stored output of a call.
    pub fn open(&self, call: &str) -> wisp_output::Kept {
        wisp_output::Shelf::new(self.home.path()).open(call).unwrap()
    }

    /// Names of the files in the store.
    pub fn stored(&self) -> Vec<String> {
        names(&self.home.path().join("output").join(self.session.as_str()))
    }
}

fn names(dir: &Path) -> Vec<String> {
    let Ok(listing) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut names: Vec<String> = listing
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A record of fixed entries.
pub struct Notes(pub Vec<(Wanted, Recalled)>);

impl Recollection for Notes {
    fn keeps(&self, id: &str) -> bool {
        self.0
            .iter()
            .any(|(_, r)| r.kept.as_ref().is_some_and(|kept| kept == id))
    }

    fn recall(&self, wanted: &Wanted) -> Result<Recalled, String> {
        let found = self.0.iter().find(|(w, _)| w == wanted);
        found
            .map(|(_, r)| r.clone())
            .ok_or_else(|| "memory: there is no such entry".to_owned())
    }
}

/// A model that answers by a function and notes what it was asked.
pub struct Scripted<F> {
    pub answer: F,
    pub asked: Mutex<Vec<Plain>>,
}

impl<F: Fn(usize, &Plain) -> Result<String, NoAnswer>> Scripted<F> {
    pub fn new(answer: F) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }
}

impl<F: Fn(usize, &Plain) -> Result<String, NoAnswer> + Send + Sync> Model for Scripted<F> {
    fn ask(&self, question: Plain, _: &str) -> Answered<'_> {
        let mut asked = self.asked.lock().unwrap();
        let answer = (self.answer)(asked.len() + 1, &question);
        asked.push(question);
        Box::pin(async move { answer })
    }
}

/// Runs a future on a runtime of its own.
pub fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
