//! Which window a conversation gets, and why: a configured one, else the one the model is loaded with, else one sized
//! from memory. The choice is made once: another `num_ctx` in mid-conversation would reload the model.

use std::fmt;

use wisp_amount::{grouped, size as amount};

use super::SLACK;
use super::shape::Cost;
use super::size::{FLOOR, Memory, Sized, size};
use crate::models::Loaded;
use crate::show::Show;

/// What is known when a window is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choice {
    /// A configured window for this very model.
    pub for_model: Option<u64>,
    /// A configured window for all models.
    pub for_all: Option<u64>,
    /// The window the model is loaded with now (`/api/ps`).
    pub loaded: Option<u64>,
    /// Tokens the model was trained for (`/api/show`).
    pub trained: Option<u64>,
    /// A window sized from memory.
    pub sized: Option<Sized>,
    /// Whether the model runs on another machine, where this one's memory says nothing.
    pub remote: bool,
}

impl Choice {
    /// What a server's answers say: `/api/show`, the model's entry in `/api/ps` if it is loaded, the bytes of its file
    /// (`/api/tags`), and the machine's memory where the server runs on it. What is configured is added by the caller.
    pub fn of(show: &Show, loaded: Option<&Loaded>, weights: Option<u64>, memory: Option<Memory>) -> Self {
        let trained = show.trained_window();
        let remote = show.is_cloud("");
        let held = loaded.and_then(|loaded| loaded.size).unwrap_or_default();
        let memory = memory.map(|memory| Memory { held, ..memory });
        let sized = || Some(size(Cost::of(show)?, weights?, trained?, memory?));
        Self {
            loaded: loaded.and_then(|loaded| loaded.context_length),
            trained,
            sized: if remote { None } else { sized() },
            remote,
            ..Self::default()
        }
    }
}

/// Why a window is what it is. Displayed as a note that can be shown beside the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Configured for this model; `cut` when the trained length was less.
    ForModel {
        /// Whether the trained length cut it.
        cut: bool,
    },
    /// Configured for all models.
    ForAll {
        /// Whether the trained length cut it.
        cut: bool,
    },
    /// The model is loaded with it, and another would reload it.
    Loaded,
    /// Sized from memory.
    Memory(Sized),
    /// All the model was trained for, since it runs elsewhere.
    Remote,
    /// Nothing is known.
    Default,
}

impl Reason {
    /// One or two words for a table's column.
    pub fn word(&self) -> &'static str {
        match self {
            Self::ForModel { .. } => "model config",
            Self::ForAll { .. } => "config",
            Self::Loaded => "server",
            Self::Memory(_) => "memory",
            Self::Remote => "model",
            Self::Default => "default",
        }
    }

    /// The reason as a person reads it after the figure: `24,576 tokens, …`.
    pub fn said(&self) -> String {
        let Self::Memory(sized) = self else {
            return self.to_string();
        };
        let (need, budget) = (amount(sized.need), amount(sized.budget));
        if !sized.fits {
            return format!(
                "the least that is of use, although it needs about {need} and {budget} may be used"
            );
        }
        let how = if sized.window == sized.maximum {
            "all it was trained for"
        } else {
            "as many as memory allows"
        };
        format!("{how}: about {need}, of {budget} that may be used")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForModel { cut: false } => f.write_str("configured for this model"),
            Self::ForAll { cut: false } => f.write_str("configured"),
            Self::ForModel { cut: true } | Self::ForAll { cut: true } => {
                f.write_str("configured larger, cut to what the model was trained for")
            }
            Self::Loaded => f.write_str("the model is loaded with it; another would reload it"),
            Self::Memory(sized) => write_sized(f, sized),
            Self::Remote => f.write_str("what the model was trained for; it runs on another machine"),
            Self::Default => f.write_str("the model does not say what it needs"),
        }
    }
}

/// As `24,576 of 131,072: 9.3 GiB of a budget of 9.8 GiB`.
fn write_sized(f: &mut fmt::Formatter<'_>, sized: &Sized) -> fmt::Result {
    let (window, maximum) = (grouped(sized.window), grouped(sized.maximum));
    let (need, budget) = (amount(sized.need), amount(sized.budget));
    write!(f, "{window} of {maximum}: {need} of a budget of {budget}")?;
    if sized.fits {
        return Ok(());
    }
    f.write_str(", which is not enough")
}

/// Chooses the window, in tokens, and says why.
pub fn choose(known: &Choice) -> (u64, Reason) {
    let trained = known.trained.filter(|trained| *trained > 0).unwrap_or(u64::MAX);
    if let Some(window) = known.for_model.filter(|window| *window > 0) {
        return (
            window.min(trained),
            Reason::ForModel {
                cut: window > trained,
            },
        );
    }
    if let Some(window) = known.for_all.filter(|window| *window > 0) {
        return (
            window.min(trained),
            Reason::ForAll {
                cut: window > trained,
            },
        );
    }
    if let Some(window) = known.loaded.filter(|window| *window >= FLOOR) {
        return (window.min(trained), Reason::Loaded);
    }
    match known.sized {
        _ if known.remote && trained < u64::MAX => (trained, Reason::Remote),
        Some(sized) if !known.remote => (sized.window.min(trained), Reason::Memory(sized)),
        _ => (FLOOR.min(trained), Reason::Default),
    }
}

