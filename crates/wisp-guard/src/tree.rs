//! A line as a syntax tree that can be trusted: everything in it is of a kind this crate knows.
//!
//! The grammar is bash's and the shell that runs the line may be another, so what the two read differently is
//! unreadable here: a quote within `$'…'`, arithmetic commands, a continued line in the middle of a word. So is
//! whatever the parser passed over: each byte between two tokens must be a blank.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use crate::openers;

/// The longest line that is read, in bytes.
pub const MAX_LINE: usize = 32 * 1024;

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 200;

/// Why a line cannot be taken apart. It is then dangerous, not safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot tell what this would run: {why}")]
pub struct Unreadable {
    /// What is in the way.
    pub why: String,
}

impl Unreadable {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// Kinds of nodes with others inside.
const INNER: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "redirected_statement",
    "negated_command",
    "subshell",
    "compound_statement",
    "if_statement",
    "elif_clause",
    "else_clause",
    "for_statement",
    "while_statement",
    "do_group",
    "case_statement",
    "case_item",
    "function_definition",
    "command_substitution",
    "process_substitution",
    "string",
    "translated_string",
    "concatenation",
    "expansion",
    "simple_expansion",
    "variable_assignment",
    "variable_assignments",
    "declaration_command",
    "unset_command",
    "test_command",
    "heredoc_redirect",
    "heredoc_body",
    "herestring_redirect",
    "file_redirect",
    "arithmetic_expansion",
    "array",
    "subscript",
    "binary_expression",
    "unary_expression",
    "postfix_expression",
    "parenthesized_expression",
    "ternary_expression",
    "brace_expression",
];

/// Kinds of nodes that are text.
const LEAVES: &[&str] = &[
    "word",
    "number",
    "raw_string",
    "ansi_c_string",
    "string_content",
    "variable_name",
    "special_variable_name",
    "comment",
    "heredoc_start",
    "heredoc_content",
    "heredoc_end",
    "file_descriptor",
    "test_operator",
    "regex",
    "extglob_pattern",
];

/// Words that begin or end a construct. The grammar sometimes takes one for a program (`! if true; then …`), and then
/// what stands in the construct is taken for arguments.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "select", "function", "coproc", "{", "}", "!", "[[", "]]",
];

/// Kinds within which the space between tokens is text of the person's own.
const TEXT: &[&str] = &[
    "string",
    "translated_string",
    "heredoc_body",
    "expansion",
    "heredoc_redirect",
];

/// Parses a line and checks every node of its tree.
pub(crate) fn parse(line: &str) -> Result<Tree, Unreadable> {
    check_characters(line)?;
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .expect("the grammar is of a version the parser reads");
    let tree = parser
        .parse(line, None)
        .ok_or_else(|| Unreadable::new("the line could not be parsed"))?;
    check(tree.root_node(), line, 0, false)?;
    openers::check(&tree, line)?;
    Ok(tree)
}

fn check_characters(line: &str) -> Result<(), Unreadable> {
    if line.len() > MAX_LINE {
        return Err(Unreadable::new(format!("it is longer than {MAX_LINE} bytes")));
    }
    if line.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(Unreadable::new("it has control characters"));
    }
    if line.chars().any(is_unseen) {
        return Err(Unreadable::new("it has characters that cannot be seen"));
    }
    if splits_a_word(line.as_bytes()) {
        return Err(Unreadable::new("a line is continued in the middle of a word"));
    }
    Ok(())
}

/// Whether a character takes no room or changes the order of others on a screen, so that a line with it is not what
/// it looks like.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a backslash and newline stand between two characters that are no blanks, or behind the beginning of an assignment:
/// the shell takes them out, the grammar does not.
fn splits_a_word(line: &[u8]) -> bool {
    let blank = |at: Option<&u8>| at.is_none_or(u8::is_ascii_whitespace);
    line.windows(2).enumerate().any(|(at, pair)| {
        pair == b"\\\n"
            && !blank(at.checked_sub(1).and_then(|before| line.get(before)))
            && (!blank(line.get(at + 2)) || matches!(line.get(at.wrapping_sub(1)), Some(b'=' | b'$')))
    })
}

/// Checks a node and all below it. `depth` is how deep it stands, `in_text` whether it is part of a text, where
/// blanks are letters like others.
fn check(node: Node<'_>, line: &str, depth: usize, in_text: bool) -> Result<(), Unreadable> {
    if depth > MAX_DEPTH {
        return Err(Unreadable::new("it is nested too deeply"));
    }
    let text = &line[node.byte_range()];
    if node.is_error() || node.is_missing() {
        return Err(Unreadable::new("it does not follow the shell's grammar"));
    }
    if node.is_named() && !INNER.contains(&node.kind()) && !LEAVES.contains(&node.kind()) {
        return Err(Unreadable::new(format!(
            "it uses a {}",
            node.kind().replace('_', " ")
        )));
    }
    if !in_text && swallows_a_blank(node.kind(), text) {
        return Err(Unreadable::new("a blank was taken into a word"));
    }
    if !in_text && node.kind() == "simple_expansion" && text[1..].starts_with(char::is_whitespace) {
        return Err(Unreadable::new("a $ alone is taken for part of a word"));
    }
    check_kind(node, text, line)?;
    check_gaps(node, line)?;
    let token_in_text = in_text || TEXT.contains(&node.kind());
    let in_text = token_in_text && !node.kind().ends_with("_substitution");
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        // Within quotes the token that opens a substitution has the blanks before it.
        let in_text = if child.is_named() { in_text } else { token_in_text };
        check(child, line, depth + 1, in_text)?;
    }
    Ok(())
}

