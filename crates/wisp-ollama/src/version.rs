//! Which server this is: its version, its era, what it can do and what must be kept in mind.
//!
//! Every era ignores unknown fields, so a new one may always be sent, and silently does nothing on an old server. A
//! protection is therefore in force only when the version says so. Versions that cannot be read (source builds say
//! `0.0.0`) are taken for the newest, and [`ServerVersion::is_known`] tells that this was a guess.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// A release's three numbers.
type Release = (u32, u32, u32);

/// A version's numbers and what follows a dash.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbers {
    release: Release,
    pre: bool,
}

/// A server's version as it was told and as it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerVersion {
    text: String,
    numbers: Option<Numbers>,
}

/// The four kinds of server a client has to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// Up to 0.8: no thinking field, capabilities only at its end.
    E1,
    /// 0.9 to 0.12.5: errors come as a line of a 200, even the first.
    E2,
    /// 0.12.6 to 0.29: `truncate` and `shift`, true statuses.
    E3,
    /// From 0.30: the engine is a process of its own, `shift` is a launch parameter.
    E4,
}

impl Era {
    /// Its releases in words: `0.12.6 to 0.29`.
    pub fn releases(self) -> &'static str {
        match self {
            Self::E1 => "up to 0.8",
            Self::E2 => "0.9 to 0.12.5",
            Self::E3 => "0.12.6 to 0.29",
            Self::E4 => "0.30 and later",
        }
    }
}

/// What a server can do from some version on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// `tools` in a chat.
    Tools,
    /// A JSON schema as `format`.
    Schema,
    /// `capabilities` in `/api/show`.
    Capabilities,
    /// Text is streamed while tools are offered.
    StreamWithTools,
    /// `think` as a boolean and `thinking` in replies.
    Think,
    /// `tool_name` on tool messages.
    ToolName,
    /// `context_length` in `/api/ps`.
    LoadedWindow,
    /// Levels of thinking for gpt-oss.
    ThinkLevelGptOss,
    /// The rendered prompt on demand.
    RenderOnly,
    /// Models that run elsewhere.
    Cloud,
    /// `truncate` and `shift` are obeyed.
    Truncate,
    /// Ids on calls.
    CallIds,
    /// Empty lines while a tool call is written, when `logprobs` is asked for.
    Heartbeat,
    /// Levels of thinking for every thinking model.
    ThinkLevel,
    /// The level `max`.
    ThinkMax,
    /// Capabilities and trained window in `/api/tags`.
    TagsDetails,
    /// No penalty on repetition by default, which otherwise damages code and JSON.
    NoRepeatPenalty,
}

/// The first release of each feature.
pub const FEATURES: &[(Feature, Release)] = &[
    (Feature::Tools, (0, 2, 6)),
    (Feature::Schema, (0, 5, 0)),
    (Feature::Capabilities, (0, 6, 4)),
    (Feature::StreamWithTools, (0, 8, 0)),
    (Feature::Think, (0, 9, 0)),
    (Feature::ToolName, (0, 9, 6)),
    (Feature::LoadedWindow, (0, 10, 0)),
    (Feature::ThinkLevelGptOss, (0, 11, 0)),
    (Feature::RenderOnly, (0, 11, 5)),
    (Feature::Cloud, (0, 12, 0)),
    (Feature::Truncate, (0, 12, 6)),
    (Feature::CallIds, (0, 12, 10)),
    (Feature::Heartbeat, (0, 13, 3)),
    (Feature::ThinkLevel, (0, 18, 0)),
    (Feature::ThinkMax, (0, 22, 0)),
    (Feature::TagsDetails, (0, 30, 0)),
    (Feature::NoRepeatPenalty, (0, 32, 10)),
];

/// What has to be kept in mind about some range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quirk {
    /// Thinking is on when `think` is left out.
    ThinksUnasked,
    /// After a parse error in mid-stream the same request may hang for ever.
    RetryMayHang,
    /// The prompt's count leaves out what came from the cache.
    CountsUncachedOnly,
    /// A changed `shift` reloads the model.
    ShiftReloads,
    /// `/api/ps` answers only when a load has ended.
    PsWaitsForLoad,
    /// `format` with `think: false` is not enforced for some models.
    FormatNeedsThink,
}

/// From which release (inclusive) to which (exclusive) each quirk holds.
pub const QUIRKS: &[(Quirk, Release, Release)] = &[
    (Quirk::ThinksUnasked, (0, 12, 4), NEVER),
    (Quirk::RetryMayHang, (0, 12, 0), (0, 32, 15)),
    (Quirk::CountsUncachedOnly, (0, 30, 0), (0, 30, 1)),
    (Quirk::ShiftReloads, (0, 30, 0), NEVER),
    (Quirk::PsWaitsForLoad, (0, 32, 4), NEVER),
    (Quirk::FormatNeedsThink, (0, 9, 0), (0, 31, 2)),
];

const NEVER: Release = (u32::MAX, 0, 0);

impl ServerVersion {
    /// Understands a version; nothing is refused.
    pub fn parse(text: &str) -> Self {
        let numbers = read(text).filter(|numbers| numbers.release != (0, 0, 0));
        Self {
            text: text.trim().to_owned(),
            numbers,
        }
    }

    /// The version as the server told it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it could be read. Where not, everything below takes the newest for granted.
    pub fn is_known(&self) -> bool {
        self.numbers.is_some()
    }

