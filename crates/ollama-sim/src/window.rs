//! The context window: how large it is, and what is cut to fit.
//!
//! Stage A drops whole messages from the front and keeps the system messages; stage B cuts tokens, or refuses,
//! by release. Neither tells the client anything it could not also get from a prompt that fits, which is why
//! clients must send `truncate: false`, and why the cut here is made on the real text: a model whose prompt has
//! lost a fact must answer without it.

use crate::decode::{ChatRequest, Message, Options};
use crate::model::{Capability, Model};
use crate::profile::{Era, Profile};
use crate::render::Scene;
use crate::tokens;

/// The engine of E4 allots windows in multiples of this many tokens.
const ALLOTMENT: u64 = 256;
/// The smallest window.
const SMALLEST: u64 = 4;
/// The smallest window of a model that sees.
const SMALLEST_VISION: u64 = 2048;
/// How many tokens an image counts in stage A.
const IMAGE: u64 = 768;
/// Tokens kept at the front by a cut, unless the request says otherwise.
const KEEP: i64 = 4;

/// A model's window, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// What `/api/ps` shows and stage A compares with.
    pub(crate) asked: u64,
    /// What the engine really has.
    pub(crate) allotted: u64,
}

impl Window {
    /// The window a request gets: its own, else the model file's, else the server's.
    pub(crate) fn of(profile: &Profile, model: &Model, options: &Options) -> Self {
        let own = options.integer("num_ctx").map(|n| u64::try_from(n).unwrap_or(0));
        let mut asked = own
            .or(model.num_ctx)
            .unwrap_or(profile.default_window)
            .max(SMALLEST);
        if model.capabilities.contains(&Capability::Vision) {
            asked = asked.max(SMALLEST_VISION);
        }
        let real = asked.min(model.context_length.max(SMALLEST));
        let shown = if profile.clamps_window { real } else { asked };
        let allotted = if profile.era.is_e4() {
            real.next_multiple_of(ALLOTMENT)
        } else {
            real
        };
        Self {
            asked: shown,
            allotted,
        }
    }
}

/// A prompt after both stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The text the model sees.
    pub(crate) text: String,
    /// Tokens of the prompt after stage A, before stage B.
    pub(crate) tokens_before_cut: u64,
    /// Tokens the model sees.
    pub(crate) tokens: u64,
    /// Messages stage A dropped.
    pub(crate) dropped: usize,
    /// The messages stage A kept, system messages first.
    pub(crate) kept: Vec<usize>,
}

/// Why a prompt was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The model's own template complained.
    Template(String),
    /// E3: `the input length exceeds the context length`.
    InputLength,
    /// E4 with shift off: `the prompt is longer than …`.
    LongerThanWindow,
    /// E4: llama-server's own refusal.
    Exceeds { tokens: u64, window: u64 },
}