/// Whether a token begins with a blank, or a word has one that is not escaped: the shell ends the word there.
fn swallows_a_blank(kind: &str, text: &str) -> bool {
    if kind != "program" && text.starts_with([' ', '\t', '\n']) && !text.trim().is_empty() {
        return true;
    }
    let mut escaped = false;
    kind == "word"
        && text.chars().any(|c| {
            let bare = !escaped && c.is_whitespace();
            escaped = c == '\\' && !escaped;
            bare
        })
}

fn check_kind(node: Node<'_>, text: &str, line: &str) -> Result<(), Unreadable> {
    match node.kind() {
        "ansi_c_string" if text.contains("\\'") => {
            Err(Unreadable::new("shells end its $'…' at different quotes"))
        }
        "compound_statement" | "test_command" if text.starts_with("((") => {
            Err(Unreadable::new("it is an arithmetic command"))
        }
        "command_substitution" if text.starts_with('`') && text.contains('\\') => {
            Err(Unreadable::new("it has a backslash within backquotes"))
        }
        "expansion" if runs_its_value(text) => Err(Unreadable::new(
            "an expansion in it may run what a variable holds",
        )),
        "command" if has_child(node, "subshell") => Err(Unreadable::new("a parenthesis follows a word")),
        "comment" if !starts_a_comment(line.as_bytes(), node.start_byte()) => {
            Err(Unreadable::new("a # stands within a word"))
        }
        "command_name" if RESERVED.contains(&text) => {
            Err(Unreadable::new(format!("{text} stands where a program should")))
        }
        "file_redirect" if text.trim_start().starts_with("&>") && !ends_its_command(node, line) => {
            Err(Unreadable::new("shells differ about what follows its &>"))
        }
        "file_redirect" if text.ends_with('$') || text.contains("$ ") || text.contains("$\t") => {
            Err(Unreadable::new("a $ alone is taken for part of a redirection"))
        }
        "file_descriptor" if text.len() > 1 => Err(Unreadable::new("shells read its descriptor differently")),
        "heredoc_redirect" => {
            check_place(node)?;
            check_heredoc(node, line)
        }
        _ => Ok(()),
    }
}

/// Whether a redirection has one target, and its command nothing after it. In a POSIX shell `a &> b c` is `a &` and then
/// `> b c`, which runs c.
fn ends_its_command(node: Node<'_>, line: &str) -> bool {
    let after = line[node.end_byte()..].replace("\\\n", "");
    let after = after.trim_start_matches([' ', '\t']);
    node.named_child_count() == 1 && (after.is_empty() || after.starts_with([';', '\n', '|', '&', ')', '`']))
}

fn has_child(node: Node<'_>, kind: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == kind)
}

/// `${x@P}` and its like, and the indirect `${!x}`.
fn runs_its_value(text: &str) -> bool {
    let inner = text.trim_start_matches("${");
    let name = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    inner.starts_with('!')
        || name.starts_with('@')
        || name.starts_with('[')
        || cuts(name) && name.chars().any(|c| c.is_alphabetic() || "$`_".contains(c))
}

/// Whether what follows a variable's name cuts a piece out of it (`:0:n`): where and how long is arithmetic, in which
/// bash runs what a variable holds.
fn cuts(after: &str) -> bool {
    after.starts_with(':') && !after[1..].starts_with(['-', '=', '?', '+'])
}

/// Whether the shell, too, starts a comment here: at the start of a word.
fn starts_a_comment(line: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return true;
    };
    let escaped = before > 0 && line[before - 1] == b'\\';
    b" \t\n;&|()".contains(&line[before]) && !escaped
}

/// Kinds that a newline ends: the shell starts the next command there, whatever the grammar made of it.
const ONE_LINE: &[&str] = &[
    "command",
    "command_name",
    "declaration_command",
    "unset_command",
    "file_redirect",
    "herestring_redirect",
    "negated_command",
    "variable_assignment",
    "variable_assignments",
    "concatenation",
];

/// Kinds that are words, or begin with one: two of them are only apart when there is a blank between them.
const WORDS: &[&str] = &[
    "word",
    "number",
    "string",
    "translated_string",
    "raw_string",
    "ansi_c_string",
    "concatenation",
    "expansion",
    "simple_expansion",
    "arithmetic_expansion",
    "command_substitution",
    "process_substitution",
    "brace_expression",
    "variable_assignment",
    "variable_name",
    "command_name",
    "command",
    "array",
    "extglob_pattern",
    "regex",
    "test_operator",
];

