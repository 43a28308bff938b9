//! Linkers: undefined references and multiple definitions.
//!
//! Written from real runs of GNU ld 2.40 and 2.44 and LLD 14 and 19; gold and Apple's ld from documentation.
//! References to symbols of one library (one namespace, one prefix) are one cause: something is not linked.

use crate::counted::counted;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, is_quotation, leading_number, quoted, stated, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "linker",
    tools: "GNU ld, gold, lld, Apple ld, collect2, MSVC link",
    recognises: "missing symbols grouped by library, duplicate definitions, missing libraries",
    version: "binutils 2.44, LLD 19",
    triggers: &[
        "undefined reference to",
        "multiple definition of",
        "undefined symbol",
        "duplicate symbol",
        "ld returned",
        "ld: cannot find ",
        "cannot find -l",
        "ld: warning: ",
        "ld: NOTE: ",
        ": warning: the `",
        "linker command failed",
        "first defined here",
        ": in function `",
        "ndefined symbols for",
        " LNK2",
        " LNK1",
        "\n>>> ",
        "library not found",
        "ld: library",
        "symbol(s) not found",
    ],
    reader: || Box::<Linker>::default(),
};

/// How linkers say that a name has two definitions; the name follows.
const DUPLICATE: &[&str] = &[
    "multiple definition of `",
    "multiple definition of '",
    "multiple definition of ‘",
    "duplicate symbol: ",
    "duplicate symbol '",
    "duplicate symbol _",
];

/// How they say that a library or a file is not there; its name follows.
const MISSING: &[&str] = &[
    "cannot find -l",
    "ld: cannot find /",
    "ld: cannot find ",
    "library not found for -l",
    "ld: library '",
];

#[derive(Debug, Default)]
struct Linker {
    references: u64,
    /// The missing symbols and how often each is referred to.
    symbols: Vec<(String, u64)>,
    listing: bool,
    /// How many places lld has named that refer to the last of them.
    named: u64,
}

impl Reader for Linker {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if !self.listing && is_quotation(text) {
            return Step::Pass;
        }
        if let Some(symbol) = undefined(text) {
            self.reference(symbol, line, report);
            return Step::Take;
        }
        let twice = text.has("multiple definition of ") || text.has("duplicate symbol");
        if twice && DUPLICATE.iter().any(|mark| names(text, mark)) {
            duplicate(line, report);
            return Step::Take;
        }
        if text.has(": in function `") && !text.has(": error") {
            return Step::Take;
        }
        let said = text.has("ld: ");
        if (said && text.has("ld: warning: ")) || text.has("): warning: the `") {
            report.warn("linker", None, line);
            return Step::Take;
        }
        if said && text.has("ld: NOTE: ") {
            return Step::Take;
        }
        let missing = said || text.has("cannot find -l") || text.has("library not found for -l");
        if missing && MISSING.iter().any(|mark| names(text, mark)) {
            report.fail(Finding::new(Kind::Link, text, line).because(crate::diag::missing_name(text)));
            return Step::Take;
        }
        self.ends(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.sum(report);
    }
}

impl Linker {
    fn reference(&mut self, symbol: &str, line: &Line<'_>, report: &mut Report) {
        self.references += 1;
        self.named = 0;
        match self.symbols.iter().position(|(known, _)| known == symbol) {
            Some(at) => self.symbols[at].1 += 1,
            None if self.symbols.len() < 64 => self.symbols.push((symbol.to_owned(), 1)),
            None => {}
        }
        let title = title(symbol);
        let finding = Finding::new(Kind::Link, title, line)
            .because(Some(library(symbol)))
            .known_as(joined!["symbol ", symbol]);
        let mut finding = finding;
        finding.location = place(line.text);
        finding.subject = Some(symbol.to_owned());
        report.fail(finding);
        if let Some(failure) = report.known(&joined!["symbol ", symbol]) {
            failure.lines.reach(line.number);
        }
    }