/// Stage A: the longest tail of the conversation that fits, system messages before it kept.
///
/// The server tries one tail after the other; since a shorter tail is a shorter prompt, the first that fits is
/// found here by halving, with the same result.
pub(crate) fn fit_messages(
    scene: &Scene<'_>,
    messages: &[Message],
    window: Window,
    truncate: bool,
) -> Result<Prompt, Refusal> {
    let whole = tail(scene, messages, 0)?;
    if !truncate || whole.tokens <= window.asked {
        return Ok(whole);
    }
    // A strict template that refuses a shortened history ends the search there and refuses the request.
    let too_long = |from| tail(scene, messages, from).is_ok_and(|prompt| prompt.tokens > window.asked);
    let (mut low, mut high) = (1, messages.len().saturating_sub(1));
    while low < high {
        let middle = low.midpoint(high);
        if too_long(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    tail(scene, messages, high)
}

/// The prompt of the messages from `from` on, with the system messages before them.
fn tail(scene: &Scene<'_>, messages: &[Message], from: usize) -> Result<Prompt, Refusal> {
    let wanted = |at: &usize| *at >= from || messages[*at].role == "system";
    let kept: Vec<usize> = (0..messages.len()).filter(wanted).collect();
    let chosen: Vec<Message> = kept.iter().map(|&at| messages[at].clone()).collect();
    let text = scene.render(&chosen).map_err(Refusal::Template)?;
    let images: usize = chosen.iter().map(|m| m.images).sum();
    let tokens = tokens::count(&text) + images as u64 * IMAGE;
    let dropped = messages.len() - kept.len();
    Ok(Prompt {
        text,
        tokens_before_cut: tokens,
        tokens,
        dropped,
        kept,
    })
}

/// Stage B: what the release does with a prompt that is still too long.
pub(crate) fn fit_tokens(
    profile: &Profile,
    request: &ChatRequest,
    options: &Options,
    window: Window,
    prompt: Prompt,
) -> Result<Prompt, Refusal> {
    let truncate = request.truncate.unwrap_or(true);
    let tokens = prompt.tokens;
    let keep = u64::try_from(options.integer("num_keep").unwrap_or(KEEP)).unwrap_or(window.asked);
    match profile.era {
        Era::E3 if tokens > window.allotted && !truncate => Err(Refusal::InputLength),
        Era::E1 | Era::E2 | Era::E3 if tokens > window.allotted => Ok(cut(prompt, keep, window.allotted)),
        Era::E4Rendered if truncate && tokens >= window.asked => half_window(request, window, prompt, keep),
        Era::E4Rendered | Era::E4Native if tokens >= window.allotted => Err(Refusal::Exceeds {
            tokens,
            window: window.allotted,
        }),
        _ => Ok(prompt),
    }
}

/// The cut of 0.30.11 and later: to the window less half of what is not kept.
fn half_window(request: &ChatRequest, window: Window, prompt: Prompt, keep: u64) -> Result<Prompt, Refusal> {
    if request.messages.iter().any(|m| m.images > 0) {
        return Err(Refusal::Exceeds {
            tokens: prompt.tokens,
            window: window.allotted,
        });
    }
    if request.shift == Some(false) {
        return Err(Refusal::LongerThanWindow);
    }
    let keep = keep.min(window.asked / 2);
    let limit = window.asked - (window.asked - keep) / 2;
    Ok(cut(prompt, keep, limit))
}

/// Keeps the first `keep` tokens and the end, `limit` tokens in all.
fn cut(prompt: Prompt, keep: u64, limit: u64) -> Prompt {
    let pieces: Vec<&str> = tokens::split(&prompt.text).collect();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(pieces.len());
    let keep = usize::try_from(keep).unwrap_or(usize::MAX).min(limit);
    let mut text: String = pieces[..keep].concat();
    text.push_str(&pieces[pieces.len() - (limit - keep)..].concat());
    Prompt {
        text,
        tokens: limit as u64,
        ..prompt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Think;
    use crate::profile;

    fn options(num_ctx: u64) -> Options {
        let number = crate::gojson::Json::Number(num_ctx.to_string());
        Options::read(&[("num_ctx".to_owned(), number)]).unwrap()
    }

    fn long(tokens: usize) -> Prompt {
        Prompt {
            text: "a ".repeat(tokens / 2) + "b",
            tokens: tokens as u64,
            ..Prompt::default()
        }
    }

    #[test]
    fn windows_are_clamped_and_allotted_by_era() {
        let model = Model::new("m").with_context_length(8192);
        let of = |profile: &Profile, n| Window::of(profile, &model, &options(n));
        assert_eq!(of(&profile::V0_11_4, 1_000_000).asked, 1_000_000);
        assert_eq!(of(&profile::V0_24_0, 1_000_000).asked, 8192);
        assert_eq!(
            of(&profile::V0_32_15, 90),
            Window {
                asked: 90,
                allotted: 256
            }
        );
        assert_eq!(of(&profile::V0_24_0, 1).asked, 4);
        assert_eq!(
            Window::of(&profile::V0_5_7, &model, &Options::default()).asked,
            2048
        );
    }

    #[test]
    fn the_half_window_cut_is_the_recorded_one() {
        let request = ChatRequest::default();
        for (asked, keep, left) in [
            (256, 4, 130),
            (256, 16, 136),
            (90, 4, 47),
            (89, 4, 47),
            (88, 4, 46),
            (4, 4, 3),
        ] {
            let window = Window { asked, allotted: 256 };
            let prompt = half_window(&request, window, long(2010), keep).unwrap();
            assert_eq!(prompt.tokens, left, "{asked} {keep}");
        }
    }

    #[test]
    fn halving_finds_what_trying_each_tail_finds() {
        let message = |n: usize| Message {
            role: ["user", "assistant", "tool", "system"][n * 7 % 11 % 4].into(),
            content: "word ".repeat(n * n % 17),
            thinking: "hm ".repeat(n % 3),
            ..Message::default()
        };
        let model = Model {
            gathers_system: false,
            ..Model::new("m")
        };
        let scene = Scene {
            profile: &profile::V0_24_0,
            model: &model,
            tools: &[],
            think: &Think::Omitted,
        };
        for length in 1..24 {
            let messages: Vec<Message> = (0..length).map(message).collect();
            for asked in (4..260).step_by(5) {
                let window = Window {
                    asked,
                    allotted: asked,
                };
                let found = fit_messages(&scene, &messages, window, true).unwrap();
                let mut tails = (0..length).map(|from| tail(&scene, &messages, from).unwrap());
                let first = tails.find(|prompt| prompt.tokens <= asked);
                let tried = first.unwrap_or_else(|| tail(&scene, &messages, length - 1).unwrap());
                assert_eq!(found, tried, "{length} messages at {asked}");
            }
        }
    }

    #[test]
    fn stage_a_keeps_the_system_message_and_the_end() {
        let say = |role: &str, content: &str| Message {
            role: role.into(),
            content: content.into(),
            ..Message::default()
        };
        let messages = [
            say("system", "S"),
            say("user", "first"),
            say("assistant", "x"),
            say("user", "last"),
        ];
        let model = Model::new("m");
        let scene = Scene {
            profile: &profile::V0_24_0,
            model: &model,
            tools: &[],
            think: &Think::Omitted,
        };
        let whole = fit_messages(
            &scene,
            &messages,
            Window {
                asked: 500,
                allotted: 500,
            },
            true,
        )
        .unwrap();
        assert_eq!(whole.kept, [0, 1, 2, 3]);
        let window = Window {
            asked: whole.tokens - 1,
            allotted: whole.tokens - 1,
        };
        let fitted = fit_messages(&scene, &messages, window, true).unwrap();
        assert_eq!((fitted.kept, fitted.dropped), (vec![0, 2, 3], 1));
        let exact = Window {
            asked: whole.tokens,
            allotted: whole.tokens,
        };
        assert_eq!(fit_messages(&scene, &messages, exact, true).unwrap().dropped, 0);
    }
}