/// Every byte between two children is a blank or a continued line, and there is one between two words.
fn check_gaps(node: Node<'_>, line: &str) -> Result<(), Unreadable> {
    if TEXT.contains(&node.kind()) || node.child_count() == 0 {
        return Ok(());
    }
    let blanks = match node.kind() {
        "concatenation" => "",
        kind if ONE_LINE.contains(&kind) => " \t",
        _ => " \t\n",
    };
    let mut at = node.start_byte();
    let mut after_word = false;
    let whole = node.kind() == "concatenation";
    let of_words = ["command", "declaration_command", "unset_command"].contains(&node.kind());
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let redirects = child.kind().ends_with("_redirect");
        let word = WORDS.contains(&child.kind()) || of_words && !redirects;
        let numbered = redirects && line[child.byte_range()].starts_with(|c: char| c.is_ascii_digit());
        let adjacent = at == child.start_byte() && at > node.start_byte();
        if adjacent && !whole && (after_word && word || numbered) {
            return Err(Unreadable::new("part of a word was taken for a word of its own"));
        }
        check_gap(line, at..child.start_byte(), blanks)?;
        at = at.max(child.end_byte());
        // A redirection ends with the word it goes to, and the body of a here-document with a line.
        after_word = word || redirects && !child.kind().starts_with("heredoc");
    }
    check_gap(line, at..node.end_byte(), blanks)
}

fn check_gap(line: &str, gap: Range<usize>, blanks: &str) -> Result<(), Unreadable> {
    let gap = line.get(gap).unwrap_or_default().replace("\\\n", "");
    if gap.chars().all(|c| blanks.contains(c)) {
        return Ok(());
    }
    Err(Unreadable::new("part of it was passed over"))
}

/// Whether what stands on the row after a here-document's word is known, and none of it an argument of the command before.
fn row_is_covered(node: Node<'_>, line: &str) -> bool {
    let row_end = line[node.start_byte()..]
        .find('\n')
        .map_or(line.len(), |at| node.start_byte() + at);
    let mut at = node.start_byte();
    let mut started = false;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let from = child.start_byte().min(row_end);
        let gap = line.get(at.min(from)..from).unwrap_or_default();
        let argument = started
            && child.start_byte() < row_end
            && child.kind() != "command"
            && WORDS.contains(&child.kind());
        if argument || started && !gap.trim().is_empty() {
            return false;
        }
        started |= child.kind() == "heredoc_start";
        at = at.max(child.end_byte());
    }
    at >= row_end || line[at..row_end].trim().is_empty()
}

/// Within a substitution a here-document is all there is: bash 5.2 loses the separator of the command after it.
fn check_place(node: Node<'_>) -> Result<(), Unreadable> {
    let mut above = node.parent();
    while let Some(outer) = above {
        if outer.kind().ends_with("_substitution") {
            let statement = node.parent().and_then(|statement| statement.parent());
            let alone = outer.named_child_count() == 1 && statement.is_some_and(|of| of.id() == outer.id());
            return if alone {
                Ok(())
            } else {
                Err(Unreadable::new("shells read its here-document differently"))
            };
        }
        above = outer.parent();
    }
    Ok(())
}

/// A here-document ends where the shell ends it, and nothing in it runs unseen.
fn check_heredoc(node: Node<'_>, line: &str) -> Result<(), Unreadable> {
    let part = |kind: &str| {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .find(|child| child.kind() == kind)
            .map(|child| &line[child.byte_range()])
    };
    let wrong = || Unreadable::new("the end of its here-document is not certain");
    let (Some(start), Some(end)) = (part("heredoc_start"), part("heredoc_end")) else {
        return Err(wrong());
    };
    let (first_row, body) = line[node.byte_range()].split_once('\n').unwrap_or_default();
    let bare = start.trim_start_matches('\\').trim_matches(['\'', '"']);
    let plain = bare.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let ends = body.lines().filter(|row| row.trim_start_matches('\t') == bare);
    let another = first_row.matches("<<").count() > 1;
    if !plain || bare.is_empty() || another || end.trim_start_matches('\t') != bare || ends.count() != 1 {
        return Err(wrong());
    }
    if !row_is_covered(node, line) {
        return Err(Unreadable::new(
            "words after the start of its here-document were passed over",
        ));
    }
    // The shell ends it only at a line that is the word and nothing else.
    let end_range = {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .find(|child| child.kind() == "heredoc_end")
            .map(|child| child.byte_range())
    };
    let alone = end_range.is_some_and(|range| {
        let before = line[..range.start].rsplit('\n').next().unwrap_or_default();
        let after = line[range.end..].chars().next();
        before.chars().all(|c| c == '\t') && after.is_none_or(|c| c == '\n')
    });
    if !alone {
        return Err(wrong());
    }
    // The grammar loses substitutions in a here-document, so a body that may have one is not looked into.
    if bare == start && (body.contains(['`']) || body.contains("$(") || body.contains("${")) {
        return Err(Unreadable::new("its here-document may run a command"));
    }
    Ok(())
}
