//! The loop that owns the terminal: keys, events, signals and moments go into the app; its effects are carried out;
//! its rows are written, at most sixty times a second, and only when something came.

use std::io::{self, Write};
use std::pin::Pin;
use std::time::{Duration, Instant};

use ratatui::text::Line;
use tokio::time::sleep_until;
use wisp_agent::protocol::{Command, Event};
use wisp_host::Env;
use wisp_term::Role;
use wisp_term::clipboard::osc52;
use wisp_term::keys::Typed;
use wisp_term::pager;

use crate::app::{App, Input};
use crate::effect::Effect;
use crate::keyboard::Keyboard;
use crate::link::Link;
use crate::looks::line_cells;
use crate::screen::Screen;
use crate::signals::{Arrived, Signals};
use crate::terminal::Notifier;
use crate::{outside, session, view};

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// The most cells of a row that no window breaks: narrower ones are rare.
const SHORT: usize = 20;
/// How long after a frame the terminal can be taken to have told of its size.
const SETTLED: Duration = Duration::from_millis(500);
/// How long after the last word of a new size every row is written once more: a terminal may break or drop rows a
/// little after it told of its size, and it says nothing of that.
const WINDOW_RESTS: Duration = Duration::from_millis(300);
/// How long the engine has to say that the conversation is over, once it was asked to end it.
const PARTING: Duration = Duration::from_secs(5);
/// The same, after a signal.
const PARTING_ON_SIGNAL: Duration = Duration::from_secs(1);
/// The most keys or events taken in before the screen is drawn again.
const BATCH: usize = 4096;

/// How the loop came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The conversation was left; the exit code the engine gave.
    Left(u8),
    /// A signal ended it; its number.
    Signal(i32),
    /// The engine was gone without saying goodbye.
    EngineGone,
}

/// The loop's state.
pub struct Runner<W> {
    app: App,
    screen: Screen<W>,
    link: Link,
    env: Env,
    keyboard: Keyboard,
    /// Whether the terminal was found gone.
    hung_up: bool,
    signals: Signals,
    start: Instant,
    drawn: Option<Instant>,
    stale: bool,
    /// When every row is written once more after the window changed.
    whole_at: Option<Instant>,
    leaving: Option<Instant>,
    ending: Option<Ending>,
    /// Whether going on after a stop of our own is still to be reported.
    stopped: bool,
    /// When another program gave the terminal back last.
    handed_back: Option<Instant>,
}

impl<W> std::fmt::Debug for Runner<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}

/// What the loop woke up for.
enum Woke {
    Signal(Arrived),
    Keys(Vec<u8>),
    Event(Option<Box<Event>>),
    Moment,
}

impl<W: Write> Runner<W> {
    /// A loop over a terminal whose modes were taken already.
    pub fn new(app: App, screen: Screen<W>, link: Link, env: Env) -> io::Result<Self> {
        Ok(Self {
            app,
            screen,
            link,
            env,
            keyboard: Keyboard::listen()?,
            hung_up: false,
            signals: Signals::listen()?,
            start: Instant::now(),
            drawn: None,
            stale: true,
            whole_at: None,
            leaving: None,
            ending: None,
            stopped: false,
            handed_back: None,
        })
    }

    /// Runs until the conversation is left. The band is taken away at the end. Errors are the terminal's.
    pub async fn run(mut self) -> io::Result<Ending> {
        self.give_command(self.app.hello());
        self.draw()?;
        loop {
            if let Some(ending) = self.ending {
                if !matches!(ending, Ending::Signal(_)) {
                    self.app.say_unsent();
                    // What came with the end, such as why there is no conversation, stands above the band.
                    self.draw()?;
                }
                self.screen.clear()?;
                session::set_full(false);
                if let Ending::Signal(_) = ending {
                    self.part().await;
                }
                return Ok(ending);
            }
            match self.wake().await {
                Woke::Signal(arrived) => self.signal(arrived)?,
                Woke::Keys(block) => self.keys_and_more(block)?,
                Woke::Event(event) => self.event_and_more(event)?,
                Woke::Moment => self.moment()?,
            }
            self.draw_when_due()?;
        }
    }

    /// Lets the engine end the conversation in its own time, but not for long: a signal does not wait.
    async fn part(&mut self) {
        session::end();
        let over = async {
            while let Some(event) = self.link.events.recv().await {
                if matches!(event, Event::Exit { .. }) {
                    break;
                }
            }
        };
        let _late = tokio::time::timeout(PARTING_ON_SIGNAL, over).await;
    }

