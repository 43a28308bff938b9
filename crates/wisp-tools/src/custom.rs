//! A tool of the person's own: a shell line with the call's arguments in it, run as `run_command` runs its lines.
//!
//! What makes the line is handed in, since declarations are the configuration's. From there on nothing is special about
//! it: policy and risk judge the line as it will run, the person is asked about that line, its output is kept and bounded
//! as any command's is.

use std::time::Duration;

use serde_json::Value;

use crate::call::Call;
use crate::run_command::{Wanted, run_line};
use crate::tool::{Descriptor, Returned, Running, Tool};

/// Makes the line of one call from what the model wrote; or says what is wrong with that.
pub type Fill = dyn Fn(&Value) -> Result<String, String> + Send + Sync;

/// The tool.
pub struct Custom {
    /// The row that describes it.
    pub descriptor: Descriptor,
    /// What it runs.
    pub fill: Box<Fill>,
    /// Where, when not in the conversation's directory; may begin with `~`.
    pub directory: Option<String>,
    /// How long it may run; unset as long as any command.
    pub timeout: Option<Duration>,
}

impl Tool for Custom {
    fn descriptor(&self) -> Descriptor {
        self.descriptor.clone()
    }

    /// An argument the model misspelt would leave its place to the default, and the line would do something else.
    fn is_strict(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            let line = match (self.fill)(arguments) {
                Ok(line) => line,
                Err(why) => return Returned::error(why),
            };
            let wanted = Wanted {
                line: &line,
                directory: self.directory.as_deref(),
                timeout: self.timeout,
                background: false,
            };
            run_line(wanted, call).await
        })
    }
}
