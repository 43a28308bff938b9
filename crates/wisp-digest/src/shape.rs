//! The outline of a JSON document: which names, of which types, how often, with values as they are written.

use serde::Serialize;

use crate::counted::{counted, thousands};
use crate::json::{Event, Listener};
use crate::line::cut;
use crate::numbers::widen;

const KEYS: usize = 60;
const NODES: usize = 2_000;
const LINES: usize = 200;
const DEPTH: usize = 8;
const EXAMPLE: usize = 40;

/// One line of an outline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Where it is: `$` for the document, then `.name`, `["any name"]` and `[]` for what an array holds.
    pub path: String,
    /// How deep, 0 for the document itself.
    pub depth: usize,
    /// Its types in the order in which they first occur, with ranges, sizes or an example, and how often each.
    pub types: String,
    /// How many of the objects it could stand in have it; none for what is no member.
    pub present: Option<u64>,
    /// How many such objects there are.
    pub objects: u64,
    /// How often an object had the name more than once.
    pub duplicates: u64,
}

/// What a JSON document or a sequence of them holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonShape {
    /// How many documents, one a line when more than one.
    pub documents: u64,
    /// The outline, outermost first.
    pub members: Vec<Member>,
    /// How many names were left out.
    pub more: u64,
}

#[derive(Debug, Default)]
struct Node {
    /// Type names in order of first occurrence.
    order: Vec<&'static str>,
    counts: [u64; 6],
    numbers: Option<(String, String)>,
    text: Option<String>,
    /// Bytes of the longest string.
    longest: u64,
    word: Option<String>,
    lengths: Option<(u64, u64)>,
    element: Option<usize>,
    keys: Vec<(String, usize, u64, u64)>,
    more_keys: u64,
    /// Levels below it that are not outlined, the most of any.
    deeper: usize,
}

const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
const NULL: usize = 0;
const BOOLEAN: usize = 1;
const NUMBER: usize = 2;
const STRING: usize = 3;
const ARRAY: usize = 4;
const OBJECT: usize = 5;

#[derive(Debug)]
struct Open {
    node: Option<usize>,
    array: bool,
    length: u64,
    /// Indices of keys seen in this object, to know a second one.
    seen: Vec<usize>,
    key: Option<usize>,
}

/// Builds the outline from events.
#[derive(Debug)]
pub(crate) struct Outliner {
    nodes: Vec<Node>,
    stack: Vec<Open>,
    /// Lists of objects that have ended, for the next ones.
    spare: Vec<Vec<usize>>,
    skipped: usize,
    /// The node below which it is not outlined now.
    below: Option<usize>,
    more: u64,
}

impl Default for Outliner {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            stack: Vec::new(),
            spare: Vec::new(),
            skipped: 0,
            below: None,
            more: 0,
        }
    }
}

impl Listener for Outliner {
    fn event(&mut self, event: Event<'_>, _: u64) {
        match event {
            Event::ObjectStart => self.start(OBJECT),
            Event::ArrayStart => self.start(ARRAY),
            Event::ObjectEnd | Event::ArrayEnd => self.end(),
            Event::Key(name) => self.key(name),
            Event::Text(text, bytes) => {
                if let Some(at) = self.scalar(STRING, text) {
                    let node = &mut self.nodes[at];
                    node.longest = node.longest.max(bytes);
                }
            }
            Event::Number(text) => drop(self.scalar(NUMBER, text)),
            Event::Word("null") => drop(self.scalar(NULL, "null")),
            Event::Word(text) => drop(self.scalar(BOOLEAN, text)),
        }
    }
}

impl Outliner {
    /// The node that the next value belongs to; none below the depth or past the bounds.
    fn target(&mut self) -> Option<usize> {
        let Some(open) = self.stack.last_mut() else {
            return Some(0);
        };
        let node = open.node?;
        if let Some(key) = open.key.take() {
            return Some(self.nodes[node].keys[key].1);
        }
        if !open.array {
            return None;
        }
        open.length += 1;
        if self.nodes[node].element.is_none() {
            let made = self.make()?;
            self.nodes[node].element = Some(made);
        }
        self.nodes[node].element
    }

    fn make(&mut self) -> Option<usize> {
        if self.nodes.len() >= NODES {
            self.more += 1;
            return None;
        }
        self.nodes.push(Node::default());
        Some(self.nodes.len() - 1)
    }

