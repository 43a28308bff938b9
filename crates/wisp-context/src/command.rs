//! Commands the person runs themselves, and how the model is told of them.

use wisp_amount::counted;

use crate::entry::EntryId;
use crate::output::Status;
use crate::reference::{NOT_RUN_AGAIN, edges};
use crate::text::Text;

/// Bytes of output a notice carries inline; one more and it carries the first and last lines.
pub const INLINE_BYTES: usize = 320;

/// A command the person ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    /// The command line.
    pub command: Text,
    /// The directory it ran in.
    pub directory: Text,
    /// How it ended.
    pub status: Status,
    /// Lines it printed in all.
    pub lines: u64,
    /// What it printed, whole; or its beginning and its end, with a marker between them.
    pub output: Text,
    /// Id of the stored whole output, when there is one.
    pub kept: Option<Text>,
}

/// The notice the next request carries, under entry `id`.
pub(crate) fn notice(typed: &Typed, id: EntryId, memory: bool) -> Text {
    let lines = counted(typed.lines, "line");
    let head = format!(
        "[the person ran `{}` themselves in {} ({}, {lines}); this was not your action; ",
        typed.command,
        typed.directory,
        typed.status.words(),
    );
    Text::from(if typed.output.is_empty() {
        format!("{head}it printed nothing]")
    } else if typed.output.len() <= INLINE_BYTES && typed.kept.is_none() {
        format!(
            "{head}its output follows]\n{}",
            typed.output.trim_end_matches('\n')
        )
    } else {
        let (first, last) = edges(&typed.output);
        format!(
            "{head}{}]\nfirst line: {first}\nlast line: {last}",
            how(id, memory)
        )
    })
}

/// How the model gets at an output that is not repeated.
fn how(id: EntryId, memory: bool) -> String {
    if memory {
        format!("its output is not repeated; to see it: memory \"recall entry {id}\"")
    } else {
        NOT_RUN_AGAIN.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(output: &str) -> Typed {
        Typed {
            command: "make".into(),
            directory: "/work".into(),
            status: Status::Exit(0),
            lines: 4,
            output: output.into(),
            kept: None,
        }
    }

    #[test]
    fn a_short_output_is_inline_to_the_byte() {
        let inline = notice(&typed(&"x".repeat(320)), EntryId(7), true);
        assert!(inline.starts_with(
            "[the person ran `make` themselves in /work (exit status 0, 4 lines); this was not your action; \
             its output follows]\nxxx"
        ));
        let longer = notice(&typed(&"x".repeat(321)), EntryId(7), true);
        assert!(longer.contains("to see it: memory \"recall entry 7\"]\nfirst line: xxx"));
        assert!(longer.len() < 500);
    }

    #[test]
    fn without_memory_no_tool_is_named() {
        let text = notice(&typed(&"line\n".repeat(100)), EntryId(7), false);
        assert!(text.contains("do not run the command again to see it]"));
        assert!(!text.contains("memory"));
    }
}
