//! `find_files`: the files whose name or path a glob matches.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use super::walk::{self, Scope, Seen};
use super::{IGNORED, beside, files, left_out, scope};
use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

arguments! {
    /// What `find_files` is called with.
    pub struct FindFilesArguments {
        pattern: String = "pattern", "A glob: *.rs, or src/**/*.rs for a path";
        path: Option<String> = "path", "The folder to look in";
    }
}

/// The most paths that are listed.
const MOST: usize = 10_000;

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct FindFiles;

impl Tool for FindFiles {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "find_files".into(),
            description: "List files by name, in all folders below.".into(),
            parameters: FindFilesArguments::PARAMETERS.into(),
            limits: "at most 10,000 paths and 20 s; .git and what .gitignore names are left out; links are not followed; a list \
                     longer than the tool-output budget is kept and can be paged"
                .to_owned(),
            example: "Which files here are Rust sources?".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            match FindFilesArguments::from_value(arguments) {
                Ok(arguments) => find(arguments, call).await.unwrap_or_else(|refusal| refusal),
                Err(e) => Returned::error(e),
            }
        })
    }
}

async fn find(arguments: FindFilesArguments, call: &mut Call<'_>) -> Result<Returned, Returned> {
    if arguments.pattern.trim().is_empty() {
        return Err(Returned::error("pattern is empty: give a glob such as *.rs"));
    }
    let scope = scope(arguments.path.as_deref(), call).await?;
    if !scope.root.is_dir() {
        let text = "path is a file: give the folder to look in, or read the file with read_file";
        return Err(Returned::error(text));
    }
    let glob = Glob::of(&arguments.pattern, &scope.root).map_err(Returned::error)?;
    call.scene.person.doing(&format!("finding {}", arguments.pattern));
    beside(move || listed(&scope, &glob, &arguments.pattern)).await
}

/// A glob for the name alone, or for the path below the folder.
pub(super) struct Glob {
    matcher: GlobMatcher,
    of_name: bool,
}

impl Glob {
    /// Reads a glob; one without a slash is for the name, whatever folder it is in. Errors name the pattern.
    pub(super) fn of(pattern: &str, root: &Path) -> Result<Self, String> {
        let trimmed = pattern.trim();
        let below = trimmed
            .strip_prefix(&format!("{}/", root.display()))
            .unwrap_or(trimmed);
        let below = below.strip_prefix("./").unwrap_or(below);
        let built = GlobBuilder::new(below.trim_end_matches('/'))
            .literal_separator(true)
            .build();
        let glob = built.map_err(|why| {
            format!(
                "pattern {trimmed:?} is not a glob: {}; * is any name, ** any folders, {{a,b}} one of them",
                why.kind()
            )
        })?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            of_name: !below.trim_end_matches('/').contains('/'),
        })
    }

    /// Whether a path, relative to the folder, matches.
    pub(super) fn matches(&self, relative: &Path) -> bool {
        match relative.file_name() {
            Some(name) if self.of_name => self.matcher.is_match(name),
            _ => self.matcher.is_match(relative),
        }
    }
}

fn listed(scope: &Scope, glob: &Glob, pattern: &str) -> Returned {
    let (mut list, mut count, mut looked) = (String::new(), 0_usize, 0_u64);
    let seen = scope.walk(|entry, _| {
        looked += u64::from(walk::is_file(entry));
        let relative = entry.path().strip_prefix(&scope.root).unwrap_or(entry.path());
        if glob.matches(relative) {
            count += 1;
            if count <= MOST {
                list.push_str(&scope.told(entry.path()));
                list.push_str(if walk::is_folder(entry) { "/\n" } else { "\n" });
            }
        }
        true
    });
    Returned::text(match count {
        0 => nothing(pattern, looked, &seen),
        _ if count > MOST => format!(
            "{list}[{} more: give a narrower pattern or path]{}",
            wisp_output::amount::grouped((count - MOST) as u64),
            left_out(&seen)
        ),
        _ => format!("{}{}", list.trim_end(), left_out(&seen)),
    })
}

fn nothing(pattern: &str, looked: u64, seen: &Seen) -> String {
    format!(
        "no name matches {pattern} among {}{IGNORED}{}",
        files(looked),
        left_out(seen)
    )
}
