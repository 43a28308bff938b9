//! Colours by role. A theme is data (`assets/themes/*.json`): a style for each [`Role`]; faces name roles, never
//! colours, and every meaning also has a word or a mark, because some people see no colours.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::style::Style;

/// What a stretch of text is, from which its colour follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Conversation, as it is.
    Text,
    /// The person's own words.
    Person,
    /// The prompt mark, the git branch, a context half to four fifths used.
    Prompt,
    /// Facts of the status line.
    Status,
    /// Tool lines, notes, separators.
    Quiet,
    /// Something in order.
    Ok,
    /// Approvals, moderate risk, a context nearly full.
    Warn,
    /// Dangerous commands.
    Danger,
    /// Failures.
    Error,
    /// Lines added.
    Added,
    /// The words that make an added line different.
    AddedWord,
    /// Lines removed.
    Removed,
    /// The words that make a removed line different.
    RemovedWord,
    /// Tokens the model read.
    TokensRead,
    /// Tokens the model wrote.
    TokensWritten,
    /// A command being typed.
    Command,
    /// A command that was sent.
    CommandSent,
    /// The model's thinking.
    Thinking,
    /// A Markdown heading.
    Heading,
    /// Code in a reply.
    Code,
    /// The fence around a code block.
    Fence,
    /// `**strong**`.
    Strong,
    /// `*emphasis*`.
    Emphasis,
    /// The account of what was held back of an output.
    HeldBack,
    /// The input box.
    Input,
    /// What was typed, once sent.
    Sent,
    /// The row a dialog or a list stands on.
    Selected,
    /// Frames.
    Border,
}

/// Names a theme may be asked for by, and its data. Adding a theme is adding a file and a row.
const THEMES: [(&str, &str); 3] = [
    ("dark", include_str!("../../../assets/themes/dark.json")),
    ("light", include_str!("../../../assets/themes/light.json")),
    ("ansi16", include_str!("../../../assets/themes/ansi16.json")),
];

/// The name that means no colours at all.
pub const NO_THEME: &str = "none";

/// The names `theme` may have in the configuration, `none` last.
pub fn names() -> Vec<&'static str> {
    THEMES.iter().map(|(name, _)| *name).chain([NO_THEME]).collect()
}

/// A style for each role. A role a theme does not name is plain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Theme(BTreeMap<Role, Style>);

impl Theme {
    /// A theme by its name; `none` and unknown names give `None`.
    pub fn named(name: &str) -> Option<Self> {
        let (_, data) = THEMES.iter().find(|(known, _)| *known == name)?;
        Some(Self(
            serde_json::from_str(data).expect("the built-in themes are read by a test"),
        ))
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.0.get(&role).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Colour;

    #[test]
    fn every_theme_is_read_and_names_every_role() {
        for (name, _) in THEMES {
            let theme = Theme::named(name).unwrap();
            assert_eq!(theme.0.len(), 28, "{name}");
        }
        assert_eq!(names(), ["dark", "light", "ansi16", "none"]);
        assert_eq!(Theme::named("none"), None);
    }

    #[test]
    fn the_dark_theme_has_the_documented_colours() {
        let dark = Theme::named("dark").unwrap();
        assert_eq!(dark.style(Role::Warn).fg, Some(Colour::Rgb(0xF2, 0xB9, 0x50)));
        assert_eq!(dark.style(Role::Input).bg, Some(Colour::Rgb(0x25, 0x3B, 0x4E)));
    }
}
