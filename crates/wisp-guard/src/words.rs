//! Words from their nodes: what the program gets when that is known, and that it is not known otherwise.

use tree_sitter::Node;

use crate::command::Word;

/// The word a node stands for.
pub(crate) fn word(node: Node<'_>, line: &str) -> Word {
    let text = &line[node.byte_range()];
    match node.kind() {
        "word" | "number" | "test_operator" | "variable_name" => bare(text),
        "raw_string" => Word::literal(text.trim_start().trim_matches('\'')),
        "string" => quoted(node, text),
        "command_name" => node
            .child(0)
            .map_or_else(|| unknown(text), |child| word(child, line)),
        "concatenation" => concatenated(node, line),
        // `$'…'` without escapes is its text in bash; elsewhere a `$` stands before it, and so it is never literal.
        "ansi_c_string" if !text.contains('\\') => Word {
            literal: false,
            ..Word::literal(text.trim_start_matches('$').trim_matches('\''))
        },
        _ if !node.is_named() => bare(text),
        _ => unknown(text),
    }
}

fn unknown(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        literal: false,
        glob: false,
    }
}

/// An unquoted word: escapes removed, patterns noticed.
fn bare(text: &str) -> Word {
    let mut plain = String::with_capacity(text.len());
    let mut glob = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            other => {
                glob |= matches!(other, '*' | '?') || (other == '[' && chars.as_str().contains(']'));
                plain.push(other);
            }
        }
    }
    Word {
        literal: !is_brace_list(text),
        text: plain,
        glob,
    }
}

/// A double-quoted word: literal when nothing in it is expanded.
fn quoted(node: Node<'_>, text: &str) -> Word {
    let mut cursor = node.walk();
    let plain = node
        .named_children(&mut cursor)
        .all(|child| child.kind() == "string_content");
    let inner = text.trim_start();
    let inner = inner
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .unwrap_or(inner);
    if !plain || inner.contains('`') && !inner.contains("\\`") {
        return unknown(inner);
    }
    let mut unescaped = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(|next| "\"\\$`\n".contains(*next));
        match escapes.then(|| chars.next()).flatten() {
            Some('\n') => {}
            Some(next) => unescaped.push(next),
            None => unescaped.push(c),
        }
    }
    Word::literal(unescaped)
}

fn concatenated(node: Node<'_>, line: &str) -> Word {
    let mut whole = Word::literal("");
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let part = word(child, line);
        whole.text.push_str(&part.text);
        whole.literal &= part.literal;
        whole.glob |= part.glob;
    }
    let text = &line[node.byte_range()];
    whole.glob |= text.contains('[') && text.contains(']');
    // The braces of a list come as words of their own; `{}` alone is what `find` replaces.
    whole.literal &= !is_brace_list(text);
    whole
}

/// Whether bash may make several words of one: `{a,b}`, `{1..9}`.
fn is_brace_list(text: &str) -> bool {
    text.contains('{') && (text.contains(',') || text.contains(".."))
}
