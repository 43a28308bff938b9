//! Code in a reply, coloured by what is the same in nearly every language: words that languages reserve, strings,
//! numbers and comments. A line at a time, because a reply comes a line at a time; what only a grammar knows stays
//! plain. A fence marked `diff` is coloured by its lines instead.

use ratatui::text::Span;
use wisp_term::Role;

use crate::looks::Looks;

/// Words that many languages reserve. One too many colours a name; one too few colours nothing.
const WORDS: &str = "abstract and as async await bool break case catch char class const continue crate def default \
    defer del do done elif else end enum esac except export extends extern false fi final finally float fn for from \
    func function go if impl implements import in int interface is lambda let loop match mod module move mut \
    namespace new nil none None not null or package pass private protected pub public raise ref require return \
    select self Self static struct super switch template then this throw trait true True False try type typedef \
    typeof union unsafe use using var void where while with yield";

/// What begins a comment that goes on to the line's end, and the languages in which it does; in all others `//` does.
const COMMENTS: [(&str, &str); 4] = [
    ("--", "sql lua haskell hs ada"),
    (";", "lisp clojure scheme asm ini"),
    ("%", "tex latex erlang matlab"),
    (
        "#",
        "python py sh bash zsh shell console ruby rb perl r yaml yml toml make makefile dockerfile elixir nix conf",
    ),
];

/// Beginnings of a difference's lines and their roles, the longer first.
const DIFF: [(&str, Role); 5] = [
    ("+++", Role::Quiet),
    ("---", Role::Quiet),
    ("@@", Role::Quiet),
    ("+", Role::Added),
    ("-", Role::Removed),
];

/// One line of code in a language (as the fence names it, lower case).
pub(crate) fn highlight(line: &str, language: &str, looks: &Looks) -> Vec<Span<'static>> {
    if language == "diff" || language == "patch" {
        let known = DIFF.iter().find(|(start, _)| line.starts_with(start));
        return vec![looks.span(known.map_or(Role::Code, |(_, role)| *role), line)];
    }
    let mut spans: Vec<(Role, String)> = Vec::new();
    let mut rest = line;
    let comment = comment_of(language);
    while let Some(first) = rest.chars().next() {
        let (role, len) = token(rest, first, comment);
        match spans.last_mut() {
            Some((last, text)) if *last == role => text.push_str(&rest[..len]),
            _ => spans.push((role, rest[..len].to_owned())),
        }
        rest = &rest[len..];
    }
    spans
        .into_iter()
        .map(|(role, text)| looks.span(role, text))
        .collect()
}

/// The mark that begins a comment in a language.
fn comment_of(language: &str) -> &'static str {
    let own = COMMENTS
        .iter()
        .find(|(_, languages)| languages.split(' ').any(|known| known == language));
    own.map_or("//", |(mark, _)| *mark)
}

/// The role and the length of what `rest` begins with.
fn token(rest: &str, first: char, comment: &str) -> (Role, usize) {
    if rest.starts_with(comment) {
        return (Role::Quiet, rest.len());
    }
    match first {
        '"' | '\'' | '`' => string(rest, first),
        c if c.is_ascii_digit() => {
            let number = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.');
            (Role::TokensRead, rest.find(number).unwrap_or(rest.len()))
        }
        c if c.is_alphabetic() || c == '_' => {
            let word = |c: char| !(c.is_alphanumeric() || c == '_');
            let len = rest.find(word).unwrap_or(rest.len());
            let role = if WORDS.split(' ').any(|word| word == &rest[..len]) {
                Role::Prompt
            } else {
                Role::Code
            };
            (role, len)
        }
        c => (Role::Code, c.len_utf8()),
    }
}

/// A string up to its end, if it ends in this line; an apostrophe that ends nothing is one character.
fn string(rest: &str, quote: char) -> (Role, usize) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote && !escaped {
            return (Role::Command, at + 1);
        }
        escaped = c == '\\' && !escaped;
    }
    (Role::Code, quote.len_utf8())
}

#[cfg(test)]
mod tests {
    use wisp_host::Env;
    use wisp_term::{Depth, Palette};

    use super::*;

    fn roles(line: &str, language: &str) -> Vec<String> {
        let looks = Looks::new(Palette::new("dark", Depth::True, &Env::default()));
        let names = [
            (Role::Prompt, "word"),
            (Role::Command, "string"),
            (Role::TokensRead, "number"),
            (Role::Quiet, "comment"),
            (Role::Added, "added"),
            (Role::Removed, "removed"),
        ];
        let spans = highlight(line, language, &looks);
        assert_eq!(
            spans.iter().map(|span| span.content.as_ref()).collect::<String>(),
            line
        );
        let of = |span: Span<'static>| {
            let (_, name) = names.iter().find(|(role, _)| looks.style(*role) == span.style)?;
            Some(format!("{name} {}", span.content))
        };
        spans.into_iter().filter_map(of).collect()
    }

    #[test]
    fn words_strings_numbers_and_comments_are_told_apart() {
        assert_eq!(
            roles("let s = \"a // \\\" b\"; // 4 it's", "rust"),
            ["word let", "string \"a // \\\" b\"", "comment // 4 it's"]
        );
        assert_eq!(
            roles("x = 0xFF + 1.5 # note", "python"),
            ["number 0xFF", "number 1.5", "comment # note"]
        );
        assert_eq!(roles("letter don't", "rust"), Vec::<String>::new());
    }

    #[test]
    fn a_difference_is_coloured_by_its_lines() {
        assert_eq!(roles("+let x = 1;", "diff"), ["added +let x = 1;"]);
        assert_eq!(roles("-old", "patch"), ["removed -old"]);
        assert_eq!(roles("+++ b/x", "diff"), ["comment +++ b/x"]);
    }

    #[test]
    fn the_table_of_words_has_each_once() {
        let mut words: Vec<&str> = WORDS.split(' ').collect();
        words.sort_unstable();
        let all = words.len();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
