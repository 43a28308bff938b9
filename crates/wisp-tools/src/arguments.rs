//! What a tool is called with: a flat table of parameters, from which the schema is written and by which a model's
//! JSON is read.
//!
//! Ollama keeps only `type`, `description`, `enum`, `items` and `required` of a tool's schema and drops the rest
//! without a word, so a parameter here is a string, an integer, a boolean or a list of strings, and its limits stand
//! in its description. The table is written once beside the fields with [`arguments!`](crate::arguments!), so that a
//! schema and the type it describes cannot drift apart.
//!
//! Small models leave out required arguments and quote numbers. What has one meaning is read (`"5"` is 5, a text where
//! a list is due is a list of one); a required argument that is missing or null is an error before anything is asked or
//! done, since a text nobody gave is not the empty text.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// The JSON type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list of strings.
    Texts,
    /// A list of anything; only of tools whose definition is not wisp's.
    List,
    /// An object; only of such tools.
    Object,
    /// Anything; only of such tools.
    Any,
}

impl Kind {
    /// The type's name in JSON schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Texts | Self::List => "array",
            Self::Object => "object",
            Self::Any => "any",
        }
    }

    /// An argument of this type as JSON, for a model to copy: `"line": 3`.
    fn such(self, name: &str) -> String {
        let value = match self {
            Self::Text => r#""text in quotes""#,
            Self::Integer | Self::Number => "3",
            Self::Boolean => "true",
            Self::Texts => r#"["text", "text"]"#,
            Self::List => "[…]",
            Self::Object => "{…}",
            Self::Any => "…",
        };
        format!("{name:?}: {value}")
    }
}

/// One parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: Cow<'static, str>,
    /// Its type.
    pub kind: Kind,
    /// Whether a call must give it.
    pub required: bool,
    /// One line for the model: meaning, form, default.
    pub description: Cow<'static, str>,
    /// The texts it may be; empty for any.
    pub one_of: Cow<'static, [String]>,
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = json!({"type": self.kind.name(), "description": self.description});
        if self.kind == Kind::Any {
            schema = json!({"description": self.description});
        }
        if self.kind == Kind::Texts {
            schema["items"] = json!({"type": "string"});
        }
        if !self.one_of.is_empty() {
            schema["enum"] = json!(self.one_of);
        }
        schema
    }
}

/// The JSON schema of a table of parameters, keys in the table's order.
pub fn schema(parameters: &[Parameter]) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|p| (p.name.to_string(), p.schema()))
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|p| p.required)
        .map(|p| &*p.name)
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The most of a call's unknown names that are told back, and of how many characters.
const UNKNOWN: (usize, usize) = (3, 40);

/// What a call gives besides a tool's parameters, in words: `wait has no argument "secs"; it takes seconds`. Null
/// counts as not given. None when the call gives nothing but parameters.
///
/// ```
/// use wisp_tools::arguments::{Kind, Parameter, unknown};
/// let takes = [Parameter {
///     name: "seconds".into(), kind: Kind::Integer, required: true, description: "".into(), one_of: [][..].into(),
/// }];
/// let said = unknown("wait", &takes, &serde_json::json!({"secs": 5}));
/// assert_eq!(said.unwrap(), r#"wait has no argument "secs"; it takes seconds"#);
/// assert_eq!(unknown("wait", &takes, &serde_json::json!({"seconds": 5, "why": null})), None);
/// ```
pub fn unknown(tool: &str, parameters: &[Parameter], given: &Value) -> Option<String> {
    let given = given.as_object()?;
    let names: Vec<&String> = given
        .iter()
        .filter(|(name, value)| !value.is_null() && parameters.iter().all(|p| p.name != **name))
        .map(|(name, _)| name)
        .collect();
    if names.is_empty() {
        return None;
    }
    let (most, chars) = UNKNOWN;
    let mut shown: Vec<String> = names
        .iter()
        .take(most)
        .map(|name| format!("{:?}", name.chars().take(chars).collect::<String>()))
        .collect();
    if names.len() > most {
        shown.push(format!("{} more", names.len() - most));
    }
    let plural = if names.len() == 1 { "" } else { "s" };
    let known: Vec<&str> = parameters.iter().map(|p| &*p.name).collect();
    let known = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Some(format!(
        "{tool} has no argument{plural} {}; it takes {known}",
        shown.join(", ")
    ))
}