    fn start(&mut self, kind: usize) {
        if self.skipped > 0 || self.stack.len() >= DEPTH {
            if self.skipped == 0 {
                self.below = self.target();
                if let Some(node) = self.below {
                    self.count(node, kind);
                }
            }
            self.skipped += 1;
            if let Some(node) = self.below {
                let node = &mut self.nodes[node];
                node.deeper = node.deeper.max(self.skipped - 1);
            }
            return;
        }
        let node = self.target();
        if let Some(node) = node {
            self.count(node, kind);
        }
        self.stack.push(Open {
            node,
            array: kind == ARRAY,
            length: 0,
            seen: self.spare.pop().unwrap_or_default(),
            key: None,
        });
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        let Some(mut open) = self.stack.pop() else { return };
        open.seen.clear();
        self.spare.push(open.seen);
        let Some(node) = open.node.map(|node| &mut self.nodes[node]) else {
            return;
        };
        if open.array {
            let (least, most) = node.lengths.unwrap_or((open.length, open.length));
            node.lengths = Some((least.min(open.length), most.max(open.length)));
        }
    }

    fn count(&mut self, node: usize, kind: usize) {
        let node = &mut self.nodes[node];
        if node.counts[kind] == 0 {
            node.order.push(TYPES[kind]);
        }
        node.counts[kind] += 1;
    }

    fn key(&mut self, name: &str) {
        if self.skipped > 0 {
            return;
        }
        let Some(node) = self.stack.last().and_then(|open| open.node) else {
            return;
        };
        // Objects of one kind have their names in one order.
        let likely = self
            .stack
            .last()
            .and_then(|open| open.seen.last())
            .map_or(0, |last| last + 1);
        let keys = &self.nodes[node].keys;
        let known = match keys.get(likely) {
            Some(key) if key.0 == name => Some(likely),
            _ => keys.iter().position(|key| key.0 == name),
        };
        let at = match known {
            Some(at) => at,
            None if self.nodes[node].keys.len() >= KEYS => {
                self.nodes[node].more_keys += 1;
                self.lose_key();
                return;
            }
            None => match self.make() {
                Some(made) => {
                    self.nodes[node].keys.push((name.to_owned(), made, 0, 0));
                    self.nodes[node].keys.len() - 1
                }
                None => return self.lose_key(),
            },
        };
        self.enter_key(node, at);
    }

    fn enter_key(&mut self, node: usize, at: usize) {
        let Some(open) = self.stack.last_mut() else { return };
        let key = &mut self.nodes[node].keys[at];
        if open.seen.contains(&at) {
            key.3 += 1;
        } else {
            key.2 += 1;
            open.seen.push(at);
        }
        open.key = Some(at);
    }

    /// A name past the bounds: its value goes nowhere.
    fn lose_key(&mut self) {
        self.more += 1;
        if let Some(open) = self.stack.last_mut() {
            open.key = None;
        }
    }

    /// Counts a value, and says at which node when it is outlined.
    fn scalar(&mut self, kind: usize, text: &str) -> Option<usize> {
        if self.skipped > 0 {
            return None;
        }
        let at = self.target()?;
        self.count(at, kind);
        let node = &mut self.nodes[at];
        match kind {
            NUMBER => widen(&mut node.numbers, text),
            STRING => {
                node.text.get_or_insert_with(|| text.to_owned());
            }
            BOOLEAN => {
                node.word.get_or_insert_with(|| text.to_owned());
            }
            _ => {}
        }
        Some(at)
    }

    /// The outline of `documents` documents.
    pub(crate) fn close(&self, documents: u64) -> JsonShape {
        let mut shape = JsonShape {
            documents,
            members: Vec::new(),
            more: self.more,
        };
        let root = Member {
            path: "$".to_owned(),
            depth: 0,
            types: String::new(),
            present: None,
            objects: 0,
            duplicates: 0,
        };
        self.outline(0, root, &mut shape);
        shape
    }

