//! gcc, clang and compilers that write as they do: `PATH:LINE:COL: error: message`.
//!
//! Written from real runs of gcc 12 and 14 and clang 14 and 19 (English, and the severities of seven other
//! languages from their catalogues). Notes belong to the diagnostic before them; "required from here" names the
//! place to look at.

use super::rustc;
use crate::diag::{self, Level};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::line::{Line, Place, has_extension, place_at_start};
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};
use crate::rest::Rest;

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "gcc/clang",
    tools: "gcc, g++, clang, gfortran, nvcc, and tools that write path:line:column: error:",
    recognises: "errors, fatal errors and warnings by flag; notes and source lines belong to them; the error limit",
    version: "gcc 14, clang 19",
    triggers: &[
        "rror:",
        "arning:",
        "note:",
        "required from",
        "In function",
        "In file included",
        "In instantiation",
        "compilation terminated",
        " generated.",
        "too many errors",
        "being treated as errors",
        "Fehler:",
        "Warnung:",
        "erreur",
        "attention :",
        "avertissement",
        "ошибка:",
        "错误：",
        "警告",
        "erro:",
        "aviso:",
        "エラー:",
        "In member function",
        "At global scope",
        " -o ",
        " -c ",
    ],
    reader: || Box::<CFamily>::default(),
};

/// Extensions whose compilers have readers of their own.
const OTHERS: &[&str] = &[
    "rs", "go", "py", "swift", "kt", "kts", "hs", "lhs", "java", "ts", "tsx", "js", "ex", "exs", "rb",
    "scala", "tf",
];

/// What the compilers write before a diagnostic to say where it is.
const AROUND: &[&str] = &[
    ": In function",
    ": In member function",
    ": In instantiation of",
    ": At global scope",
    ": In constructor",
    ": In static member",
];

#[derive(Debug, Default)]
struct CFamily {
    open: Option<Finding>,
    /// The last `required from here`: where a template was used.
    used_at: Option<Location>,
    /// The cause of the last error, where that is the use of a library.
    used: Option<String>,
    /// Lines of source that may still follow a clang diagnostic.
    source: u32,
    piped: bool,
    /// Whether they are a note's: they explain the diagnostic and are none of its own lines.
    noted: bool,
}

