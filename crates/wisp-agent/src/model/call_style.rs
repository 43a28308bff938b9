//! How a model makes calls: as calls of the server's API, as text that is read, or held to a schema.

use std::collections::BTreeMap;

use wisp_config::Config;
use wisp_ollama::{Show, same_model};

/// Models of fewer parameters are guided unless something else is known or set: their own calls fail more often than not.
pub const SMALL: u64 = 4_000_000_000;

/// How a model makes calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallStyle {
    /// As calls of the server's API; one that comes as text is read all the same.
    #[default]
    Native,
    /// As text, which is what wisp expects of it.
    Text,
    /// Each reply is an action or the answer, held to a schema.
    Guided,
}

impl CallStyle {
    /// Reads `native`, `text` and `guided`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "native" => Some(Self::Native),
            "text" => Some(Self::Text),
            "guided" => Some(Self::Guided),
            _ => None,
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Text => "text",
            Self::Guided => "guided",
        }
    }

    /// How a model makes calls: as it is set, else as a check saw it, else by its size.
    pub fn of(show: &Show, name: &str, set: &CallSettings, checked: Option<Self>) -> Self {
        let by_size = || {
            if is_small(show) && !show.is_cloud(name) {
                Self::Guided
            } else {
                Self::Native
            }
        };
        set.of(name).or(checked).unwrap_or_else(by_size)
    }
}

/// Which tools a model is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// The few that a small model uses well, with the arguments they need.
    Lean,
    /// All.
    #[default]
    Full,
}

impl ToolSet {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Lean => "lean",
            Self::Full => "full",
        }
    }

    /// The set of a model: as it is set, else by its size.
    pub fn of(show: &Show, name: &str, set: &CallSettings) -> Self {
        let small = || is_small(show) && !show.is_cloud(name);
        match set.tools.as_str() {
            "lean" => Self::Lean,
            "full" => Self::Full,
            _ if small() => Self::Lean,
            _ => Self::Full,
        }
    }
}

/// What the person set: how models call, by their names, and `tools.set`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSettings {
    /// How a model makes calls.
    pub calls: BTreeMap<String, CallStyle>,
    /// `auto`, `lean` or `full`.
    pub tools: String,
}

impl CallSettings {
    /// What a configuration says.
    pub fn of_config(config: &Config) -> Self {
        let set = config.calls().into_iter();
        Self {
            calls: set
                .filter_map(|(name, word)| Some((name, CallStyle::parse(&word)?)))
                .collect(),
            tools: config.tool_set(),
        }
    }

    /// What is set for a model.
    pub fn of(&self, name: &str) -> Option<CallStyle> {
        let found = self.calls.iter().find(|(set, _)| same_model(set, name));
        found.map(|(_, way)| *way)
    }
}

/// Whether a model has so few parameters that it is treated as a small one.
pub fn is_small(show: &Show) -> bool {
    parameters(show).is_some_and(|count| count < SMALL)
}

/// The parameters of a model, by its file's metadata, else as the server words them (`1.5B`, `494.03M`).
pub fn parameters(show: &Show) -> Option<u64> {
    let counted = show.model_info.fields().get("general.parameter_count");
    let counted = counted
        .and_then(serde_json::Value::as_u64)
        .filter(|count| *count > 0);
    counted.or_else(|| worded(&show.details.parameter_size))
}

fn worded(size: &str) -> Option<u64> {
    let size = size.trim();
    let (number, unit) = size.split_at(size.find(|c: char| c.is_ascii_alphabetic())?);
    let unit = match unit.trim().to_ascii_uppercase().as_str() {
        "K" => 1e3,
        "M" => 1e6,
        "B" => 1e9,
        "T" => 1e12,
        _ => return None,
    };
    let count = number.trim().parse::<f64>().ok()? * unit;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be within the type"
    )]
    (count.is_finite() && (1.0..1e18).contains(&count)).then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn show(value: serde_json::Value) -> Show {
        serde_json::from_value(value).expect("reads")
    }

    #[test]
    fn the_size_decides_where_nothing_is_set() {
        let sized = |size: &str| show(json!({"details": {"parameter_size": size}}));
        let none = CallSettings::default();
        assert_eq!(CallStyle::of(&sized("1.5B"), "m", &none, None), CallStyle::Guided);
        assert_eq!(
            CallStyle::of(&sized("494.03M"), "m", &none, None),
            CallStyle::Guided
        );
        assert_eq!(CallStyle::of(&sized("4.0B"), "m", &none, None), CallStyle::Native);
        assert_eq!(CallStyle::of(&sized("7.6B"), "m", &none, None), CallStyle::Native);
        assert_eq!(CallStyle::of(&sized(""), "m", &none, None), CallStyle::Native);
        let counted = show(json!({"model_info": {"general.parameter_count": 3_999_999_999_u64}}));
        assert_eq!(CallStyle::of(&counted, "m", &none, None), CallStyle::Guided);
        let away = show(json!({"details": {"parameter_size": "1B"}, "remote_host": "https://ollama.com"}));
        assert_eq!(CallStyle::of(&away, "m", &none, None), CallStyle::Native);
        assert_eq!(
            CallStyle::of(&sized("1.5B"), "m", &none, Some(CallStyle::Native)),
            CallStyle::Native
        );
        assert_eq!(
            CallStyle::of(&sized("8.0B"), "m", &none, Some(CallStyle::Guided)),
            CallStyle::Guided
        );
    }

    #[test]
    fn what_is_set_wins() {
        let calls = BTreeMap::from([
            ("tiny".to_owned(), CallStyle::Native),
            ("big".to_owned(), CallStyle::Guided),
        ]);
        let set = CallSettings {
            calls,
            tools: "full".to_owned(),
        };
        let small = show(json!({"details": {"parameter_size": "1.5B"}}));
        assert_eq!(
            CallStyle::of(&small, "tiny:latest", &set, None),
            CallStyle::Native
        );
        assert_eq!(
            CallStyle::of(&show(json!({})), "big", &set, None),
            CallStyle::Guided
        );
        assert_eq!(ToolSet::of(&small, "tiny", &set), ToolSet::Full);
        assert_eq!(
            ToolSet::of(&small, "tiny", &CallSettings::default()),
            ToolSet::Lean
        );
        assert_eq!(
            ToolSet::of(&show(json!({})), "big", &CallSettings::default()),
            ToolSet::Full
        );
    }
}
