//! `wisp threads`: the conversations that are saved, listed, printed, deleted.

use std::process::ExitCode;

use serde_json::json;
use wisp_agent::saved::{Folder, Listed, age, search, text};
use wisp_host::{Clock, Env, SystemClock};
use wisp_output::amount::{counted, size};
use wisp_term::{Role, safe, width};

use super::paths;
use crate::args::{Threads, ThreadsSub};
use crate::exit::Usage;
use crate::pager::{self, Shown};
use crate::screen::Screen;

/// Characters of the first message in the list.
const PROMPT_CHARS: usize = 80;

/// Lists, prints or deletes.
pub fn run(args: Threads, env: Env) -> anyhow::Result<ExitCode> {
    let folder = Folder::new(paths(&env)?.transcripts());
    let mut screen = Screen::new(env, "auto");
    match args.command.unwrap_or(ThreadsSub::List) {
        ThreadsSub::List => match &args.search {
            Some(words) => search(&folder, words, args.json, &mut screen)?,
            None => list(&folder, args.json, &mut screen)?,
        },
        ThreadsSub::Show { name } => {
            let record = folder.load(&folder.find(&name)?)?.record;
            let shown = Shown {
                path: None,
                text: text(&record),
            };
            let env = screen.env.clone();
            pager::show(&shown, &env, &mut screen.out)?;
        }
        ThreadsSub::Delete { name } => {
            folder.delete(&name)?;
            screen.err.line(&safe::safe(&format!("{name} is deleted")))?;
        }
    }
    screen.out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// One saved conversation with what its files say.
struct Row {
    listed: Listed,
    turns: Result<u32, String>,
    first: String,
}

impl Row {
    fn of(folder: &Folder, listed: Listed) -> Self {
        let read = folder.load(&listed.name).map(|loaded| {
            let turn = loaded.record.turn(1);
            let first = turn.and_then(|turn| loaded.record.entry(turn.prompt));
            let first = first.map_or("", |entry| entry.text());
            let line = first.lines().next().unwrap_or_default();
            (
                loaded.record.turn_count(),
                line.chars().take(PROMPT_CHARS).collect::<String>(),
            )
        });
        match read {
            Ok((turns, first)) => Self {
                listed,
                turns: Ok(turns),
                first,
            },
            Err(error) => Self {
                listed,
                turns: Err(error.to_string()),
                first: String::new(),
            },
        }
    }

    fn saved(&self) -> jiff::Timestamp {
        jiff::Timestamp::try_from(self.listed.saved).unwrap_or_default()
    }

    fn as_json(&self) -> serde_json::Value {
        json!({
            "name": self.listed.name, "named": self.listed.named, "saved": self.saved().to_string(),
            "bytes": self.listed.bytes, "turns": self.turns.as_ref().ok(), "first": self.first,
            "error": self.turns.as_ref().err(),
        })
    }

    fn for_a_person(&self) -> String {
        let turns = match &self.turns {
            Ok(turns) => counted((*turns).into(), "turn"),
            Err(_) => "damaged".to_owned(),
        };
        let about = self.turns.as_ref().err().unwrap_or(&self.first);
        format!(
            "{:<26} {:>8} {turns:>10} {:>9}  {}",
            self.listed.name,
            self.age(),
            size(self.listed.bytes),
            safe::safe(about)
        )
    }

    fn tabs(&self) -> String {
        let turns = self.turns.as_ref().map_or_else(|_| String::new(), u32::to_string);
        let about = self.turns.as_ref().err().unwrap_or(&self.first);
        let fields = [
            self.listed.name.clone(),
            self.saved().to_string(),
            turns,
            self.listed.bytes.to_string(),
            about.replace(['\t', '\n'], " "),
        ];
        fields.join("\t")
    }

    /// How long ago it was saved, in its largest unit.
    fn age(&self) -> String {
        age(SystemClock.now().as_second() - self.saved().as_second())
    }
}

/// The conversations that have the words somewhere, with the places.
fn search(folder: &Folder, query: &str, json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    let words = search::words(query);
    if words.is_empty() {
        return Err(Usage("--search needs a word to look for".to_owned()).into());
    }
    let (mut found, mut unread) = (Vec::new(), 0_u64);
    for listed in folder.list()? {
        match folder.load(&listed.name) {
            Ok(loaded) => found.extend(
                search::search(&loaded.record, &words)
                    .into_iter()
                    .map(|hit| (listed.name.clone(), hit)),
            ),
            Err(_) => unread += 1,
        }
    }
    if json {
        let row =
            |(name, hit): &(String, search::Hit)| json!({"name": name, "turn": hit.turn, "line": hit.line});
        let rows: Vec<_> = found.iter().map(row).collect();
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&rows)?))?;
    } else {
        for (name, hit) in &found {
            let line = safe::safe(&hit.line.replace('\t', " "));
            let row = if screen.out.surface().terminal {
                let row = format!("{name:<26} turn {:<4} {line}", hit.turn);
                width::truncate(&row, screen.out.width()).into_owned()
            } else {
                format!("{name}\t{}\t{line}", hit.turn)
            };
            screen.out.line(&row)?;
        }
        if found.is_empty() {
            let text = format!("no conversation has {}", safe::safe(query));
            screen.err.painted_line(Role::Quiet, &text)?;
        }
    }
    if unread > 0 {
        let text = format!(
            "{} could not be read; wisp threads names them",
            counted(unread, "conversation")
        );
        screen.err.painted_line(Role::Warn, &text)?;
    }
    Ok(())
}

fn list(folder: &Folder, json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    let rows: Vec<Row> = folder
        .list()?
        .into_iter()
        .map(|listed| Row::of(folder, listed))
        .collect();
    if json {
        let rows: Vec<_> = rows.iter().map(Row::as_json).collect();
        screen
            .out
            .line(&safe::json(&serde_json::to_string_pretty(&rows)?))?;
        return Ok(());
    }
    if rows.is_empty() {
        screen.err.painted_line(
            Role::Quiet,
            "no conversation is saved yet: wisp chat --save NAME saves one",
        )?;
    }
    for row in &rows {
        let line = if screen.out.surface().terminal {
            width::truncate(&row.for_a_person(), screen.out.width()).into_owned()
        } else {
            row.tabs()
        };
        screen.out.line(&line)?;
    }
    Ok(())
}
