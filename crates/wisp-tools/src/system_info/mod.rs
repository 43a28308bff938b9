//! `system_info`: what this machine has and does, read from the system itself, so that no command has to be run and
//! allowed for it.

mod files;
mod machine;
mod ports;
mod processes;
mod table;

use serde_json::Value;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

arguments! {
    /// What `system_info` is called with.
    pub struct SystemInfoArguments {
        topic: String = "topic", "ports, freeSpace, folderSizes, processes, memory, process, battery, system, or network";
        process: Option<String> = "process", "process: a name or a number";
        port: Option<i64> = "port", "ports: only this one";
        path: Option<String> = "path", "folderSizes: the folder (default: home)";
    }
}

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemInfo;

/// A topic's reading.
type Reading = fn(&SystemInfoArguments, &Call<'_>) -> Result<String, String>;

/// The topics by name.
const TOPICS: &[(&str, Reading)] = &[
    ("ports", |asked, _| ports::listening(asked.port)),
    ("freeSpace", |_, _| files::free_space()),
    ("folderSizes", |asked, call| {
        files::folder_sizes(asked.path.as_deref(), call)
    }),
    ("processes", |_, _| processes::busiest()),
    ("memory", |_, _| processes::memory()),
    ("process", |asked, _| {
        processes::named(asked.process.as_deref().unwrap_or_default())
    }),
    ("battery", |_, _| machine::battery()),
    ("system", |_, _| machine::system()),
    ("network", |_, _| machine::network()),
];

impl Tool for SystemInfo {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "system_info".into(),
            description: "Show the state of this machine.".into(),
            parameters: SystemInfoArguments::PARAMETERS.into(),
            limits: "15 rows a table; folders are measured for at most 5 s".to_owned(),
            example: "What is listening on port 8080?".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            let arguments = match SystemInfoArguments::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(e) => return Returned::error(e),
            };
            let topic = arguments.topic.trim();
            let found = TOPICS.iter().find(|(name, _)| name.eq_ignore_ascii_case(topic));
            if let Some((_, reading)) = found {
                return reading(&arguments, call).map_or_else(Returned::error, Returned::text);
            }
            let names: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
            Returned::error(format!(
                "there is no topic {topic:?}; call system_info again with `topic` one of: {}",
                names.join(", ")
            ))
        })
    }
}