impl Reader for CFamily {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(found) = diag::placed(line.text) {
            if !has_extension(found.0.path, OTHERS) {
                return self.diagnostic(found, line, report);
            }
            if has_extension(found.0.path, &["rs"]) {
                return Step::Give(rustc::FORMAT.name);
            }
        }
        if let Some(step) = self.words(line, report) {
            return step;
        }
        let within = self.source > 0 && (is_progress(line.text) || is_command(line.text));
        if within {
            // Another job of a parallel build: the block may go on after it.
            return Step::Lean;
        }
        if is_command(line.text) {
            self.close(report);
            return Step::Take;
        }
        if self.source > 0 && self.is_source(line) {
            return Step::Lean;
        }
        self.close(report);
        self.source = 0;
        Step::Pass
    }

    /// A diagnostic with a column in a file of the languages these compilers have to themselves.
    fn own(&mut self, line: &Line<'_>, _: Next<'_>, report: &mut Report) -> Option<Step> {
        let found = diag::placed(line.text)?;
        let own = found.0.column.is_some() && is_own(found.0.path) && !line.text.ends_with(FORMATTERS);
        own.then(|| self.diagnostic(found, line, report))
    }

    fn passes_bare(&self) -> bool {
        self.open.is_none()
    }

    /// After a warning bare lines are only counted.
    fn pass_bare(&mut self, rest: &mut Rest<'_>) -> bool {
        let mut leans = true;
        rest.read_bare_while(|line| {
            let bare = is_bare(line.text);
            if bare && !is_progress(line.text) {
                leans = self.source > 0 && self.is_source(line);
            }
            bare && leans
        });
        if !leans {
            self.source = 0;
        }
        leans
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// Whether a line in which no literal stands is none that the compilers write around diagnostics, nor a command or a
/// diagnostic with a severity that calls for nobody. What begins with a blank is neither of these.
fn is_bare(text: &str) -> bool {
    let bytes = text.as_bytes();
    let indented = bytes.first() == Some(&b' ');
    (memchr::memchr(b':', bytes).is_none() || !is_around(text))
        && (bytes.get(FROM.len() - 1) != Some(&b'm') || !text.starts_with(FROM))
        && (indented || (!is_command(text) && diag::placed(text).is_none()))
}

/// How the lines go on that begin `In file included from`.
const FROM: &str = "                 from";

/// Whether a number, if any, and a bar begin the text.
fn is_piped(body: &str) -> bool {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    match body.as_bytes().get(digits) {
        Some(b'|') => true,
        Some(0x21..=0x7E) | None => false,
        Some(_) => body[digits..].trim_start().starts_with('|'),
    }
}

/// Whether a line below the source marks a place in it.
fn is_caret(body: &str) -> bool {
    !body.is_empty() && body.bytes().all(|byte| b"^~ |".contains(&byte))
}

fn is_around(text: &str) -> bool {
    text.has(": ") && AROUND.iter().any(|words| text.has(words))
}

/// What clang-format writes at the end of a line in the compilers' form.
const FORMATTERS: &str = "[-Wclang-format-violations]";

/// Whether it is a file of C, C++ or Objective-C.
fn is_own(path: &str) -> bool {
    let path = path.as_bytes();
    let end = path.len()
        - path
            .iter()
            .rev()
            .take(4)
            .position(|byte| *byte == b'.')
            .unwrap_or(0);
    matches!(
        &path[end..],
        b"c" | b"h" | b"cc" | b"cpp" | b"cxx" | b"hh" | b"hpp" | b"m" | b"mm"
    )
}

impl CFamily {
    fn diagnostic(
        &mut self,
        (place, level, message): (Place<'_>, Level, &str),
        line: &Line<'_>,
        report: &mut Report,
    ) -> Step {
        self.source = 4;
        self.piped = false;
        self.noted = level == Level::Note;
        if self.noted {
            if let Some(open) = &mut self.open {
                blame(open, place, message);
                open.quote(line);
            }
            return Step::Lean;
        }
        self.close(report);
        let used_at = self.used_at.take();
        if level == Level::Warning {
            let kind = diag::check_at_end(message).unwrap_or("compiler");
            report.warn_at(kind, Some(place), line);
            return Step::Lean;
        }
        if report.is_full() {
            let place = used_at.as_ref().map_or(place, Place::of);
            report.count_only(message.trim(), place, line.number);
            return Step::Lean;
        }
        let used = used_at.as_ref().filter(|_| is_library(place.path));
        let cause = used.map(|used| format!("{USED}{used}"));
        let finding =
            Finding::new(Kind::Compile, message, line).because(cause.or_else(|| diag::missing_name(message)));
        self.open = Some(finding.at(used_at.unwrap_or_else(|| place.location())));
        Step::Lean
    }

    /// Lines the compilers write around diagnostics.
    fn words(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if text.has("required from") {
            if text.ends_with("required from here") {
                self.used_at = place_at_start(text).map(|(location, _)| location);
            }
            return Some(Step::Take);
        }
        if text.ends_with("too many errors emitted, stopping now [-ferror-limit=]") {
            self.close(report);
            report.note(
                "clang stopped at its error limit: the list of errors is incomplete",
                line.number,
            );
            report.cascade(line);
            return Some(Step::Take);
        }
        if is_sum(text) {
            self.close(report);
            self.used = None;
            if line.text != "compilation terminated." && !only_warnings(line.text) {
                report.cascade(line);
            }
            return Some(Step::Take);
        }
        let around = text.starts_with("In file included from") || text.starts_with(FROM) || is_around(text);
        around.then(|| {
            self.close(report);
            Step::Take
        })
    }

    /// gcc's ` 5 | source` and clang's bare source, carets and fix.
    fn is_source(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        let piped = is_piped(body) && body.len() < line.text.len();
        // gcc marks its source with a margin: bare lines after one are no source.
        self.piped |= piped;
        if !piped {
            self.source -= 1;
        }
        let mine = piped || (!line.is_blank() && self.source > 0 && !self.piped) || is_caret(body);
        match &mut self.open {
            Some(open) if mine && self.noted => open.quote(line),
            Some(open) if mine => open.add(line),
            _ => {}
        }
        mine
    }

    fn close(&mut self, report: &mut Report) {
        let Some(mut finding) = self.open.take() else {
            return;
        };
        // clang does not say each time where it came from into the same header.
        let inside = finding
            .location
            .as_ref()
            .is_some_and(|place| is_library(&place.path));
        if inside
            && finding
                .cause
                .as_deref()
                .is_none_or(|cause| !cause.starts_with(USED))
        {
            finding.cause = self.used.clone().or(finding.cause);
        } else {
            self.used = finding.cause.clone().filter(|cause| cause.starts_with(USED));
        }
        report.fail(finding);
    }
}

/// What the cause of errors in a library's header begins with; where it was used follows.
const USED: &str = "used at ";

/// An error inside a library's header is fixed where clang says that the template was used.
fn blame(open: &mut Finding, noted: Place<'_>, message: &str) {
    let used = message.ends_with("requested here") && !is_library(noted.path);
    if let Some(place) = open
        .location
        .as_ref()
        .filter(|place| used && is_library(&place.path))
    {
        let noted = noted.location();
        open.copy = Some(format!("{} {place}", open.title));
        // Whatever a template's body rejects, its use is what is to be fixed.
        open.cause = Some(format!("{USED}{noted}"));
        open.location = Some(noted);
    }
}

fn is_library(path: &str) -> bool {
    path.starts_with("/usr/") || path.has("/include/c++/") || path.has("/Toolchains/")
}

/// A compiler's command, as make and others echo it: the names of its files and flags claim nothing.
fn is_command(text: &str) -> bool {
    let Some((program, arguments)) = text.split_once(' ') else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '-' | '.'));
    let compilers = [
        "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "gfortran", "nvcc",
    ];
    let known = compilers.contains(&name) || name.ends_with("-gcc") || name.ends_with("-g++");
    known && (arguments.starts_with('-') || arguments.has(" -"))
}

