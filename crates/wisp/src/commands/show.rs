//! `wisp show ID`: a kept output, whole or filtered, also after its conversation is over.

use std::collections::VecDeque;
use std::process::ExitCode;

use wisp_host::Env;
use wisp_output::Kept;
use wisp_output::amount::{counted, grouped};
use wisp_output::clean::{CleanLines, View};
use wisp_output::content::Stretch;
use wisp_output::recall::{Filter as Lines, Matcher, Start, Stored, recall};
use wisp_output::store::Shelf;
use wisp_output::streams;
use wisp_term::{Role, safe};

use super::paths;
use crate::args::{Filter, Show};
use crate::exit::Usage;
use crate::pager::{self, Shown};
use crate::screen::Screen;

/// The most bytes a filtered view prints; the store's ceiling is below it.
const ALL: usize = 1 << 30;

/// Prints the output: raw bytes into a pipe or with `--raw`, through the pager on a terminal.
pub fn run(args: &Show, env: Env) -> anyhow::Result<ExitCode> {
    let shelf = Shelf::new(paths(&env)?.home());
    let kept = shelf.open(&args.id)?;
    let mut screen = Screen::new(env, "auto");
    screen
        .err
        .painted_line(Role::HeldBack, &safe::safe(&wisp_agent::views::about(&kept)))?;
    if let Some(name) = args.stream() {
        return stream(&kept, name, &mut screen);
    }
    match lines(&args.filter)? {
        Wanted::All => whole(args, &shelf, &kept, &mut screen)?,
        Wanted::One(filter) => filtered(&kept, &filter, &mut screen)?,
        Wanted::Several(several) => show_text(several.text(&kept)?, &mut screen)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Show {
    /// The stream that is asked for alone.
    fn stream(&self) -> Option<&'static str> {
        match (self.stdout, self.stderr) {
            (true, _) => Some("stdout"),
            (_, true) => Some("stderr"),
            _ => None,
        }
    }
}

/// Prints one stream's bytes as they were stored. A command that wrote none has an empty one.
fn stream(kept: &Kept, name: &str, screen: &mut Screen) -> anyhow::Result<ExitCode> {
    let sections = &kept.record.sections;
    if sections.iter().all(|section| section.name.is_none()) {
        let id = kept.record.shown_id();
        anyhow::bail!("output {id} is no command's: it has no streams; wisp show {id} prints it");
    }
    if let Some(section) = sections
        .iter()
        .find(|section| section.name.as_deref() == Some(name))
    {
        let mut from = Stretch::new(&kept.content, section.from, section.end());
        pager::copy(&mut from, &mut screen.out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn whole(args: &Show, shelf: &Shelf, kept: &Kept, screen: &mut Screen) -> anyhow::Result<()> {
    let path = wisp_agent::views::path_of(shelf, &kept.record.id);
    if args.raw {
        let mut from = Stretch::all(&kept.content);
        return pager::copy(&mut from, &mut screen.out);
    }
    let env = screen.env.clone();
    pager::show(
        &Shown {
            path,
            text: String::new(),
        },
        &env,
        &mut screen.out,
    )
}

fn filtered(kept: &Kept, filter: &Lines, screen: &mut Screen) -> anyhow::Result<()> {
    let name = format!("output {}", kept.record.shown_id());
    let streams = kept.streams();
    let stored = Stored {
        content: &streams,
        lines: kept.record.lines,
        sections: &kept.record.sections,
        exit: kept.record.exit.as_deref(),
        name: &name,
    };
    show_text(recall(stored, filter, Start::default(), ALL)? + "\n", screen)
}

fn show_text(text: String, screen: &mut Screen) -> anyhow::Result<()> {
    let env = screen.env.clone();
    pager::show(&Shown { path: None, text }, &env, &mut screen.out)
}

/// Which lines the arguments ask for.
enum Wanted {
    All,
    One(Lines),
    Several(Several),
}

/// Filters that all hold: lines of a range that match, and of those the first or the last.
struct Several {
    range: (u64, u64),
    matcher: Option<Matcher>,
    head: Option<usize>,
    tail: Option<usize>,
}

impl Several {
    /// The lines that are left, each with its number in the whole, and how many there are.
    fn text(&self, kept: &Kept) -> anyhow::Result<String> {
        let (streams, sections) = (kept.streams(), &kept.record.sections);
        let mut lines = CleanLines::new(Stretch::all(&streams), View::Plain);
        let mut rows = VecDeque::new();
        let mut found = 0_u64;
        while let Some(line) = lines.next_line()? {
            if line.number > self.range.1 {
                break;
            }
            if !self.holds(line.number, &line.text) {
                continue;
            }
            found += 1;
            if self.head.is_none_or(|head| rows.len() < head) {
                rows.push_back(format!(
                    "{}: {}\n",
                    streams::label(sections, line.number),
                    line.text
                ));
            }
            if self.tail.is_some_and(|tail| rows.len() > tail) {
                rows.pop_front();
            }
        }
        let shown = rows.len();
        let rows: String = rows.into_iter().collect();
        Ok(format!(
            "{rows}[{} of {} that pass the filters]\n",
            grouped(shown as u64),
            counted(found, "line")
        ))
    }

    fn holds(&self, number: u64, text: &str) -> bool {
        number >= self.range.0 && self.matcher.as_ref().is_none_or(|m| m.find(text).is_some())
    }
}

/// The filter of the arguments. One is shown as a model is shown it; several hold together.
fn lines(filter: &Filter) -> anyhow::Result<Wanted> {
    if filter.head.is_some() && filter.tail.is_some() {
        return Err(Usage("give --head or --tail, not both".to_owned()).into());
    }
    let range = filter.lines.as_deref().map(range).transpose()?;
    let given = [
        filter.matching.clone().map(Lines::Matching),
        range.map(|(from, to)| Lines::Lines(from, to)),
        filter.head.map(Lines::Head),
        filter.tail.map(Lines::Tail),
    ];
    let mut given: Vec<Lines> = given.into_iter().flatten().collect();
    if given.len() > 1 {
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        return Ok(Wanted::Several(Several {
            range: range.unwrap_or((1, u64::MAX)),
            matcher: filter.matching.as_deref().map(Matcher::new).transpose()?,
            head: filter.head.map(count),
            tail: filter.tail.map(count),
        }));
    }
    Ok(given.pop().map_or(Wanted::All, Wanted::One))
}

fn range(text: &str) -> anyhow::Result<(u64, u64)> {
    let wrong = || {
        Usage(format!(
            "--lines wants two line numbers such as 40-80, not {text}"
        ))
    };
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let (from, to) = (
        from.trim().parse().map_err(|_| wrong())?,
        to.trim().parse().map_err(|_| wrong())?,
    );
    if from == 0 || to < from {
        Err(wrong().into())
    } else {
        Ok((from, to))
    }
}
