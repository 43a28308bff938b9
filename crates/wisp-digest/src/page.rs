//! A page of Markdown quotes what tools print in its fenced blocks: none of that has happened.

/// Whether the input is a page, and where in it the reading stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// Nothing has come yet.
    #[default]
    Unknown,
    /// No page.
    No,
    /// A page, outside of its blocks.
    Text,
    /// In a fenced block.
    Fenced,
}

impl Page {
    /// Whether it is a page so far, each line of which counts.
    pub(crate) fn is_one(self) -> bool {
        matches!(self, Self::Text | Self::Fenced)
    }

    /// Whether the line is quoted: in a fenced block, or the mark of one. The first line that is not blank tells
    /// whether there are any; go prints `# package` too, and no fences.
    pub(crate) fn quotes(&mut self, text: &str) -> bool {
        match self {
            Self::No => return false,
            Self::Unknown => {
                if !text.is_empty() {
                    *self = if is_heading(text) { Self::Text } else { Self::No };
                }
                return false;
            }
            Self::Text | Self::Fenced => {}
        }
        let mark = text.trim_start().starts_with("```");
        let fenced = *self == Self::Fenced;
        if mark {
            *self = if fenced { Self::Text } else { Self::Fenced };
        }
        mark || fenced
    }
}

fn is_heading(text: &str) -> bool {
    ["# ", "## ", "<h1", "<p ", "<div", "<!--", "[!["]
        .iter()
        .any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::Page;

    fn quoted(lines: &[&str]) -> Vec<bool> {
        let mut page = Page::default();
        lines.iter().map(|line| page.quotes(line)).collect()
    }

    #[test]
    fn fenced_blocks_of_a_page_are_quotations() {
        let page = ["", "# Gauge", "```console", "error: x", "```", "error: y"];
        assert_eq!(quoted(&page), [false, false, true, true, true, false]);
    }

    #[test]
    fn what_does_not_begin_as_a_page_has_none() {
        let log = ["error: x", "# Gauge", "```", "error: y"];
        assert_eq!(quoted(&log), [false; 4]);
    }
}