    /// The moment to wake at although nothing came.
    fn due(&self) -> Option<Instant> {
        let change = self.app.next_wake().map(|at| self.start + at);
        let frame = self
            .stale
            .then(|| self.drawn.map_or_else(Instant::now, |drawn| drawn + FRAME));
        let keys = self.keyboard.due().map(|at| self.start + at);
        [change, frame, keys, self.whole_at, self.leaving]
            .into_iter()
            .flatten()
            .min()
    }

    async fn wake(&mut self) -> Woke {
        let due = self.due();
        let moment: Pin<Box<dyn Future<Output = ()> + Send>> = match due {
            Some(at) => Box::pin(sleep_until(at.into())),
            None => Box::pin(std::future::pending()),
        };
        let (signals, keyboard, link) = (&mut self.signals, &mut self.keyboard, &mut self.link);
        tokio::select! {
            biased;
            arrived = signals.next() => Woke::Signal(arrived),
            block = keyboard.next(), if !self.hung_up => Woke::Keys(block),
            event = link.events.recv() => Woke::Event(event.map(Box::new)),
            () = moment => Woke::Moment,
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn give(&mut self, input: Input) -> io::Result<()> {
        let now = self.now();
        let effects = self.app.on(input, now);
        self.stale = true;
        effects.into_iter().try_for_each(|effect| self.carry_out(effect))
    }

    fn moment(&mut self) -> io::Result<()> {
        if self.leaving.is_some_and(|until| Instant::now() >= until) {
            self.ending = self.ending.or(Some(Ending::EngineGone));
        }
        if self.whole_at.is_some_and(|at| Instant::now() >= at) {
            self.whole_at = None;
            self.draw_whole();
        }
        let typed = self.keyboard.silence(self.now());
        self.typed(typed)?;
        if self.app.next_wake().is_some_and(|at| at <= self.now()) {
            self.give(Input::Tick)?;
        }
        Ok(())
    }

    /// Takes what was typed and what waits behind it.
    fn keys_and_more(&mut self, first: Vec<u8>) -> io::Result<()> {
        let mut next = Some(first);
        for _ in 0..BATCH {
            let Some(block) = next else { break };
            if block.is_empty() {
                self.hung_up = true;
                self.give_command(Command::Quit);
                break;
            }
            let typed = self.keyboard.take(&block, self.now());
            self.typed(typed)?;
            next = self.keyboard.waiting();
        }
        Ok(())
    }

    fn typed(&mut self, typed: Vec<Typed>) -> io::Result<()> {
        typed.into_iter().try_for_each(|typed| {
            self.give(match typed {
                Typed::Key(key) => Input::Key(key),
                Typed::Paste(text) => Input::Paste(text),
                Typed::Focus(here) => Input::Focus(here),
            })
        })
    }

    /// Takes an event and those that wait behind it.
    fn event_and_more(&mut self, first: Option<Box<Event>>) -> io::Result<()> {
        let Some(first) = first else {
            self.ending = self.ending.or(Some(Ending::EngineGone));
            return Ok(());
        };
        self.give(Input::Event(first))?;
        for _ in 0..BATCH {
            match self.link.events.try_recv() {
                Ok(event) => self.give(Input::Event(Box::new(event)))?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn signal(&mut self, arrived: Arrived) -> io::Result<()> {
        match arrived {
            Arrived::Ends(number) => {
                self.ending = Some(Ending::Signal(number));
                let _gone = self.link.commands.send(Command::Quit);
                Ok(())
            }
            Arrived::Stop => self.suspend(),
            Arrived::Resized => {
                self.whole_at = Some(Instant::now() + WINDOW_RESTS);
                self.draw_whole();
                Ok(())
            }
            Arrived::Continued if std::mem::take(&mut self.stopped) => Ok(()),
            // Stopped and continued together with a pager or an editor, which has given the terminal back since.
            Arrived::Continued
                if self
                    .handed_back
                    .is_some_and(|at| at.elapsed() < PARTING_ON_SIGNAL) =>
            {
                Ok(())
            }
            Arrived::Continued => {
                self.screen.forget();
                self.take_back()
            }
        }
    }

    fn give_command(&mut self, command: Command) {
        if command == Command::Quit {
            self.leaving = Some(Instant::now() + PARTING);
        }
        if self.link.commands.send(command).is_err() {
            // Why it is gone may still be on its way.
            self.leaving.get_or_insert(Instant::now() + PARTING);
        }
    }

    fn carry_out(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Send(command) => self.give_command(command),
            Effect::Copy(text) => {
                if let Ok(sequence) = osc52(&text) {
                    self.write(&sequence)?;
                }
            }
            Effect::Page(path) => {
                let env = self.env.clone();
                let shown = self.hand_over(|| outside::page(&path, &env))?;
                if shown.as_ref().is_ok_and(|ending| ending.is_by_signal()) {
                    self.write(pager::LEFT_BEHIND)?;
                }
                self.tell(shown.err());
            }
            Effect::Edit(text) => {
                let env = self.env.clone();
                match self.hand_over(|| outside::edit(&text, &env))? {
                    Ok(edited) => self.app.edited(&edited),
                    Err(error) => self.tell(Some(error)),
                }
            }
            Effect::Suspend => self.suspend()?,
            Effect::Redraw => self.screen.redraw(),
            Effect::Notify { title, body } => self.write(&Notifier::of(&self.env).sequence(&title, &body))?,
            Effect::Exit(code) => self.ending = self.ending.or(Some(Ending::Left(code))),
        }
        Ok(())
    }

    fn tell(&mut self, error: Option<outside::OutsideError>) {
        if let Some(error) = error {
            self.app.say(Role::Error, &error.to_string());
        }
    }

    fn write(&mut self, sequence: &str) -> io::Result<()> {
        self.screen.out().write_all(sequence.as_bytes())?;
        self.screen.out().flush()
    }

    /// Gives the terminal to `act` and takes it back.
    fn hand_over<T>(&mut self, act: impl FnOnce() -> T) -> io::Result<T> {
        self.let_go()?;
        let done = act();
        self.handed_back = Some(Instant::now());
        self.take_back()?;
        Ok(done)
    }

    /// Stops reading keys, takes the band away and gives the modes back.
    fn let_go(&mut self) -> io::Result<()> {
        self.keyboard.pause();
        self.screen.clear()?;
        self.write(pager::BEFORE)?;
        session::set_full(false);
        session::end();
        Ok(())
    }

    /// Takes the modes again and draws the band where the cursor is now.
    fn take_back(&mut self) -> io::Result<()> {
        session::begin()?;
        self.keyboard.resume()?;
        self.screen.redraw();
        self.stale = true;
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.let_go()?;
        self.stopped = true;
        crate::signals::stop_here()?;
        self.take_back()
    }

    /// Has every row written anew by the next frame. A window that was told of may have had another size in between and
    /// be back at the one that is known: rows of the band below the cursor are gone then, although no size differs.
    fn draw_whole(&mut self) {
        self.screen.redraw();
        self.stale = true;
    }

    fn draw_when_due(&mut self) -> io::Result<()> {
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME);
        if self.stale && due { self.draw() } else { Ok(()) }
    }

    /// Writes one frame for the size the window has at this moment.
    ///
    /// A frame with finished lines takes the cursor away from the band's first row for a moment. A window that changes
    /// in that moment must not find a row there that it can break in two, so a long row of a reply waits for the next
    /// frame, which writes nothing else.
    fn draw(&mut self) -> io::Result<()> {
        self.fit_window()?;
        if self.app.is_full() && !self.screen.is_full() {
            self.screen.enter_full()?;
            session::set_full(true);
        } else if !self.app.is_full() && self.screen.is_full() {
            self.screen.leave_full()?;
            session::set_full(false);
        }
        let finished = self.app.take_finished();
        let mut band = view::band(&self.app);
        self.stale = !finished.is_empty() && band.live && line_cells(&band.rows[0]) > SHORT;
        if self.stale {
            band.rows[0] = Line::default();
        }
        self.screen.frame(finished, &band.rows, band.cursor)?;
        self.drawn = Some(Instant::now());
        // The window may have changed while the frame was written.
        self.stale |= session::window()? != self.screen.size();
        Ok(())
    }

    fn fit_window(&mut self) -> io::Result<()> {
        let size = session::window()?;
        if size == self.screen.size() {
            return Ok(());
        }
        let settled = self.drawn.is_none_or(|drawn| drawn.elapsed() > SETTLED);
        self.screen.resize(size, settled);
        let effects = self.app.resize(size);
        effects.into_iter().try_for_each(|effect| self.carry_out(effect))
    }
}
