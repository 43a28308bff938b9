//! `search_text`: the lines of files that a regular expression matches.

use std::fmt::Write as _;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use serde_json::Value;
use wisp_output::clean::word_start;

use super::find_files::Glob;
use super::walk::{self, Scope, Seen};
use super::{IGNORED, beside, counted, files, left_out, scope};
use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

arguments! {
    /// What `search_text` is called with.
    pub struct SearchTextArguments {
        pattern: String = "pattern", "A regular expression; (?i) for any case";
        path: Option<String> = "path", "The folder or file";
        glob: Option<String> = "glob", "Which files: *.rs";
    }
}

/// The most lines that are shown.
const MOST: u64 = 5_000;
/// The most bytes shown of one line.
const LINE: usize = 300;
/// The most memory for one line of a file; a file with a longer one is not searched.
const HEAP: usize = 16 << 20;

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct SearchText;

impl Tool for SearchText {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "search_text".into(),
            description: "Search the text of files, in all folders below.".into(),
            parameters: SearchTextArguments::PARAMETERS.into(),
            limits: "at most 5,000 lines, 300 bytes of each, and 20 s; binary files, files that may hold credentials, .git and \
                     what .gitignore names are left out; links are not followed; a result longer than the tool-output \
                     budget is kept and can be paged"
                .to_owned(),
            example: "Where is the function parse_line used?".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            match SearchTextArguments::from_value(arguments) {
                Ok(arguments) => search(arguments, call).await.unwrap_or_else(|refusal| refusal),
                Err(e) => Returned::error(e),
            }
        })
    }
}

async fn search(arguments: SearchTextArguments, call: &mut Call<'_>) -> Result<Returned, Returned> {
    if arguments.pattern.is_empty() {
        return Err(Returned::error("pattern is empty: give what to search for"));
    }
    let scope = scope(arguments.path.as_deref(), call).await?;
    let named = arguments.glob.as_deref().map(str::trim);
    let glob = named
        .filter(|glob| !glob.is_empty())
        .map(|glob| Glob::of(glob, &scope.root))
        .transpose()
        .map_err(Returned::error)?;
    let (matcher, literal) = matcher(&arguments.pattern).map_err(Returned::error)?;
    call.scene
        .person
        .doing(&format!("searching for {}", arguments.pattern));
    beside(move || {
        let mut search = Search::new(scope, glob, matcher);
        let seen = search.all_files();
        search.told(&arguments.pattern, literal, &seen)
    })
    .await
}

/// What finds the pattern, and whether it was taken literally because it is no regular expression. A pattern for several
/// lines is an error.
fn matcher(pattern: &str) -> Result<(RegexMatcher, bool), String> {
    if pattern.contains('\n') {
        return Err("pattern has several lines: search for one of them".to_owned());
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n'));
    if let Ok(matcher) = builder.build(pattern) {
        return Ok((matcher, false));
    }
    builder.fixed_strings(true);
    let literal = builder.build(pattern);
    literal
        .map(|matcher| (matcher, true))
        .map_err(|why| format!("pattern cannot be searched for: {why}; search for a part of it"))
}

/// A search under way.
struct Search {
    scope: Scope,
    glob: Option<Glob>,
    matcher: RegexMatcher,
    searcher: Searcher,
    text: String,
    lines: u64,
    in_files: u64,
    looked: u64,
}

impl Search {
    fn new(scope: Scope, glob: Option<Glob>, matcher: RegexMatcher) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .heap_limit(Some(HEAP))
            .build();
        Self {
            scope,
            glob,
            matcher,
            searcher,
            text: String::new(),
            lines: 0,
            in_files: 0,
            looked: 0,
        }
    }

    fn all_files(&mut self) -> Seen {
        // The walk borrows its scope while the files are searched.
        let empty = Scope::of(self.scope.under.clone());
        let scope = std::mem::replace(&mut self.scope, empty);
        let seen = scope.walk(|entry, seen| {
            if !walk::is_file(entry) {
                return true;
            }
            let path = entry.path();
            let relative = path.strip_prefix(&scope.root).unwrap_or(path);
            let named = if relative.as_os_str().is_empty() {
                Path::new(entry.file_name())
            } else {
                relative
            };
            if self.glob.as_ref().is_some_and(|glob| !glob.matches(named)) {
                return true;
            }
            // A file that was named itself was asked about.
            if entry.depth() > 0 && walk::holds_credentials(path) {
                seen.credentials.push(scope.told(path));
                return true;
            }
            self.looked += 1;
            if self.file(path, &scope.told(path)).is_err() {
                seen.unread += 1;
            }
            self.lines <= MOST
        });
        self.scope = scope;
        seen
    }

    fn file(&mut self, path: &Path, told: &str) -> std::io::Result<()> {
        let file = crate::files::read::open(path).map_err(|why| std::io::Error::other(why.to_string()))?;
        let before = self.lines;
        let (text, lines) = (&mut self.text, &mut self.lines);
        let sink = Lossy(|number, line| {
            *lines += 1;
            if *lines <= MOST {
                let _ = writeln!(text, "{told}:{number}: {}", short(line));
            }
            Ok(*lines <= MOST)
        });
        let searched = self.searcher.search_file(&self.matcher, &file, sink);
        self.in_files += u64::from(self.lines > before);
        searched
    }

    fn told(self, pattern: &str, literal: bool, seen: &Seen) -> Returned {
        let as_text = if literal {
            "[pattern is not a regular expression: searched for as it stands]\n"
        } else {
            ""
        };
        let left = left_out(seen);
        Returned::text(if self.lines == 0 {
            format!(
                "{as_text}no line matches {pattern} in {}{IGNORED}{left}",
                files(self.looked)
            )
        } else if self.lines > MOST {
            let shown = wisp_output::amount::grouped(MOST);
            format!(
                "{as_text}{}[more than {shown} lines match: give a narrower pattern, path or glob]{left}",
                self.text
            )
        } else {
            let (lines, files) = (counted(self.lines, "line"), files(self.in_files));
            format!("{as_text}{}[{lines} in {files}]{left}", self.text)
        })
    }
}

/// A line without its end, cut to what is shown of one.
fn short(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    if line.len() <= LINE {
        return line.to_owned();
    }
    let fits = (0..=LINE)
        .rev()
        .find(|at| line.is_char_boundary(*at))
        .unwrap_or(0);
    let fits = word_start(line.as_bytes(), fits);
    format!("{}…", &line[..fits])
}
