//! The `think` field: absent, a boolean, or a level, by release.

use crate::gojson::Json;
use crate::profile::{Profile, ThinkField};

/// What a request says about thinking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Think {
    /// Nothing.
    #[default]
    Omitted,
    /// Off.
    Off,
    /// On.
    On,
    /// On, with a level.
    Level(String),
}

impl Think {
    /// Whether thinking is asked for, in any way.
    pub(crate) fn wanted(&self) -> bool {
        matches!(self, Self::On | Self::Level(_))
    }

    /// Reads the field; the error is the server's text.
    pub(crate) fn read(value: &Json, profile: &Profile) -> Result<Self, String> {
        match (profile.think, value) {
            (ThinkField::Absent, _) | (_, Json::Null) => Ok(Self::Omitted),
            (_, Json::Bool(on)) => Ok(if *on { Self::On } else { Self::Off }),
            (ThinkField::Bool, other) => Err(format!(
                "json: cannot unmarshal {} into Go struct field ChatRequest.think of type bool",
                other.kind()
            )),
            (field, Json::String(level)) => level_of(field, level),
            (ThinkField::LevelsGptOss, _) => {
                Err(r#"think must be a boolean or string ("high", "medium", "low")"#.to_owned())
            }
            (ThinkField::Levels, _) => Err(
                r#"think must be a boolean or string ("high", "medium", "low", "max", true, or false)"#
                    .to_owned(),
            ),
        }
    }
}

fn level_of(field: ThinkField, level: &str) -> Result<Think, String> {
    let (levels, listed): (&[&str], _) = if field == ThinkField::Levels {
        (
            &["high", "medium", "low", "max"],
            r#""high", "medium", "low", "max""#,
        )
    } else {
        (&["high", "medium", "low"], r#""high", "medium", "low""#)
    };
    if levels.contains(&level) {
        return Ok(Think::Level(level.to_owned()));
    }
    Err(format!(
        "invalid think value: {level:?} (must be {listed}, true, or false)"
    ))
}
