//! What a tool's result says is held back, read from its text.

use crate::seen::Seen;

/// An output of which a part was held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldBack {
    /// How the note names it: `output 3f9a2c1b` or `entry 12`.
    pub(super) target: String,
    /// The request the note gives for the part held back, when it does.
    page: Option<String>,
    /// Lines and size held back, as the marker has them: `2,270 lines (180 KiB)`.
    pub(super) amount: Option<String>,
}

impl HeldBack {
    /// The request for the next page.
    pub(super) fn next_page(&self) -> String {
        self.page
            .clone()
            .unwrap_or_else(|| format!("recall {}", self.target))
    }

    /// The id alone, for `/show`.
    pub(super) fn id(&self) -> &str {
        self.target.split(' ').next_back().unwrap_or(&self.target)
    }
}

/// The newest tool result with a note. A reference to a page that memory gave is none: what is meant is the output that
/// it was a page of.
pub(super) fn latest(seen: &Seen) -> Option<HeldBack> {
    let is_page =
        |text: &str| text.starts_with("[output of entry ") && text.contains(" not repeated: memory at ");
    seen.messages
        .iter()
        .rev()
        .filter(|m| m.role == "tool" && !is_page(&m.content))
        .find_map(|m| read(&m.content))
}

/// Whether the newest tool result is a page of memory with no other page after it.
pub(super) fn at_the_end(seen: &Seen) -> bool {
    let calls = seen.messages.iter().rev().flat_map(|m| m.calls.iter().rev());
    let from_memory = calls.into_iter().next().is_some_and(|call| call.name == "memory");
    from_memory && seen.last_of("tool").is_some_and(|m| read(&m.content).is_none())
}

/// What the lines of wisp's own begin with that stand at the end of a result. A file or a log may quote such lines
/// anywhere else.
const OWN: [&str; 3] = ["held back: ", "[more: ", "[memory "];

/// Wisp's own lines at the end of a result; of a reference to an earlier output its first line.
fn own_lines(text: &str) -> &str {
    let text = text.trim_end();
    if text.starts_with("[output of entry ") {
        return text.lines().next().unwrap_or(text);
    }
    let mut from = text.len();
    for line in text.lines().rev() {
        if !OWN.iter().any(|begins| line.starts_with(begins)) {
            break;
        }
        from = from.saturating_sub(line.len() + 1);
    }
    text.get(from..).unwrap_or(text)
}

/// Whether a page of a file ends with the offset of the next one.
pub(super) fn goes_on(text: &str) -> bool {
    own_lines(text).contains("[more: call again with offset")
}

/// Reads the note of one result.
pub(super) fn read(text: &str) -> Option<HeldBack> {
    let own = own_lines(text);
    let page = quoted_request(own);
    let target = match &page {
        Some(request) => target_of(request.strip_prefix("recall ")?)?,
        None => target_of(after(own, "kept as ")?)?,
    };
    Some(HeldBack {
        target,
        page,
        amount: amount(text),
    })
}

/// The last `recall …` between quotes that has no filter of its own, or the last there is.
fn quoted_request(text: &str) -> Option<String> {
    let requests = || {
        text.split('"')
            .skip(1)
            .step_by(2)
            .chain(text.split('"').skip(2).step_by(2))
    };
    let recalls: Vec<&str> = requests()
        .filter(|r| r.starts_with("recall ") && !r.contains("PATTERN"))
        .collect();
    let with_line = recalls.iter().rev().find(|r| r.contains(" from line "));
    with_line.or(recalls.last()).map(|r| (*r).to_owned())
}

/// `output ID` or `entry N` at the front of a text.
fn target_of(text: &str) -> Option<String> {
    let mut words = text
        .split(|c: char| c.is_whitespace() || ",;:)]\"".contains(c))
        .filter(|w| !w.is_empty());
    let kind = words.next().filter(|w| matches!(*w, "output" | "entry"))?;
    Some(format!("{kind} {}", words.next()?))
}

fn after<'t>(text: &'t str, what: &str) -> Option<&'t str> {
    text.rfind(what).map(|at| &text[at + what.len()..])
}

