//! `options`: a wrong type is refused, an unknown name is let through.

use std::collections::BTreeMap;

use crate::gojson::Json;

/// The types an option may have, in the words of the refusal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Boolean,
    Strings,
}

/// Every option the server knows, with its type.
const KNOWN: [(&str, Kind); 24] = [
    ("num_keep", Kind::Integer),
    ("seed", Kind::Integer),
    ("num_predict", Kind::Integer),
    ("top_k", Kind::Integer),
    ("top_p", Kind::Float),
    ("min_p", Kind::Float),
    ("typical_p", Kind::Float),
    ("repeat_last_n", Kind::Integer),
    ("temperature", Kind::Float),
    ("repeat_penalty", Kind::Float),
    ("presence_penalty", Kind::Float),
    ("frequency_penalty", Kind::Float),
    ("mirostat", Kind::Integer),
    ("mirostat_tau", Kind::Float),
    ("mirostat_eta", Kind::Float),
    ("penalize_newline", Kind::Boolean),
    ("stop", Kind::Strings),
    ("num_ctx", Kind::Integer),
    ("num_batch", Kind::Integer),
    ("num_gpu", Kind::Integer),
    ("main_gpu", Kind::Integer),
    ("use_mmap", Kind::Boolean),
    ("num_thread", Kind::Integer),
    ("draft_num_predict", Kind::Integer),
];

/// The options whose change loads the model again.
const LOAD_TIME: [&str; 7] = [
    "num_ctx",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "use_mmap",
    "num_thread",
    "draft_num_predict",
];

/// What the server understood of `options`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    numbers: BTreeMap<String, f64>,
    /// Names it does not know.
    pub(crate) unknown: Vec<String>,
    /// `stop`, when given.
    pub(crate) stop: Vec<String>,
}

impl Options {
    /// Reads the object; the error is the server's text, to be sent with status 500.
    pub(crate) fn read(fields: &[(String, Json)]) -> Result<Self, String> {
        let mut options = Self::default();
        for (name, value) in fields {
            let Some((_, kind)) = KNOWN.iter().find(|(known, _)| known == name) else {
                options.unknown.push(name.clone());
                continue;
            };
            options.set(name, *kind, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, kind: Kind, value: &Json) -> Result<(), String> {
        match (kind, value) {
            (_, Json::Null) => {}
            (Kind::Integer, Json::Number(text)) => {
                self.numbers
                    .insert(name.to_owned(), text.parse::<f64>().unwrap_or_default().trunc());
            }
            (Kind::Float, Json::Number(text)) => {
                self.numbers
                    .insert(name.to_owned(), text.parse().unwrap_or_default());
            }
            (Kind::Boolean, Json::Bool(on)) => {
                self.numbers.insert(name.to_owned(), f64::from(u8::from(*on)));
            }
            (Kind::Strings, Json::Array(items)) => {
                self.stop = items
                    .iter()
                    .map(|item| stop_word(name, item))
                    .collect::<Result<_, _>>()?;
            }
            (Kind::Integer, _) => return Err(format!("option {name:?} must be of type integer")),
            (Kind::Float, _) => return Err(format!("option {name:?} must be of type float32")),
            (Kind::Boolean, _) => return Err(format!("option {name:?} must be of type boolean")),
            (Kind::Strings, _) => return Err(format!("option {name:?} must be of type array")),
        }
        Ok(())
    }

    /// An integer option, when given.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "options are small, and Go truncates them the same way"
    )]
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        self.numbers.get(name).map(|n| *n as i64)
    }

    /// The load-time options that were given, but `num_ctx`, as one comparable text. `num_gpu` −1 matches
    /// anything, so it is left out.
    pub(crate) fn load_key(&self) -> String {
        let given = LOAD_TIME
            .iter()
            .filter(|name| **name != "num_ctx")
            .filter_map(|name| {
                let value = self.integer(name)?;
                (!(*name == "num_gpu" && value == -1)).then(|| format!("{name}={value}"))
            });
        given.collect::<Vec<_>>().join(" ")
    }
}

fn stop_word(name: &str, item: &Json) -> Result<String, String> {
    match item {
        Json::String(text) => Ok(text.clone()),
        _ => Err(format!("option {name:?} must be of an array of strings")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: Json) -> Result<Options, String> {
        Options::read(&[(name.to_owned(), value)])
    }

    #[test]
    fn a_wrong_type_is_refused_and_a_wrong_name_is_not() {
        let refused = read("num_ctx", Json::String("abc".into()));
        assert_eq!(
            refused,
            Err("option \"num_ctx\" must be of type integer".to_owned())
        );
        let float = read("num_ctx", Json::Number("512.0".into())).unwrap();
        assert_eq!(float.integer("num_ctx"), Some(512));
        assert_eq!(
            read("nonsense", Json::Number("1".into())).unwrap().unknown,
            ["nonsense"]
        );
    }
}
