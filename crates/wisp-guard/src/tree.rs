//! A line as a syntax tree that can be trusted: everything in it is of a kind this crate knows.
//!
//! The grammar is bash's and the shell that runs the line may be another, so what the two read differently is
//! unreadable here: a quote within `$'…'`, arithmetic commands, a continued line in the middle of a word. So is
//! whatever the parser passed over: each byte between two tokens must be a blank.

use tree_sitter::{Node, Parser, Tree};

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
    check(tree.root_node(), line, 0)?;
    Ok(tree)
}

fn check_characters(line: &str) -> Result<(), Unreadable> {
    if line.len() > MAX_LINE {
        return Err(Unreadable::new(format!("it is longer than {MAX_LINE} bytes")));
    }
    if line.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(Unreadable::new("it has control characters"));
    }
    if splits_a_word(line.as_bytes()) {
        return Err(Unreadable::new("a line is continued in the middle of a word"));
    }
    Ok(())
}

/// Whether a backslash and newline stand between two characters that are no blanks: the shell joins them, the
/// grammar does not.
fn splits_a_word(line: &[u8]) -> bool {
    let blank = |at: Option<&u8>| at.is_none_or(u8::is_ascii_whitespace);
    line.windows(2).enumerate().any(|(at, pair)| {
        pair == b"\\\n"
            && !blank(at.checked_sub(1).and_then(|before| line.get(before)))
            && !blank(line.get(at + 2))
    })
}

fn check(node: Node<'_>, line: &str, depth: usize) -> Result<(), Unreadable> {
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
    check_kind(node, text, line)?;
    check_gaps(node, line)?;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        check(child, line, depth + 1)?;
    }
    Ok(())
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
        "heredoc_redirect" => check_heredoc(node, line),
        _ => Ok(()),
    }
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
        || name.starts_with(':') && name[1..].starts_with(|c: char| c.is_alphabetic() || c == '$')
}

/// Whether the shell, too, starts a comment here: at the start of a word.
fn starts_a_comment(line: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return true;
    };
    let escaped = before > 0 && line[before - 1] == b'\\';
    b" \t\n;&|()".contains(&line[before]) && !escaped
}

/// Every byte between two children is a blank or a continued line.
fn check_gaps(node: Node<'_>, line: &str) -> Result<(), Unreadable> {
    if TEXT.contains(&node.kind()) || node.child_count() == 0 {
        return Ok(());
    }
    let mut at = node.start_byte();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        check_gap(line, at, child.start_byte())?;
        at = at.max(child.end_byte());
    }
    check_gap(line, at, node.end_byte())
}

fn check_gap(line: &str, from: usize, to: usize) -> Result<(), Unreadable> {
    let gap = line
        .get(from..to.max(from))
        .unwrap_or_default()
        .replace("\\\n", " ");
    if gap.bytes().all(|b| b" \t\n".contains(&b)) {
        return Ok(());
    }
    Err(Unreadable::new("part of it was passed over"))
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
    let bare = start.trim_start_matches('\\').trim_matches(['\'', '"']);
    let plain = bare.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let body = part("heredoc_body").unwrap_or_default();
    let inside = body.lines().any(|row| row.trim_start_matches('\t') == bare);
    if !plain || bare.is_empty() || end.trim_start_matches('\t') != bare || inside {
        return Err(wrong());
    }
    if bare == start && body.contains('`') {
        return Err(Unreadable::new("its here-document has a backquote"));
    }
    Ok(())
}