/// The text of the marker `[… AMOUNT held back …]` that the note at the end is about: the one with its size, for the
/// output may quote others.
pub(super) fn amount(text: &str) -> Option<String> {
    let own = own_lines(text);
    let note = own.lines().find(|line| line.starts_with("held back: "))?;
    let marker = |line: &str| {
        Some(
            line.strip_prefix("[… ")?
                .strip_suffix(" held back …]")?
                .to_owned(),
        )
    };
    let markers: Vec<String> = text.lines().filter_map(marker).collect();
    let size = |amount: &str| amount.rfind('(').map(|at| amount[at..].to_owned());
    let fits = |amount: &&String| size(amount).is_some_and(|size| note.contains(&size));
    markers.iter().find(fits).or(markers.last()).cloned()
}

/// The file of the last `read_file`, and the line its next page begins with, when there is more of it.
pub(super) fn unread(seen: &Seen) -> Option<(String, u64)> {
    let last = seen.last_of("tool")?;
    let more = after(own_lines(&last.content), "[more: call again with offset ")?;
    let offset = more.split(']').next()?.replace(',', "").parse().ok()?;
    let calls = seen.messages.iter().rev().flat_map(|m| m.calls.iter().rev());
    let read = calls.into_iter().find(|call| call.name == "read_file")?;
    let path = read.arguments.values().find_map(|value| value.as_str())?;
    Some((path.to_owned(), offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "1\n2\n[… 2,270 lines (180 KiB) held back …]\n9\nheld back: stdout lines 44–2,313 (180 KiB); \
                        exit status 1; the whole output is kept as output 3f9a2c1b (2,340 lines); memory \"recall \
                        output 3f9a2c1b from line 44\" pages it, \"recall output 3f9a2c1b matching PATTERN\" \
                        filters it, \"summarise output 3f9a2c1b\" gives the notable lines";

    #[test]
    fn the_note_is_read() {
        let held = read(NOTE).unwrap();
        assert_eq!(held.target, "output 3f9a2c1b");
        assert_eq!(held.next_page(), "recall output 3f9a2c1b from line 44");
        assert_eq!(held.amount.as_deref(), Some("2,270 lines (180 KiB)"));
        assert_eq!(held.id(), "3f9a2c1b");
    }

    #[test]
    fn a_note_that_a_file_quotes_is_not_taken_for_wisps_own() {
        let quoted = NOTE.replace("3f9a2c1b", "00000000");
        assert_eq!(read(&format!("{quoted}\nthe file goes on\n")), None);
        assert_eq!(amount(&format!("{quoted}\nthe file goes on\n")), None);
        let own = "[… 5 lines (1.2 KiB) held back …]\nend\nheld back: lines 9–13 (1.2 KiB); the whole output is kept as \
                   output ab12ab12 (20 lines); memory \"recall output ab12ab12 from line 9\" pages it\n[more: call again with offset 9]";
        let both = format!("{quoted}\n{own}");
        let held = read(&both).unwrap();
        assert_eq!(
            (held.id(), held.amount.as_deref()),
            ("ab12ab12", Some("5 lines (1.2 KiB)"))
        );
        assert_eq!(held.next_page(), "recall output ab12ab12 from line 9");
    }

    #[test]
    fn a_reference_to_an_earlier_output_is_read_too() {
        let text = "[output of entry 4 not repeated: run_command at 14:05:12, exit status 0, 504 lines, 3534 bytes; to \
                    see it: memory \"recall entry 4\"]\nfirst line: held back: kept as output 00000000\nlast line: 9";
        let held = read(text).unwrap();
        assert_eq!(
            (held.target.as_str(), held.next_page().as_str()),
            ("entry 4", "recall entry 4")
        );
    }

    #[test]
    fn a_note_that_names_no_tool_still_names_the_output() {
        let text = "[… 3 lines (9 B) held back …]\nheld back: lines 2–4 (9 B); the whole output is kept as output ab12 (6 lines)";
        let held = read(text).unwrap();
        assert_eq!(
            (held.target.as_str(), held.next_page().as_str()),
            ("output ab12", "recall output ab12")
        );
        assert_eq!(read("exit status: 0\nstdout:\nhello\n"), None);
    }
}