/// A line that a build prints for each of its jobs: `[3/6] Building C object x.o`, `[ 50%] Linking …`, `  CC [M]  x.o`,
/// `make[2]: Entering directory …`.
fn is_progress(text: &str) -> bool {
    if let Some((inside, rest)) = text.strip_prefix('[').and_then(|rest| rest.halves(b']')) {
        let counted = inside.bytes().any(|byte| byte.is_ascii_digit())
            && inside.bytes().all(|byte| b"0123456789/% ".contains(&byte));
        return counted && rest.starts_with(' ');
    }
    if text.starts_with("make[") || text.starts_with("make: ") {
        return text.has("ing directory ");
    }
    let mut words = text.split_whitespace().filter(|word| *word != "[M]");
    let (tool, file, rest) = (
        words.next().unwrap_or(""),
        words.next().unwrap_or(""),
        words.next(),
    );
    let named = (2..=8).contains(&tool.len()) && tool.bytes().all(|byte| byte.is_ascii_uppercase());
    named && rest.is_none() && file.contains('.')
}

/// `2 warnings generated.` reports no failure.
fn only_warnings(text: &str) -> bool {
    text.ends_with(" generated.") && !text.has("error")
}

fn is_sum(text: &str) -> bool {
    let counted = text.ends_with(" generated.") && text.starts_with(|first: char| first.is_ascii_digit());
    counted
        || text == "compilation terminated."
        || text.ends_with("warnings being treated as errors")
        || text.ends_with("warning being treated as error")
        || text.starts_with("compilation terminated due to -fmax-errors")
}