/// What a call leaves out of a tool's required parameters, in words: `wait needs the argument seconds (integer): How
/// long`. Null counts as not given, arguments that are no object as none. None when nothing is left out.
///
/// ```
/// use wisp_tools::arguments::{Kind, Parameter, missing};
/// let takes = [Parameter {
///     name: "seconds".into(), kind: Kind::Integer, required: true, description: "How long".into(), one_of: [][..].into(),
/// }];
/// let said = missing("wait", &takes, &serde_json::json!({"seconds": null}));
/// assert_eq!(said.unwrap(), "wait needs the argument seconds (integer): How long");
/// assert_eq!(missing("wait", &takes, &serde_json::json!({"seconds": 5})), None);
/// ```
pub fn missing(tool: &str, parameters: &[Parameter], given: &Value) -> Option<String> {
    let left_out: Vec<String> = parameters
        .iter()
        .filter(|p| p.required && given.get(&*p.name).is_none_or(Value::is_null))
        .map(|p| {
            let kind = if p.one_of.is_empty() {
                p.kind.name().to_owned()
            } else {
                format!("one of {}", p.one_of.join(", "))
            };
            let about = if p.description.is_empty() { "" } else { ": " };
            format!("{} ({kind}){about}{}", p.name, p.description)
        })
        .collect();
    let plural = if left_out.len() == 1 { "" } else { "s" };
    (!left_out.is_empty()).then(|| format!("{tool} needs the argument{plural} {}", left_out.join("; ")))
}

/// What a tool takes, in words: `wait takes an object {"seconds": …}; needed: seconds (integer)`.
pub fn takes(tool: &str, parameters: &[Parameter]) -> String {
    if parameters.is_empty() {
        return format!("{tool} takes no arguments: give {{}}");
    }
    let (needed, optional): (Vec<&Parameter>, Vec<&Parameter>) = parameters.iter().partition(|p| p.required);
    let names = |list: &[&Parameter]| {
        let each = list.iter().map(|p| format!("{} ({})", p.name, p.kind.name()));
        each.collect::<Vec<_>>().join(", ")
    };
    let such = needed
        .iter()
        .map(|p| format!("{:?}: …", p.name))
        .collect::<Vec<_>>()
        .join(", ");
    let optional = if optional.is_empty() {
        String::new()
    } else {
        format!("; optional: {}", names(&optional))
    };
    let needed = if needed.is_empty() {
        "nothing".to_owned()
    } else {
        names(&needed)
    };
    format!("{tool} takes an object {{{such}}}; needed: {needed}{optional}")
}

/// Why a call's arguments could not be used. The text goes to the model with the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The arguments are no JSON object.
    #[error("the arguments must be a JSON object: give {{\"name\": value, …}}")]
    NotAnObject,
    /// A required argument is missing.
    #[error("the argument {0} is missing: make the call again with {0}")]
    Missing(&'static str),
    /// An argument has a type that cannot be read as the parameter's.
    #[error("the argument {name} must be {kind}, not {given}: make the call again with {such}", kind = kind.name(), such = kind.such(name))]
    Type {
        /// The parameter's name.
        name: &'static str,
        /// What it must be.
        kind: Kind,
        /// What was given, as JSON, cut.
        given: String,
    },
}

/// A field's type as a parameter: its kind, whether it is required, and how a value is read.
pub trait ParameterType: Sized {
    /// The JSON type.
    const KIND: Kind;
    /// Whether a call must give it.
    const REQUIRED: bool;
    /// Reads a value; `None` when it is of another type. `Value::Null` means "not given".
    fn read(value: &Value) -> Option<Self>;
}

impl ParameterType for String {
    const KIND: Kind = Kind::Text;
    const REQUIRED: bool = true;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(on) => Some(on.to_string()),
            _ => None,
        }
    }
}

impl ParameterType for i64 {
    const KIND: Kind = Kind::Integer;
    const REQUIRED: bool = true;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => text.trim().parse().ok(),
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            _ => None,
        }
    }
}

/// A float that is a whole number, as models write `5.0`.
fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

