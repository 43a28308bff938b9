//! What of a wish this server and this model can be sent: thinking and the penalty on repetition, by version.
//!
//! A wish that cannot be met is met as nearly as possible rather than refused: a level becomes "on" where levels are
//! not known, and nothing is sent where the field would be a 400.

use crate::request::Think;
use crate::show::Show;
use crate::version::{Feature, Quirk, ServerVersion};

/// What to send as `think`. `None` is to leave it out: the server does not know it, or the model cannot.
pub fn think(wish: Think, version: &ServerVersion, show: &Show) -> Option<Think> {
    if !version.supports(Feature::Think) {
        return None;
    }
    let able = show.can("thinking") != Some(false);
    match wish {
        Think::Off => Some(Think::Off),
        _ if !able => None,
        Think::On => Some(Think::On),
        level if takes_levels(version, show) => Some(known_level(level, version)),
        _ => Some(Think::On),
    }
}

/// What to send as `think` with a request that has a `format`: off, so that the reply is the object and nothing is
/// spent before it; left out where off would leave `format` without effect.
pub fn think_with_format(version: &ServerVersion, show: &Show) -> Option<Think> {
    let unenforced = version.has(Quirk::FormatNeedsThink);
    (!unenforced).then(|| think(Think::Off, version, show)).flatten()
}

/// What to send as `repeat_penalty`: none at all (1.0) to servers whose own default damages code and JSON, unless the
/// model's maker set one.
pub fn repeat_penalty(version: &ServerVersion, show: &Show) -> Option<f64> {
    let own = show.parameter("repeat_penalty").is_some();
    let harmless = version.surely_supports(Feature::NoRepeatPenalty);
    (!own && !harmless).then_some(1.0)
}

fn takes_levels(version: &ServerVersion, show: &Show) -> bool {
    let gpt_oss = show.details.family.starts_with("gptoss") || show.details.family.starts_with("gpt-oss");
    version.supports(Feature::ThinkLevel) || (gpt_oss && version.supports(Feature::ThinkLevelGptOss))
}

fn known_level(level: Think, version: &ServerVersion) -> Think {
    match level {
        Think::Max if !version.supports(Feature::ThinkMax) => Think::High,
        level => level,
    }
}

#[cfg(test)]
mod tests {
    use super::{repeat_penalty, think, think_with_format};
    use crate::request::Think;
    use crate::show::Show;
    use crate::version::ServerVersion;
    use serde_json::json;

    fn show(capabilities: &[&str], family: &str, parameters: &str) -> Show {
        serde_json::from_value(json!({
            "capabilities": capabilities, "details": {"family": family}, "parameters": parameters
        }))
        .expect("reads")
    }

    #[test]
    fn a_wish_is_met_as_nearly_as_the_server_can() {
        let (able, unable, oss) = (
            show(&["completion", "thinking"], "qwen3", ""),
            show(&["completion"], "llama", ""),
            show(&["thinking"], "gptoss", ""),
        );
        for (version, model, wish, sent) in [
            ("0.8.0", &able, Think::On, None),
            ("0.9.0", &able, Think::On, Some(Think::On)),
            ("0.9.0", &unable, Think::On, None),
            ("0.9.0", &unable, Think::Off, Some(Think::Off)),
            ("0.11.0", &able, Think::High, Some(Think::On)),
            ("0.10.9", &oss, Think::High, Some(Think::On)),
            ("0.11.0", &oss, Think::High, Some(Think::High)),
            ("0.18.0", &able, Think::Low, Some(Think::Low)),
            ("0.18.0", &able, Think::Max, Some(Think::High)),
            ("0.22.0", &able, Think::Max, Some(Think::Max)),
            ("0.22.0", &unable, Think::Max, None),
        ] {
            let found = think(wish, &ServerVersion::parse(version), model);
            assert_eq!(found, sent, "{version} {wish:?} {}", model.details.family);
        }
    }

    #[test]
    fn thinking_is_turned_off_for_a_schema_only_where_the_schema_is_still_obeyed() {
        let model = show(&["completion", "thinking"], "qwen3", "");
        for (version, sent) in [
            ("0.8.0", None),
            ("0.9.0", None),
            ("0.24.0", None),
            ("0.31.1", None),
            ("0.31.2", Some(Think::Off)),
            ("0.32.15", Some(Think::Off)),
        ] {
            let found = think_with_format(&ServerVersion::parse(version), &model);
            assert_eq!(found, sent, "{version}");
        }
    }

    #[test]
    fn the_penalty_is_taken_away_where_it_does_harm() {
        let plain = show(&[], "x", "");
        let own = show(&[], "x", "repeat_penalty                 1.05");
        let sent = |version, show| repeat_penalty(&ServerVersion::parse(version), show);
        assert_eq!(sent("0.32.9", &plain), Some(1.0));
        assert_eq!(sent("0.32.10", &plain), None);
        assert_eq!(sent("0.0.0", &plain), Some(1.0));
        assert_eq!(sent("0.32.9", &own), None);
    }
}
