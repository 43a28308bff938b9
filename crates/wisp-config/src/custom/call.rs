//! One call of a custom tool: what the model wrote, read as the declaration has it, in its places of the line.
//!
//! Small models quote numbers and give numbers for texts. That is put right without a word; a missing argument or one of
//! another type is answered, and nothing runs.

use serde_json::{Map, Value};

use super::{Argument, CustomTool, Type, quoted};

impl CustomTool {
    /// The shell line for a call with these arguments (null counts as none): texts quoted so that the shell takes them as
    /// they are, numbers and `true` and `false` as written. The error is for the model.
    ///
    /// ```
    /// let rows = serde_json::json!([{
    ///     "name": "find_text", "description": "Find a text", "command": "grep -rn -e {text} .",
    ///     "arguments": {"text": {"type": "string"}}
    /// }]);
    /// let tools = wisp_config::custom::read(rows.as_array().unwrap()).unwrap();
    /// let line = tools[0].line(&serde_json::json!({"text": "it's $(here)"})).unwrap();
    /// assert_eq!(line, r"grep -rn -e 'it'\''s $(here)' .");
    /// ```
    pub fn line(&self, given: &Value) -> Result<String, String> {
        let none = Map::new();
        let given = match given {
            Value::Object(given) => given,
            Value::Null => &none,
            _ => return Err("the arguments must be a JSON object".to_owned()),
        };
        let mut words: Vec<(&str, String)> = Vec::new();
        for argument in &self.arguments {
            words.push((&argument.name, argument.word(given.get(&argument.name))?));
        }
        let word_of = |name: &str| {
            let found = words.iter().find(|(argument, _)| *argument == name);
            let (_, word) = found.expect("every place has its argument, as was checked");
            word.clone()
        };
        Ok(self.command.fill(word_of))
    }
}

impl Argument {
    /// The word that stands in the line for a value.
    fn word(&self, given: Option<&Value>) -> Result<String, String> {
        let given = given.filter(|value| !value.is_null()).or(self.default.as_ref());
        let given = given.ok_or_else(|| format!("the argument {} is missing", self.name))?;
        let value = self.put_right(given);
        self.check(&value).map_err(|allowed| {
            let shown: String = given.to_string().chars().take(60).collect();
            format!("the argument {} must be {allowed}, not {shown}", self.name)
        })?;
        Ok(match value {
            Value::String(text) => quoted(&text),
            other => other.to_string(),
        })
    }

    fn put_right(&self, given: &Value) -> Value {
        let read = match (self.kind, given) {
            (Type::Text, Value::Number(_) | Value::Bool(_)) => Some(Value::from(given.to_string())),
            (Type::Integer, Value::Number(number)) => number.as_f64().and_then(whole).map(Value::from),
            (Type::Integer, Value::String(text)) => text.trim().parse().ok().map(|n: i64| Value::from(n)),
            (Type::Number, Value::String(text)) => text.trim().parse().ok().map(|n: f64| Value::from(n)),
            (Type::Boolean, Value::String(text)) => {
                text.trim().to_ascii_lowercase().parse().ok().map(Value::Bool)
            }
            _ => None,
        };
        read.unwrap_or_else(|| given.clone())
    }
}

/// A float that is a whole number, as models write `5.0`, where it is exact.
fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::custom::read;

    fn tool() -> CustomTool {
        let row = json!({
            "name": "t", "description": "d", "command": "run {text} {whole} {number} {flag} {word}",
            "arguments": {
                "text": {}, "whole": {"type": "integer"}, "number": {"type": "number", "default": 0.5},
                "flag": {"type": "boolean", "default": false}, "word": {"enum": ["a b", "c"], "default": "c"}
            }
        });
        read(&[row]).unwrap().remove(0)
    }

    #[test]
    fn texts_are_quoted_and_numbers_are_not() {
        let line =
            tool().line(&json!({"text": "a'b; rm -rf $HOME `x` {whole}\n-", "whole": -3, "word": "a b"}));
        assert_eq!(
            line.unwrap(),
            "run 'a'\\''b; rm -rf $HOME `x` {whole}\n-' -3 0.5 false 'a b'"
        );
    }

    #[test]
    fn what_a_small_model_writes_is_put_right() {
        let line =
            tool().line(&json!({"text": 7, "whole": "12", "number": "1.25", "flag": "True", "word": null}));
        assert_eq!(line.unwrap(), "run '7' 12 1.25 true 'c'");
        assert_eq!(
            tool().line(&json!({"text": "", "whole": 5.0})).unwrap(),
            "run '' 5 0.5 false 'c'"
        );
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_named() {
        let said = |given: Value| tool().line(&given).unwrap_err();
        assert_eq!(said(json!({"text": "x"})), "the argument whole is missing");
        assert_eq!(said(json!(null)), "the argument text is missing");
        assert_eq!(said(json!([1])), "the arguments must be a JSON object");
        assert_eq!(
            said(json!({"text": "x", "whole": 1.5})),
            "the argument whole must be a whole number, not 1.5"
        );
        assert_eq!(
            said(json!({"text": "x", "whole": "1; ls"})),
            "the argument whole must be a whole number, not \"1; ls\""
        );
        assert_eq!(
            said(json!({"text": "x", "whole": 1, "number": "nan"})),
            "the argument number must be a number, not \"nan\""
        );
        assert_eq!(
            said(json!({"text": "x", "whole": 1, "word": "d"})),
            "the argument word must be one of a b, c, not \"d\""
        );
        assert_eq!(
            said(json!({"text": "a\u{0}", "whole": 1})),
            "the argument text must be a text without NUL, not \"a\\u0000\""
        );
        assert_eq!(
            said(json!({"text": ["a"], "whole": 1})),
            "the argument text must be a text without NUL, not [\"a\"]"
        );
    }
}
