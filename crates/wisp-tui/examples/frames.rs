//! What a frame costs: 5,000 deltas in a second of a person's time, a frame every 16 ms, and how long each took to
//! take in, lay out and write. `cargo run --release -p wisp-tui --example frames`.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use ratatui::layout::Size;
use wisp_agent::protocol::Event;
use wisp_host::Env;
use wisp_term::{Depth, Palette};
use wisp_tui::keys::Bindings;
use wisp_tui::{App, Input, Reflow, Screen, Settings, view};

/// Deltas in all, and in each frame.
const DELTAS: usize = 5000;
const A_FRAME: usize = 80;

fn main() -> io::Result<()> {
    let size = Size {
        width: 120,
        height: 40,
    };
    let bindings = Bindings::new(&BTreeMap::new()).map_err(io::Error::other)?;
    let palette = Palette::new("dark", Depth::True, &Env::default());
    let mut app = App::new(Settings {
        palette,
        bindings,
        size,
        notifications: 0,
    });
    let mut screen = Screen::new(Vec::new(), size, Reflow::Breaks);
    let mut times = Vec::new();
    for (at, chunk) in (0..DELTAS).collect::<Vec<_>>().chunks(A_FRAME).enumerate() {
        let began = Instant::now();
        for n in chunk {
            let text = if n % 9 == 0 {
                "**word**\n"
            } else {
                "some `words` of a reply "
            };
            let now = Duration::from_millis(16 * at as u64);
            app.on(Input::Event(Box::new(Event::Delta { text: text.into() })), now);
        }
        let finished = app.take_finished();
        let band = view::band(&app);
        screen.frame(finished, &band.rows, band.cursor)?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    let bytes = screen.out().len();
    writeln!(
        io::stdout(),
        "frames {} · p50 {:?} · p99 {:?} · {bytes} bytes",
        times.len(),
        at(50),
        at(99)
    )
}
