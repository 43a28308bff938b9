//! `wisp show ID`: a kept output, whole or filtered, also after its conversation is over.

use std::process::ExitCode;

use wisp_host::Env;
use wisp_output::Kept;
use wisp_output::recall::{Filter as Lines, Start, Stored, recall};
use wisp_output::store::Shelf;
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
    match lines(&args.filter)? {
        Some(filter) => filtered(&kept, &filter, &mut screen)?,
        None => whole(args, &shelf, &kept, &mut screen)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn whole(args: &Show, shelf: &Shelf, kept: &Kept, screen: &mut Screen) -> anyhow::Result<()> {
    let path = wisp_agent::views::path_of(shelf, &kept.record.id);
    if args.raw {
        let mut from = wisp_output::content::Stretch::all(&kept.content);
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
    let stored = Stored {
        content: &kept.content,
        lines: kept.record.lines,
        name: &name,
    };
    let text = recall(stored, filter, Start::default(), ALL)?;
    let shown = Shown {
        path: None,
        text: format!("{text}\n"),
    };
    let env = screen.env.clone();
    pager::show(&shown, &env, &mut screen.out)
}

/// The filter of the arguments; at most one may be given.
fn lines(filter: &Filter) -> anyhow::Result<Option<Lines>> {
    let range = filter.lines.as_deref().map(range).transpose()?;
    let given = [
        filter.matching.clone().map(Lines::Matching),
        range,
        filter.head.map(Lines::Head),
        filter.tail.map(Lines::Tail),
    ];
    let mut given = given.into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        return Err(Usage("give one of --matching, --lines, --head and --tail".to_owned()).into());
    }
    Ok(first)
}

fn range(text: &str) -> anyhow::Result<Lines> {
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
        Ok(Lines::Lines(from, to))
    }
}
