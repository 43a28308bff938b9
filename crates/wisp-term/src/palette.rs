//! A theme at a terminal's depth, and how both are found out from the environment.

use wisp_host::Env;

use crate::style::{Depth, Style};
use crate::theme::{Role, Theme};

/// What the person asked for about colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColourChoice {
    /// By the stream and the environment.
    #[default]
    Auto,
    /// Always (`--color always`).
    Always,
    /// Never.
    Never,
}

/// How many colours to use on a stream. In this order: the person's choice, `NO_COLOR` (not empty), `TERM=dumb`,
/// `CLICOLOR_FORCE` (neither empty nor 0), whether the stream is a terminal; then `COLORTERM` and `TERM` say how many.
pub fn depth(env: &Env, choice: ColourChoice, terminal: bool) -> Depth {
    let forced = env.get("CLICOLOR_FORCE").is_some_and(|v| v != "0");
    let dumb = env.get("TERM") == Some("dumb");
    let on = match choice {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto => env.get("NO_COLOR").is_none() && !dumb && (forced || terminal),
    };
    if !on {
        return Depth::None;
    }
    match (env.get("COLORTERM"), env.get("TERM")) {
        (Some("truecolor" | "24bit"), _) => Depth::True,
        (_, Some(term)) if term.ends_with("-direct") => Depth::True,
        (_, Some(term)) if term.contains("256color") => Depth::Indexed,
        _ => Depth::Ansi16,
    }
}

/// The colours in use: nothing here writes an escape when there are none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Palette {
    theme: Theme,
    depth: Depth,
}

impl Palette {
    /// A theme by name at a depth. `auto` follows `COLORFGBG` (a light background) and otherwise means dark;
    /// `none` and unknown names mean no colours. Without a depth no theme is read: most of wisp's output goes into a pipe.
    pub fn new(theme: &str, depth: Depth, env: &Env) -> Self {
        if depth == Depth::None {
            return Self::plain();
        }
        let name = match theme {
            "auto" if depth == Depth::Ansi16 => "ansi16",
            "auto" if is_light(env) => "light",
            "auto" => "dark",
            other => other,
        };
        Theme::named(name).map_or_else(Self::plain, |theme| Self { theme, depth })
    }

    /// No colours.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Whether there are any colours.
    pub fn is_coloured(&self) -> bool {
        self.depth != Depth::None
    }

    /// How deep the terminal's colours go.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The style of a role, for faces that draw cells; the default style when there are no colours.
    pub fn style(&self, role: Role) -> Style {
        if self.is_coloured() {
            self.theme.style(role)
        } else {
            Style::default()
        }
    }

    /// The sequence that turns a role on, for text that is streamed: end it with [`Palette::off`].
    pub fn on(&self, role: Role) -> String {
        self.style(role).sequence(self.depth)
    }

    /// The sequence that ends any style; empty when there are no colours.
    pub fn off(&self) -> &'static str {
        if self.is_coloured() { "\u{1b}[0m" } else { "" }
    }

    /// Text in a role's style. The text must be safe already; newlines in it end and resume the style, so that a
    /// background never runs to the edge.
    pub fn paint(&self, role: Role, text: &str) -> String {
        let on = self.on(role);
        if on.is_empty() || text.is_empty() {
            return text.to_owned();
        }
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| match line {
                "" => String::new(),
                line => format!("{on}{line}{}", self.off()),
            })
            .collect();
        lines.join("\n")
    }
}

/// Whether the terminal said that its background is light: the last number of `COLORFGBG` is 7 or above 8.
fn is_light(env: &Env) -> bool {
    let background = env.get("COLORFGBG").and_then(|v| v.rsplit(';').next());
    background
        .and_then(|b| b.parse::<u8>().ok())
        .is_some_and(|b| b == 7 || b > 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn colour_follows_the_stream_and_the_environment() {
        let auto = |pairs: &[(&str, &str)], terminal| depth(&env(pairs), ColourChoice::Auto, terminal);
        assert_eq!(auto(&[("TERM", "xterm-256color")], true), Depth::Indexed);
        assert_eq!(auto(&[("TERM", "xterm-256color")], false), Depth::None);
        assert_eq!(
            auto(&[("TERM", "xterm"), ("COLORTERM", "truecolor")], true),
            Depth::True
        );
        assert_eq!(
            auto(&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
            Depth::None
        );
        assert_eq!(
            auto(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true),
            Depth::None
        );
        assert_eq!(auto(&[("NO_COLOR", "")], true), Depth::Ansi16);
        assert_eq!(auto(&[("CLICOLOR_FORCE", "1")], false), Depth::Ansi16);
        assert_eq!(auto(&[("CLICOLOR_FORCE", "0")], false), Depth::None);
        assert_eq!(
            depth(&env(&[("NO_COLOR", "1")]), ColourChoice::Always, false),
            Depth::Ansi16
        );
    }

    #[test]
    fn painting_without_colours_changes_nothing() {
        assert_eq!(Palette::plain().paint(Role::Danger, "rm"), "rm");
        assert_eq!(
            Palette::new("none", Depth::True, &env(&[])).paint(Role::Danger, "rm"),
            "rm"
        );
        assert_eq!(Palette::new("dark", Depth::None, &env(&[])), Palette::plain());
    }

    #[test]
    fn painting_ends_with_each_line() {
        let palette = Palette::new("ansi16", Depth::Ansi16, &env(&[]));
        assert_eq!(
            palette.paint(Role::Error, "a\nb"),
            "\u{1b}[31ma\u{1b}[0m\n\u{1b}[31mb\u{1b}[0m"
        );
    }

    #[test]
    fn a_light_background_is_believed() {
        let light = Palette::new("auto", Depth::True, &env(&[("COLORFGBG", "0;15")]));
        assert_eq!(light.theme, Theme::named("light").unwrap());
        let dark = Palette::new("auto", Depth::True, &env(&[("COLORFGBG", "15;0")]));
        assert_eq!(dark.theme, Theme::named("dark").unwrap());
    }
}