    fn outline(&self, at: usize, mut member: Member, shape: &mut JsonShape) {
        if shape.members.len() >= LINES {
            shape.more += 1;
            return;
        }
        let node = &self.nodes[at];
        member.types = describe(node);
        let (path, depth) = (member.path.clone(), member.depth + 1);
        shape.members.push(member);
        for (name, child, present, duplicates) in &node.keys {
            let path = format!("{path}{}", step(name));
            let objects = node.counts[5];
            let (present, duplicates) = (Some(*present), *duplicates);
            self.outline(
                *child,
                Member {
                    path,
                    depth,
                    types: String::new(),
                    present,
                    objects,
                    duplicates,
                },
                shape,
            );
        }
        if let Some(child) = node.element {
            let path = format!("{path}[]");
            self.outline(
                child,
                Member {
                    path,
                    depth,
                    types: String::new(),
                    present: None,
                    objects: 0,
                    duplicates: 0,
                },
                shape,
            );
        }
    }
}

/// A name as a step of a path; one that is no plain word is written as a JSON string in brackets.
fn step(name: &str) -> String {
    let plain = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain {
        format!(".{name}")
    } else {
        format!("[\"{name}\"]")
    }
}

fn describe(node: &Node) -> String {
    let several = node.counts.iter().sum::<u64>() > 1;
    let parts = node.order.iter().map(|name| {
        let at = TYPES.iter().position(|each| each == name).unwrap_or(0);
        let count = if several {
            format!(" ×{}", thousands(node.counts[at]))
        } else {
            String::new()
        };
        format!("{}{count}", describe_type(node, name))
    });
    parts.collect::<Vec<_>>().join(" | ")
}

fn describe_type(node: &Node, name: &str) -> String {
    match name {
        "number" => match &node.numbers {
            Some((least, most)) if least == most => format!("number {least}"),
            Some((least, most)) => format!("number {least}…{most}"),
            None => "number".to_owned(),
        },
        "string" => node.text.as_ref().map_or("string".to_owned(), |text| {
            format!("string e.g. \"{}\"{}", example(text), how_long(node))
        }),
        "boolean" => match &node.word {
            Some(word) if node.counts[1] == 1 => format!("boolean {word}"),
            _ => "boolean".to_owned(),
        },
        "array" | "object" if node.deeper > 0 => {
            format!("{name}, {} deeper", counted(node.deeper as u64, "levels"))
        }
        "array" => match node.lengths {
            Some((least, most)) if least == most => format!("array[{}]", thousands(least)),
            Some((least, most)) => format!("array[{}…{}]", thousands(least), thousands(most)),
            None => "array".to_owned(),
        },
        "object" if node.more_keys > 0 => {
            format!("object of {} and more", counted(node.keys.len() as u64, "names"))
        }
        other => other.to_owned(),
    }
}

/// A string that is longer than this many bytes is said to be: it is what makes a line long.
const LONG: u64 = 1000;

fn how_long(node: &Node) -> String {
    let bytes = counted(node.longest, "bytes");
    match node.counts[STRING] {
        _ if node.longest <= LONG => String::new(),
        1 => format!(", {bytes}"),
        _ => format!(", the longest {bytes}"),
    }
}

fn example(text: &str) -> String {
    let shown = cut(text, EXAMPLE);
    if shown.len() < text.len() {
        format!("{shown}…")
    } else {
        shown.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Tokenizer;

    fn types(text: &str) -> Vec<String> {
        let (mut tokenizer, mut outliner) = (Tokenizer::default(), Outliner::default());
        // In small pieces, as a stream gives them.
        for piece in text.as_bytes().chunks(7) {
            tokenizer.push(piece, &mut outliner);
        }
        assert!(tokenizer.finish(&mut outliner));
        outliner
            .close(1)
            .members
            .into_iter()
            .map(|member| member.types)
            .collect()
    }

    #[test]
    fn a_long_string_is_named_with_its_bytes() {
        let long = "x".repeat(200_000);
        let said = format!("string e.g. \"{}…\", 200,000 bytes", "x".repeat(EXAMPLE));
        assert_eq!(types(&format!("[{{\"a\":\"{long}\"}}]"))[2..], [said]);
        let said = "string e.g. \"a\", the longest 1,001 bytes ×3".to_owned();
        let mixed = types(&format!("[\"a\",\"b\",\"{}\"]", &long[..1001]));
        assert_eq!(mixed[1..], [said]);
        assert_eq!(
            types(&format!("\"{}\"", "é".repeat(500)))[0],
            format!("string e.g. \"{}…\"", "é".repeat(EXAMPLE / 2))
        );
    }
}
