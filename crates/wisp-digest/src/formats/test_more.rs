//! What Perl's `Test::More` says of a failed test and of a test file, in comments of TAP.
//!
//! Written from real runs of `Test::More` 1.302 under prove. With `prove -v` the comments stand beside the points they
//! belong to; without it they are all there is.

use crate::digest::{Kind, Location, Quote};
use crate::find::Find;
use crate::line::{Line, leading_number};
use crate::report::{Finding, Report};

/// The name in `#   Failed test 'closes'`, empty for a test without one; none for another line.
pub(super) fn failed_test(body: &str) -> Option<&str> {
    let rest = body.strip_prefix("#   Failed test")?;
    let name = rest.strip_prefix(" '").and_then(|rest| rest.strip_suffix('\''));
    name.or_else(|| (rest.is_empty() || rest.starts_with(" at ")).then_some(""))
}

/// `#   at t/ledger.t line 12.`, also behind `#   Failed test`.
pub(super) fn place(body: &str) -> Option<Location> {
    let (start, rest) = body.strip_prefix('#')?.part_at(" at ")?;
    let own = matches!(start.trim(), "" | "Failed test");
    own.then(|| place_at_end(rest))?
}

/// `t/ledger.t line 12.`, at the end of what perl dies of.
fn place_at_end(text: &str) -> Option<Location> {
    let (before, row) = text.trim_end_matches('.').last_part_at(" line ")?;
    let row = row.split(',').next().unwrap_or(row);
    let path = before.last_part_at(" at ").map_or(before, |(_, path)| path);
    let (line, _) = leading_number(row).filter(|(_, rest)| rest.is_empty())?;
    (!path.is_empty() && !path.contains(' ')).then(|| Location {
        path: path.to_owned(),
        line: Some(line),
        column: None,
    })
}

/// `# Looks like your test exited with 255 just after 1.`: what perl died of stands above it.
pub(super) fn died(line: &Line<'_>, report: &mut Report) {
    let above = report.recent.before(line.number);
    let mut said: Vec<&Quote> = above
        .iter()
        .rev()
        .take_while(|quote| is_said(&quote.text))
        .collect();
    said.reverse();
    let stopped = said.iter().position(|quote| aborted(&quote.text));
    let placed = said
        .iter()
        .rposition(|quote| !aborted(&quote.text) && place_at_end(&quote.text).is_some());
    let last = said.len().checked_sub(1);
    let root = stopped.and_then(|at| at.checked_sub(1)).or(placed).or(last);
    let Some(root) = root.map(|at| said[at]) else {
        report.fail(Finding::new(Kind::Test, line.body().past("# "), line));
        return;
    };
    let mut finding = Finding::new(Kind::Exception, &root.text, &as_line(root));
    // A long message is quoted without its end; perl says the place again when it gives up.
    let again = stopped.and_then(|at| place_at_end(&said[at].text));
    finding.location = place_at_end(&root.text).or(again);
    for quote in &said {
        report.unknowns.forget(quote.line);
        if quote.line != root.line {
            finding.quote(&as_line(quote));
        }
    }
    finding.quote(line);
    report.fail(finding);
    for quote in said.iter().filter(|quote| aborted(&quote.text)) {
        report.cascade(&as_line(quote));
    }
    report.cascade(line);
}

fn as_line(quote: &Quote) -> Line<'_> {
    Line {
        number: quote.line,
        text: &quote.text,
    }
}

/// Perl's own report that it could not go on.
fn aborted(text: &str) -> bool {
    text.starts_with("BEGIN failed--compilation aborted") || text.starts_with("Compilation failed in require")
}

/// Not a comment of TAP, a point, or prove's lines about a file.
fn is_said(text: &str) -> bool {
    let body = text.trim_start();
    let point = body.strip_prefix("not ").unwrap_or(body).starts_with("ok ");
    !point
        && !body.starts_with('#')
        && !body.starts_with("1..")
        && !text.has(".. ")
        && !text.ends_with("subtests")
}
