//! A face on a stage: inputs at moments that the test chooses, and the screen as text.

#![allow(dead_code, reason = "each test binary uses a part of the stage")]
#![allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "a test that cannot go on fails"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use ratatui::text::Line;
use wisp_agent::protocol::{
    Activity, Approval, Choice, ChoiceOption, Command, Decision, Event, HeldRange, Status,
};
use wisp_agent::protocol::{OutputSummary, OutputView, Phase, Stretch, TurnEnd, TurnOutcome, View, ViewKind};
use wisp_host::Env;
use wisp_term::{Depth, Palette};
use wisp_tui::keys::Bindings;
use wisp_tui::{App, Effect, Input, Settings, view};

/// The face, the moment it is, what it finished and what it asked for.
pub struct Stage {
    pub app: App,
    pub now: Duration,
    pub above: Vec<Line<'static>>,
    pub effects: Vec<Effect>,
    size: Size,
}

impl Stage {
    pub fn new(width: u16, height: u16) -> Self {
        Self::in_colours(width, height, Palette::plain())
    }

    pub fn in_colours(width: u16, height: u16, palette: Palette) -> Self {
        let size = Size { width, height };
        let bindings = Bindings::new(&BTreeMap::new()).unwrap();
        let settings = Settings {
            palette,
            bindings,
            size,
            notifications: 5,
        };
        Self {
            app: App::new(settings),
            now: Duration::from_secs(10),
            above: Vec::new(),
            effects: Vec::new(),
            size,
        }
    }

    /// A face that was told how things stand.
    pub fn ready(width: u16, height: u16) -> Self {
        let mut stage = Self::new(width, height);
        stage.tell(Event::Status(status()));
        stage
    }

    pub fn give(&mut self, input: Input) -> &mut Self {
        let effects = self.app.on(input, self.now);
        self.effects.extend(effects);
        self.above.extend(self.app.take_finished());
        self
    }

    pub fn tell(&mut self, event: Event) -> &mut Self {
        self.give(Input::Event(Box::new(event)))
    }

    /// Types text, a key each 100 ms.
    pub fn type_text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.wait(100);
            self.give(Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
        }
        self
    }

    /// Presses keys as the configuration writes them (`ctrl-o`, `enter`), 100 ms apart.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ') {
            self.wait(100);
            self.give(Input::Key(key_event(key)));
        }
        self
    }

    /// Lets time pass, waking the face as it asks.
    pub fn wait(&mut self, millis: u64) -> &mut Self {
        self.now += Duration::from_millis(millis);
        self.give(Input::Tick)
    }

    /// Gives the window another size.
    pub fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        let effects = self.app.resize(Size { width, height });
        self.effects.extend(effects);
        self
    }

    /// The commands sent since this was last asked.
    pub fn sent(&mut self) -> Vec<Command> {
        let effects = std::mem::take(&mut self.effects);
        effects
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Send(command) => Some(command),
                _ => None,
            })
            .collect()
    }

    /// The last rows of the terminal: finished lines with the band below them, the cursor as `▮`.
    pub fn screen(&self) -> String {
        let band = view::band(&self.app);
        let height = usize::from(self.size.height);
        let room = height - band.rows.len();
        let skipped = self.above.len().saturating_sub(room);
        let mut rows: Vec<Line<'static>> = self.above.iter().skip(skipped).cloned().collect();
        let start = rows.len();
        rows.extend(band.rows);
        let mut terminal = Terminal::new(TestBackend::new(self.size.width, self.size.height)).unwrap();
        let drawn = terminal.draw(|frame| {
            for (y, row) in rows.iter().enumerate() {
                let width = frame.area().width;
                frame
                    .buffer_mut()
                    .set_line(0, u16::try_from(y).unwrap(), row, width);
            }
            if let Some(cursor) = band.cursor {
                let y = cursor.y + u16::try_from(start).unwrap();
                frame.buffer_mut()[(cursor.x, y)].set_symbol("▮");
            }
        });
        drawn.unwrap();
        let text = terminal.backend().to_string();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| {
                line.split("\" Hidden by")
                    .next()
                    .unwrap_or(line)
                    .trim_matches('"')
                    .trim_end()
            })
            .collect();
        lines.join("\n").trim_end().to_owned()
    }
}

