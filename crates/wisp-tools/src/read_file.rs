//! `read_file`: a page of a text file, numbered, within the budget.

use std::path::Path;

use serde_json::Value;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::files::read::{CLOSING, DEFAULT_LIMIT, OPENING, Page, REMARK, Range, ReadError, page};
use crate::tool::{Body, Descriptor, Ending, Returned, Running, Tool};

arguments! {
    /// What `read_file` is called with.
    pub struct ReadFileArguments {
        path: String = "path", "The file";
        offset: Option<i64> = "offset", "First line, from 1 (default 1)";
        limit: Option<i64> = "limit", "Most lines (default 100)";
        column: Option<i64> = "column", "First byte within the first line, from 1, to go on in a very long line";
    }
}

/// The most bytes of the note on a file that was read whole and is longer than a page.
const NOTE: usize = 480;

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct ReadFile;

impl Tool for ReadFile {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "read_file".into(),
            description: "Read lines of a text file, numbered. The last line says how to read on.".into(),
            parameters: ReadFileArguments::PARAMETERS.into(),
            limits: "a page is at most the tool-output budget; a longer file read without offset, limit and column is also \
                     kept as an output; regular UTF-8 files only"
                .to_owned(),
            example: "Read README.md and tell me how to build this.".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            match ReadFileArguments::from_value(arguments) {
                Ok(arguments) => read(&arguments, call).await,
                Err(e) => Returned::error(e),
            }
        })
    }
}

/// A page with a remark, where one is due, above its last line.
fn remarked(path: &Path, range: Range, budget: usize) -> Result<Page, ReadError> {
    let whole = page(path, range, budget)?;
    if whole.remark().is_none() {
        return Ok(whole);
    }
    let mut shorter = page(path, range, budget.saturating_sub(REMARK))?;
    if let Some(remark) = shorter.remark() {
        shorter.closing = format!("{remark}\n{}", shorter.closing);
    }
    Ok(shorter)
}

/// A page with room for the lines around it, of which a budget that is all but nothing still leaves some for the file's.
fn read_within(path: &Path, range: Range, budget: usize, around: usize) -> Result<Page, ReadError> {
    remarked(path, range, budget.saturating_sub(around).max(budget / 8))
}

async fn read(arguments: &ReadFileArguments, call: &mut Call<'_>) -> Returned {
    let path = call.services.path(&arguments.path);
    if arguments.path.is_empty() {
        return Returned::error("path is empty: give the path of a file");
    }
    if let Err(refusal) = call.clear_read(&path).await {
        return refusal;
    }
    let number =
        |given: Option<i64>, default: usize| given.map_or(default, |n| usize::try_from(n).unwrap_or(0));
    let range = Range {
        offset: number(arguments.offset, 1),
        limit: number(arguments.limit, DEFAULT_LIMIT),
        column: number(arguments.column, 1),
    };
    let whole = arguments.offset.is_none() && arguments.limit.is_none() && arguments.column.is_none();
    let around = OPENING + if whole { CLOSING + NOTE } else { CLOSING };
    // Noted first, so that what another program writes while it is read is noticed by an edit.
    call.seen.note(&path);
    let page = read_within(&path, range, call.budget(), around);
    match page.map(|page| page.opened(&path, &arguments.path, range)) {
        Ok(page) if whole && page.rest.is_some() => Returned {
            body: Body::File {
                page: Box::new(page),
                path,
            },
            ending: Ending::Done,
            difference: None,
        },
        Ok(page) => Returned::page(page.opening + &page.lines + &page.closing),
        Err(e) => Returned {
            ending: Ending::Failed("error".to_owned()),
            difference: None,
            ..Returned::error(e)
        },
    }
}