impl ParameterType for bool {
    const KIND: Kind = Kind::Boolean;
    const REQUIRED: bool = true;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(on) => Some(*on),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" => Some(false),
                _ => None,
            },
            Value::Number(number) => match number.as_i64() {
                Some(1) => Some(true),
                Some(0) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

impl ParameterType for Vec<String> {
    const KIND: Kind = Kind::Texts;
    const REQUIRED: bool = true;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) => items.iter().map(String::read).collect(),
            // A list in quotes, else one text.
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Array(items)) => items.iter().map(String::read).collect(),
                _ => Some(vec![text.clone()]),
            },
            _ => None,
        }
    }
}

impl<T: ParameterType> ParameterType for Option<T> {
    const KIND: Kind = T::KIND;
    const REQUIRED: bool = false;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            // Models give an optional number they do not want as "".
            Value::String(text) if text.is_empty() && T::KIND != Kind::Text => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

/// Reads one argument of a call, put right where that is safe.
pub fn read<T: ParameterType>(given: &Map<String, Value>, name: &'static str) -> Result<T, ArgumentError> {
    let value = match given.get(name) {
        Some(Value::Null) | None if T::REQUIRED => return Err(ArgumentError::Missing(name)),
        None => Value::Null,
        Some(value) => value.clone(),
    };
    T::read(&value).ok_or_else(|| ArgumentError::Type {
        name,
        kind: T::KIND,
        given: cut(&value),
    })
}

fn cut(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(60).collect()
}

/// A type that a tool can be called with.
pub trait Arguments: Sized {
    /// The parameters, in the order of the schema.
    const PARAMETERS: &'static [Parameter];
    /// Reads a model's arguments.
    fn from_map(given: &Map<String, Value>) -> Result<Self, ArgumentError>;