    /// The era, by the numbers alone: `0.30.0-rc1` is of the era of 0.30.
    pub fn era(&self) -> Era {
        match self.release() {
            release if release < (0, 9, 0) => Era::E1,
            release if release < (0, 12, 6) => Era::E2,
            release if release < (0, 30, 0) => Era::E3,
            _ => Era::E4,
        }
    }

    /// Whether the server has a feature. A candidate of the very release that brought it counts as without.
    pub fn supports(&self, feature: Feature) -> bool {
        let first = FEATURES.iter().find(|(row, _)| *row == feature);
        first.is_some_and(|(_, first)| {
            self.release() > *first || (self.release() == *first && !self.is_candidate())
        })
    }

    /// As [`supports`](Self::supports), but false where the version is a guess: for what a protection rests on.
    pub fn surely_supports(&self, feature: Feature) -> bool {
        self.is_known() && self.supports(feature)
    }

    /// Whether a quirk has to be kept in mind. An unknown version has those that never ended.
    pub fn has(&self, quirk: Quirk) -> bool {
        QUIRKS
            .iter()
            .any(|(row, from, to)| *row == quirk && (*from..*to).contains(&self.release()))
    }

    /// What to send as `shift`: `false` where it costs nothing and keeps the prompt's front, else unset.
    pub fn shift(&self) -> Option<bool> {
        (self.surely_supports(Feature::Truncate) && !self.has(Quirk::ShiftReloads)).then_some(false)
    }

    fn release(&self) -> Release {
        self.numbers
            .as_ref()
            .map_or((u32::MAX - 1, 0, 0), |numbers| numbers.release)
    }

    fn is_candidate(&self) -> bool {
        self.numbers.as_ref().is_some_and(|numbers| numbers.pre)
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for ServerVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            version: String,
        }
        Wire::deserialize(deserializer).map(|wire| Self::parse(&wire.version))
    }
}

fn read(text: &str) -> Option<Numbers> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, _build) = text.split_once('+').unwrap_or((text, ""));
    let (numbers, pre) = match text.split_once('-') {
        Some((numbers, _)) => (numbers, true),
        None => (text, false),
    };
    let mut parts = numbers.split('.').map(str::parse::<u32>);
    let release = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next().unwrap_or(Ok(0)).ok()?,
    );
    parts.next().is_none().then_some(Numbers { release, pre })
}

#[cfg(test)]
mod tests {
    use super::{Era, Feature, Quirk, ServerVersion};

    fn version(text: &str) -> ServerVersion {
        ServerVersion::parse(text)
    }

    #[test]
    fn eras_begin_where_the_history_says() {
        for (text, era) in [
            ("0.5.7", Era::E1),
            ("0.8.99", Era::E1),
            ("0.9.0", Era::E2),
            ("0.12.5", Era::E2),
            ("0.12.6", Era::E3),
            ("0.24.0", Era::E3),
            ("0.25.0-rc0", Era::E3),
            ("0.30.0-rc1", Era::E4),
            ("v0.32.15", Era::E4),
            ("0.33.0-rc2", Era::E4),
            ("0.0.0", Era::E4),
            ("main-abc", Era::E4),
        ] {
            assert_eq!(version(text).era(), era, "{text}");
        }
    }

    #[test]
    fn features_begin_at_their_release_and_not_at_its_candidate() {
        assert!(!version("0.12.5").supports(Feature::Truncate));
        assert!(!version("0.12.6-rc1").supports(Feature::Truncate));
        assert!(version("0.12.6").supports(Feature::Truncate));
        assert!(version("0.12.7-rc1").supports(Feature::Truncate));
        assert!(!version("0.32.9").supports(Feature::NoRepeatPenalty));
        assert!(version("0.32.10").supports(Feature::NoRepeatPenalty));
    }

    #[test]
    fn an_unreadable_version_is_the_newest_but_no_protection() {
        for text in ["0.0.0", "", "dev", "1", "1.2.3.4"] {
            let version = version(text);
            assert!(!version.is_known(), "{text}");
            assert!(version.supports(Feature::NoRepeatPenalty), "{text}");
            assert!(!version.surely_supports(Feature::Truncate), "{text}");
            assert!(
                version.has(Quirk::ShiftReloads) && !version.has(Quirk::RetryMayHang),
                "{text}"
            );
        }
        assert!(version("1.0").is_known());
    }

    #[test]
    fn quirks_hold_within_their_range() {
        for (text, quirk, holds) in [
            ("0.29.9", Quirk::CountsUncachedOnly, false),
            ("0.30.0", Quirk::CountsUncachedOnly, true),
            ("0.30.1", Quirk::CountsUncachedOnly, false),
            ("0.32.14", Quirk::RetryMayHang, true),
            ("0.32.15", Quirk::RetryMayHang, false),
            ("0.32.3", Quirk::PsWaitsForLoad, false),
            ("0.32.4", Quirk::PsWaitsForLoad, true),
        ] {
            assert_eq!(version(text).has(quirk), holds, "{text} {quirk:?}");
        }
    }

    #[test]
    fn shift_is_sent_only_where_it_costs_nothing() {
        for (text, shift) in [
            ("0.12.5", None),
            ("0.12.6", Some(false)),
            ("0.24.0", Some(false)),
            ("0.30.0", None),
            ("0.0.0", None),
        ] {
            assert_eq!(version(text).shift(), shift, "{text}");
        }
    }
}