pub fn key_event(text: &str) -> KeyEvent {
    let mut rest = text;
    let mut modifiers = KeyModifiers::NONE;
    for (name, modifier) in [
        ("ctrl-", KeyModifiers::CONTROL),
        ("alt-", KeyModifiers::ALT),
        ("shift-", KeyModifiers::SHIFT),
    ] {
        if let Some(stripped) = rest.strip_prefix(name) {
            rest = stripped;
            modifiers |= modifier;
        }
    }
    let code = match rest {
        "tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backspace" => KeyCode::Backspace,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "page-down" => KeyCode::PageDown,
        "space" => KeyCode::Char(' '),
        "f1" => KeyCode::F(1),
        other => KeyCode::Char(other.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

pub fn env(pairs: &[(&str, &str)]) -> Env {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

pub fn palette(theme: &str) -> Palette {
    Palette::new(theme, Depth::True, &Env::default())
}

pub fn status() -> Status {
    Status {
        model: "qwen3:8b".into(),
        directory: "~/src/wisp".into(),
        branch: Some("main".into()),
        dirty: true,
        added: Some(12),
        removed: Some(3),
        approval: "approve at moderate".into(),
        context_used: Some(0.154),
        task: None,
        received: 0,
        waiting: 0,
    }
}

pub fn doing(text: &str) -> Event {
    Event::Activity(Activity {
        doing: Some(text.into()),
        ..Activity::default()
    })
}

pub fn delta(text: &str) -> Event {
    Event::Delta { text: text.into() }
}

pub fn turn_start() -> Event {
    Event::Turn {
        phase: Phase::Start,
        turn: 1,
        end: None,
    }
}

pub fn turn_end(seconds: f64, outcome: TurnOutcome) -> Event {
    let end = TurnEnd {
        seconds,
        outcome,
        input_tokens: Some(4009),
        output_tokens: Some(79),
        tokens_per_second: Some(24.3),
        first_token_seconds: Some(0.8),
        ran: Some("ran: run_command ×2 (1 failed)".into()),
        cited: None,
    };
    Event::Turn {
        phase: Phase::End,
        turn: 1,
        end: Some(end),
    }
}

pub fn line(kind: &str, text: &str) -> Event {
    Event::Event {
        kind: kind.into(),
        call: None,
        turn: Some(1),
        details: serde_json::Value::Null,
        text: Some(text.into()),
        output: None,
    }
}

pub const OUTPUT_ID: &str = "8a7b6c5d4e3f2a1b";

pub fn held() -> Vec<HeldRange> {
    vec![HeldRange {
        from_line: 5,
        to_line: 90,
        bytes: 1720,
    }]
}

/// The result of a command that printed 100 lines.
pub fn result(id: &str) -> Event {
    let text = (1..=40).fold(String::new(), |text, n| {
        text + &format!("line {n} of the output\n")
    });
    let output = OutputSummary {
        id: id.into(),
        text,
        lines: 100,
        bytes: 2192,
        truncated: true,
        excerpt: vec![
            stretch(1, "line 1 of the output"),
            stretch(
                98,
                "line 98 of the output\nline 99 of the output\nline 100 of the output",
            ),
        ],
        held: held(),
        stored: true,
        difference: None,
    };
    Event::Event {
        kind: "tool.result".into(),
        call: None,
        turn: Some(1),
        details: serde_json::Value::Null,
        text: Some("↳ exit 1".into()),
        output: Some(output),
    }
}

/// A stretch of an output.
fn stretch(from_line: u64, text: &str) -> Stretch {
    Stretch {
        from_line,
        text: text.into(),
    }
}

/// The only page of that output.
pub fn page(id: &str) -> Event {
    let text = (1..=100).fold(String::new(), |text, n| {
        text + &format!("line {n} of the output\n")
    });
    page_of(id, &text)
}

pub fn page_of(id: &str, text: &str) -> Event {
    let info = OutputView {
        id: id.into(),
        page: 0,
        pages: 1,
        first_line: 1,
        frames: Vec::new(),
        lines: text.lines().count() as u64,
        bytes: text.len() as u64,
        title: "run_command cargo build".into(),
        about: String::new(),
        held: held(),
        path: Some("/home/ada/.wisp/output/8a7b6c5d".into()),
    };
    Event::View(View {
        kind: ViewKind::Output,
        turn: None,
        text: text.into(),
        output: Some(info),
    })
}

/// A page of a thousand numbered lines, of an output of so many pages.
pub fn numbered_page(page: u64, pages: u64) -> Event {
    let first_line = page * 1000 + 1;
    let lines = first_line..first_line + 1000;
    let text = lines.fold(String::new(), |text, n| text + &format!("line {n:05}\n"));
    let info = OutputView {
        id: OUTPUT_ID.into(),
        page,
        pages,
        first_line,
        lines: pages * 1000,
        bytes: pages * 11_000,
        ..OutputView::default()
    };
    Event::View(View {
        kind: ViewKind::Output,
        turn: None,
        text,
        output: Some(info),
    })
}

pub fn approval() -> Approval {
    Approval {
        id: "q1".into(),
        command: "git push origin main".into(),
        line: "git add . && git push origin main".into(),
        pattern: "git push *".into(),
        directory: "~/src/wisp".into(),
        level: "moderate".into(),
        reasons: vec!["sends commits to another machine".into()],
        diff: None,
        decisions: vec![
            Decision::Once,
            Decision::Session,
            Decision::Project,
            Decision::Always,
            Decision::No,
        ],
    }
}

pub fn edit_approval() -> Approval {
    let mut diff = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,30 +1,30 @@\n".to_owned();
    for n in 1..=15 {
        diff.push_str(&format!(
            " fn kept_{n}() {{}}\n-fn old_{n}() {{}}\n+fn new_{n}() {{\t}}\n"
        ));
    }
    Approval {
        id: "q2".into(),
        command: "edit_file src/main.rs".into(),
        line: String::new(),
        pattern: "edit_file src/*".into(),
        diff: Some(diff),
        decisions: vec![Decision::Once, Decision::No],
        ..approval()
    }
}

pub fn choice(toggles: bool, accepts_text: bool) -> Event {
    let option = |value: &str, detail: &str, on| ChoiceOption {
        value: value.into(),
        label: value.into(),
        detail: detail.into(),
        on,
    };
    Event::Choice(Choice {
        id: "c1".into(),
        title: "which model?".into(),
        options: vec![
            option("qwen3:8b", "5.2 GB, tools", true),
            option("llama3.2:3b", "2.0 GB, tools", false),
            option("小さい:1b", "1.1 GB", false),
        ],
        current: Some("qwen3:8b".into()),
        accepts_text,
        toggles,
    })
}