    /// Reads a model's arguments from any JSON value; null counts as no arguments.
    fn from_value(given: &Value) -> Result<Self, ArgumentError> {
        match given {
            Value::Object(map) => Self::from_map(map),
            Value::Null => Self::from_map(&Map::new()),
            _ => Err(ArgumentError::NotAnObject),
        }
    }
}

/// Declares a tool's arguments: each field with its name on the wire and its line for the model.
///
/// ```
/// use wisp_tools::arguments::Arguments;
/// wisp_tools::arguments! {
///     /// What `greet` is called with.
///     pub struct Greet {
///         name: String = "name", "Whom to greet";
///         times: Option<i64> = "times", "How often (default 1)";
///     }
/// }
/// let greet = Greet::from_value(&serde_json::json!({"name": "Ada", "times": "2"})).unwrap();
/// assert_eq!((greet.name.as_str(), greet.times), ("Ada", Some(2)));
/// ```
#[macro_export]
macro_rules! arguments {
    ($(#[$doc:meta])* $vis:vis struct $type:ident { $($field:ident : $kind:ty = $name:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(rustdoc::broken_intra_doc_links, reason = "brackets in a line for a model are no links")]
        #[allow(clippy::doc_markdown, reason = "the lines are for a model, which reads no markdown")]
        $vis struct $type { $(#[doc = $text] pub $field: $kind,)* }

        impl $crate::arguments::Arguments for $type {
            const PARAMETERS: &'static [$crate::arguments::Parameter] = &[$(
                $crate::arguments::Parameter {
                    name: ::std::borrow::Cow::Borrowed($name),
                    kind: <$kind as $crate::arguments::ParameterType>::KIND,
                    required: <$kind as $crate::arguments::ParameterType>::REQUIRED,
                    description: ::std::borrow::Cow::Borrowed($text),
                    one_of: ::std::borrow::Cow::Borrowed(&[]),
                },
            )*];

            fn from_map(
                given: &::serde_json::Map<String, ::serde_json::Value>,
            ) -> Result<Self, $crate::arguments::ArgumentError> {
                let _ = given;
                Ok(Self { $($field: $crate::arguments::read(given, $name)?,)* })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    arguments! {
        /// For the tests.
        struct Sample {
            text: String = "text", "A text";
            count: i64 = "count", "A number";
            flag: bool = "flag", "A switch";
            list: Vec<String> = "list", "Texts";
            maybe: Option<i64> = "maybe", "Perhaps a number";
        }
    }

    #[test]
    fn the_schema_is_flat_and_keeps_the_tables_order() {
        let text = schema(Sample::PARAMETERS).to_string();
        assert_eq!(
            text,
            r#"{"type":"object","properties":{"text":{"type":"string","description":"A text"},"count":{"type":"integer","description":"A number"},"flag":{"type":"boolean","description":"A switch"},"list":{"type":"array","description":"Texts","items":{"type":"string"}},"maybe":{"type":"integer","description":"Perhaps a number"}},"required":["text","count","flag","list"]}"#
        );
    }

    #[test]
    fn what_has_one_meaning_is_read() {
        let given = json!({"text": 5, "count": "7", "flag": "True", "list": "one", "maybe": ""});
        let right = Sample {
            text: "5".to_owned(),
            count: 7,
            flag: true,
            list: vec!["one".to_owned()],
            maybe: None,
        };
        assert_eq!(Sample::from_value(&given).unwrap(), right);
    }

    #[test]
    fn a_required_argument_that_is_missing_or_null_is_named_with_what_it_is() {
        let said = |given: Value| missing("sample", Sample::PARAMETERS, &given);
        assert_eq!(
            said(json!({"text": "", "count": 0, "flag": false, "list": []})),
            None
        );
        assert_eq!(
            said(json!({"text": null, "count": 1, "flag": true, "list": []})).unwrap(),
            "sample needs the argument text (string): A text"
        );
        assert_eq!(
            said(json!({"text": "x", "count": 1})).unwrap(),
            "sample needs the arguments flag (boolean): A switch; list (array): Texts"
        );
        assert!(
            said(Value::Null)
                .unwrap()
                .starts_with("sample needs the arguments text (string)")
        );
        let sample = Sample::from_value(&json!({"count": 1, "flag": true, "list": []}));
        assert_eq!(sample, Err(ArgumentError::Missing("text")));
    }

    #[test]
    fn what_a_tool_takes_is_told_with_an_example() {
        assert_eq!(
            takes("sample", &Sample::PARAMETERS[3..]),
            r#"sample takes an object {"list": …}; needed: list (array); optional: maybe (integer)"#
        );
        assert_eq!(takes("now", &[]), "now takes no arguments: give {}");
        assert_eq!(
            takes("now", &Sample::PARAMETERS[4..]),
            "now takes an object {}; needed: nothing; optional: maybe (integer)"
        );
    }

    #[test]
    fn what_is_no_parameter_is_told_back_bounded_with_what_is() {
        let said = |given: Value| unknown("sample", Sample::PARAMETERS, &given);
        assert_eq!(said(json!({"text": "x", "maybe": 1, "count": 1})), None);
        assert_eq!(said(json!({"other": null})), None);
        assert_eq!(said(json!([1])), None);
        assert_eq!(
            said(json!({"text": "x", "a\nb": 1})).unwrap(),
            r#"sample has no argument "a\nb"; it takes text, count, flag, list, maybe"#
        );
        let many: Map<String, Value> = (0..9).map(|n| (format!("x{n}"), json!(n))).collect();
        assert_eq!(
            said(Value::Object(many)).unwrap(),
            r#"sample has no arguments "x0", "x1", "x2", 6 more; it takes text, count, flag, list, maybe"#
        );
        let long = said(json!({"y".repeat(5_000): 1})).unwrap();
        assert!(
            long.starts_with(&format!("sample has no argument \"{}\";", "y".repeat(40))),
            "{long}"
        );
        assert_eq!(
            unknown("now", &[], &json!({"zone": "UTC"})).unwrap(),
            r#"now has no argument "zone"; it takes none"#
        );
    }

    #[test]
    fn a_missing_number_and_a_wrong_type_are_refused_by_name() {
        assert_eq!(
            Sample::from_value(&json!({"text": ""})),
            Err(ArgumentError::Missing("count"))
        );
        let wrong = Sample::from_value(&json!({"text": "", "count": {"a": 1}})).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            r#"the argument count must be integer, not {"a":1}: make the call again with "count": 3"#
        );
        assert_eq!(Sample::from_value(&json!([1])), Err(ArgumentError::NotAnObject));
    }
}
