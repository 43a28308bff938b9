//! How much a command may do, and why it is thought so.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a command may do. Ordered: a higher level needs more consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It is known to read only.
    Safe,
    /// It changes something, or nothing is known about it.
    Moderate,
    /// It can destroy, publish or give away what cannot be had back, or it cannot be read.
    Dangerous,
}

impl Level {
    /// The level as a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Moderate => "moderate",
            Self::Dangerous => "dangerous",
        }
    }
}

/// The lowest level at which a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    /// Asked from this level on.
    From(Level),
    /// Never asked; everything is still judged and recorded.
    Never,
}

impl Threshold {
    /// Whether something of this level needs a person's answer.
    pub fn asks(self, level: Level) -> bool {
        match self {
            Self::From(from) => level >= from,
            Self::Never => false,
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    /// Reads `safe`, `moderate`, `dangerous` or `never`.
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "safe" => Ok(Self::From(Level::Safe)),
            "moderate" => Ok(Self::From(Level::Moderate)),
            "dangerous" => Ok(Self::From(Level::Dangerous)),
            "never" => Ok(Self::Never),
            other => Err(format!(
                "not a threshold: {other}; use safe, moderate, dangerous or never"
            )),
        }
    }
}

/// A judgement: a level and the reasons for it, most serious first, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The level.
    pub level: Level,
    /// Why, each a phrase without a full stop.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// The highest of several findings with all their reasons; `otherwise` when there are none.
    pub(crate) fn of(mut findings: Vec<(Level, String)>, otherwise: (Level, &str)) -> Self {
        if findings.is_empty() {
            findings.push((otherwise.0, otherwise.1.to_owned()));
        }
        findings.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        let level = findings[0].0;
        let mut reasons: Vec<String> = Vec::new();
        for (_, reason) in findings {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Self { level, reasons }
    }
}