/// The most tokens to be generated: what was wished for, but never so many that the window could overflow while the
/// estimate of the prompt holds, and never fewer than one, since zero means "unlimited".
pub fn num_predict(window: u64, prompt: u64, wished: Option<u64>) -> u64 {
    let room = window.saturating_sub(prompt).saturating_sub(SLACK);
    wished.map_or(room, |wished| wished.min(room)).max(1)
}

#[cfg(test)]
mod tests {
    use super::{Choice, Reason, choose, grouped, num_predict};
    use crate::models::Loaded;
    use crate::show::Show;
    use crate::window::shape::{Cost, Layers};
    use crate::window::size::{Memory, Sized};
    use serde_json::json;

    fn sized(window: u64) -> Sized {
        Sized {
            window,
            maximum: 131_072,
            need: 9_910_000_000,
            budget: 10_522_669_875,
            fits: true,
            cost: Cost {
                per_token: 1,
                sliding_per_token: 0,
                sliding_tokens: 0,
                fixed: 0,
                buffers: 0,
                layers: Layers::Plain,
                drafts: false,
            },
        }
    }

    fn all() -> Choice {
        Choice {
            for_model: Some(10_000),
            for_all: Some(20_000),
            loaded: Some(30_000),
            trained: Some(131_072),
            sized: Some(sized(24_576)),
            remote: false,
        }
    }

    #[test]
    fn the_order_is_configured_loaded_sized_default() {
        let mut known = all();
        assert_eq!(choose(&known), (10_000, Reason::ForModel { cut: false }));
        known.for_model = None;
        assert_eq!(choose(&known), (20_000, Reason::ForAll { cut: false }));
        known.for_all = None;
        assert_eq!(choose(&known), (30_000, Reason::Loaded));
        known.loaded = Some(8192);
        assert_eq!(choose(&known), (8192, Reason::Loaded));
        known.loaded = Some(8191);
        assert_eq!(choose(&known), (24_576, Reason::Memory(sized(24_576))));
        known.remote = true;
        assert_eq!(choose(&known), (131_072, Reason::Remote));
        assert_eq!(choose(&Choice::default()), (8192, Reason::Default));
    }

    #[test]
    fn the_trained_length_caps_every_choice() {
        let mut known = Choice {
            trained: Some(8000),
            ..all()
        };
        assert_eq!(choose(&known), (8000, Reason::ForModel { cut: true }));
        known.for_model = None;
        known.for_all = None;
        assert_eq!(choose(&known), (8000, Reason::Loaded));
        known.loaded = None;
        assert_eq!(choose(&known).0, 8000);
        known.sized = None;
        assert_eq!(choose(&known), (8000, Reason::Default));
    }

    #[test]
    fn a_servers_answers_are_gathered() {
        let show: Show = serde_json::from_value(json!({"model_info": {"general.architecture": "g",
            "g.block_count": 40, "g.embedding_length": 4096, "g.attention.head_count": 32,
            "g.attention.head_count_kv": 8, "g.context_length": 131_072}}))
        .expect("reads");
        let loaded: Loaded =
            serde_json::from_value(json!({"size": 6_000_000_000u64, "context_length": 4096})).expect("reads");
        let memory = Memory {
            available: 15_045_339_750,
            total: 1 << 36,
            held: 0,
        };
        let known = Choice::of(&show, Some(&loaded), Some(5_347_234_775), Some(memory));
        let (window, reason) = choose(&known);
        assert_eq!((window, reason.word()), (24_576, "memory"));
        assert_eq!(
            Choice::of(&show, None, None, Some(memory)).sized,
            None,
            "no weights, no size"
        );
        let remote = Show {
            remote_host: Some("https://ollama.com".into()),
            ..show
        };
        assert_eq!(
            choose(&Choice::of(&remote, None, Some(1), Some(memory))),
            (131_072, Reason::Remote)
        );
    }

    #[test]
    fn the_reason_can_be_shown() {
        let note = Reason::Memory(sized(24_576)).to_string();
        assert_eq!(note, "24,576 of 131,072: 9.3 GiB of a budget of 9.8 GiB");
        assert_eq!(
            Reason::Memory(sized(24_576)).said(),
            "as many as memory allows: about 9.3 GiB, of 9.8 GiB that may be used"
        );
        let all = Sized {
            maximum: 24_576,
            ..sized(24_576)
        };
        assert_eq!(
            Reason::Memory(all).said(),
            "all it was trained for: about 9.3 GiB, of 9.8 GiB that may be used"
        );
        let tight = Sized {
            fits: false,
            budget: 4 << 30,
            ..sized(24_576)
        };
        assert_eq!(
            Reason::Memory(tight).said(),
            "the least that is of use, although it needs about 9.3 GiB and 4 GiB may be used"
        );
        assert_eq!(Reason::ForAll { cut: false }.said(), "configured");
        assert_eq!(
            (grouped(999), grouped(1000), grouped(1_048_576)),
            ("999".into(), "1,000".into(), "1,048,576".into())
        );
    }

    #[test]
    fn a_reply_never_overflows_the_window_and_is_never_unlimited() {
        assert_eq!(num_predict(8192, 1000, None), 6936);
        assert_eq!(num_predict(8192, 1000, Some(500)), 500);
        assert_eq!(num_predict(8192, 7935, None), 1);
        assert_eq!(num_predict(8192, 9000, Some(500)), 1);
        assert_eq!(num_predict(8192, 0, Some(0)), 1);
    }
}