    fn ends(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("Undefined symbols for architecture") || text.starts_with("ld: Undefined symbols")
        {
            self.listing = true;
            return Step::Hold;
        }
        if self.listing && text.starts_with("  ") {
            if let Some(symbol) = quoted(text).filter(|_| text.trim_end().ends_with(", referenced from:")) {
                self.reference(symbol, line, report);
            }
            return Step::Hold;
        }
        let cascade = [
            "ld returned",
            "linker command failed",
            "symbol(s) not found",
            "LNK1120",
        ]
        .iter()
        .any(|words| states(text, words));
        if cascade {
            self.listing = false;
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        let Some(told) = text.strip_prefix(">>> ") else {
            return Step::Pass;
        };
        self.referenced(told, report);
        Step::Take
    }

    /// lld's `>>> referenced by gauge.c:12`.
    fn referenced(&mut self, told: &str, report: &mut Report) {
        // lld names three places, and how many more there are.
        if let Some((more, rest)) = told.strip_prefix("referenced ").and_then(leading_number) {
            if let Some((_, count)) = self.symbols.last_mut().filter(|_| rest.starts_with(" more time")) {
                self.references += more;
                *count += more;
            }
            return;
        }
        let Some((by, (symbol, count))) = told.strip_prefix("referenced by ").zip(self.symbols.last_mut())
        else {
            return;
        };
        self.named += 1;
        if self.named > 1 {
            self.references += 1;
            *count += 1;
            return;
        }
        let mine = title(symbol);
        let Some(failure) = report.known(&joined!["symbol ", *symbol]) else {
            return;
        };
        let related = failure.related.iter_mut();
        let told = related.map(|related| (&related.title, &mut related.location));
        let own = (&failure.title, &mut failure.location);
        if let Some((_, location)) = std::iter::once(own)
            .chain(told)
            .find(|(title, _)| **title == mine)
        {
            *location = location.take().or_else(|| place(&joined![by, ":"]));
        }
    }

    /// How many references and symbols there were in all.
    fn sum(&mut self, report: &mut Report) {
        for (symbol, count) in self.symbols.iter().filter(|(_, count)| *count > 1) {
            refer(symbol, *count, report);
        }
        self.libraries(report);
        if self.references > 0 {
            let symbols = self.symbols.len() as u64;
            let last = report
                .failures
                .iter()
                .rev()
                .find(|failure| failure.kind == Kind::Link)
                .map_or(1, |failure| failure.lines.last);
            let line = Line {
                number: last,
                text: "",
            };
            report.set_tally(
                "linker",
                &[("missing symbols", symbols), ("references", self.references)],
                &line,
            );
        }
    }
}

impl Linker {
    /// Libraries several of whose symbols are missing: they are not linked.
    fn libraries(&self, report: &mut Report) {
        let mut seen: Vec<String> = Vec::new();
        for (symbol, _) in &self.symbols {
            let library = library(symbol);
            let count = self
                .symbols
                .iter()
                .filter(|(each, _)| self::library(each) == library)
                .count() as u64;
            let Some(name) = library.strip_prefix("library ").filter(|_| count > 1) else {
                continue;
            };
            if seen.iter().any(|each| each == name) {
                continue;
            }
            if let Some(line) = report
                .known(&joined!["symbol ", symbol])
                .map(|failure| failure.lines.first)
            {
                let text = joined![
                    counted(count, "missing symbols"),
                    " of ",
                    name,
                    ": a library that is not linked"
                ];
                report.note(text, line);
            }
            seen.push(name.to_owned());
        }
    }
}

fn title(symbol: &str) -> String {
    joined!["undefined reference to `", symbol, "'"]
}

/// Says in the symbol's title how often it is referred to.
fn refer(symbol: &str, count: u64, report: &mut Report) {
    let (title, told) = (title(symbol), counted(count, "references"));
    let Some(failure) = report.known(&joined!["symbol ", symbol]) else {
        return;
    };
    let related = failure.related.iter_mut().map(|related| &mut related.title);
    if let Some(mine) = std::iter::once(&mut failure.title)
        .chain(related)
        .find(|mine| **mine == title)
    {
        *mine = joined![title, " (", told, ")"];
    }
}

/// The symbol that is missing.
fn undefined(text: &str) -> Option<&str> {
    [
        "undefined reference to ",
        "undefined symbol: ",
        "unresolved external symbol ",
    ]
    .iter()
    .find_map(|mark| stated(text, mark))
    .map(symbol)
    .filter(|symbol| is_symbol(symbol))
}

/// A name, and not the end of a quotation of the linker's words.
fn is_symbol(text: &str) -> bool {
    text.starts_with(|first: char| {
        first.is_ascii_alphanumeric() || matches!(first, '_' | '.' | '$' | '~' | '?')
    })
}

/// Whether the text after the mark names something.
fn names(text: &str, mark: &str) -> bool {
    stated(text, mark).is_some_and(is_symbol)
}

fn symbol(rest: &str) -> &str {
    match rest.as_bytes().first() {
        Some(b'`' | b'\'' | b'"') => quoted(rest).unwrap_or(rest),
        _ => rest.before(" referenced in").trim(),
    }
}

/// Symbols of one namespace, or of one C prefix, come from one library.
fn library(symbol: &str) -> String {
    let name = symbol
        .split('(')
        .next()
        .unwrap_or(symbol)
        .rsplit(' ')
        .next()
        .unwrap_or(symbol);
    if let Some((space, _)) = name.part_at("::") {
        return joined!["library ", space, "::"];
    }
    match name.trim_start_matches('_').halves(b'_') {
        Some((prefix, _)) if prefix.len() >= 2 => joined!["library ", prefix, "_"],
        _ => joined!["symbol ", name],
    }
}

/// The source or object that misses it: `main.cpp:(.text+0x16)` and `dive.cpp:12`.
fn place(text: &str) -> Option<Location> {
    let text = text.part_at("ld: ").map_or(text, |(_, rest)| rest);
    let (path, rest) = text.halves(b':')?;
    if !path.contains('.') || path.contains(' ') {
        return None;
    }
    let line = crate::line::leading_number(rest).map(|(line, _)| line);
    Some(Location {
        path: path.to_owned(),
        line,
        column: None,
    })
}

fn duplicate(line: &Line<'_>, report: &mut Report) {
    let text = line
        .text
        .part_at("ld: ")
        .map_or(line.text, |(_, rest)| rest)
        .past("error: ");
    let mark = if text.has("multiple definition of") {
        "multiple definition of"
    } else {
        "duplicate symbol"
    };
    let after = text
        .part_at(mark)
        .map_or("", |(_, rest)| rest.trim_start_matches([':', ' ']));
    let name = quoted(after).unwrap_or(after);
    let mut finding = Finding::new(Kind::Link, text, line)
        .because(Some(joined!["duplicate ", name]))
        .of(name);
    finding.location = place(line.text);
    report.fail(finding);
}
