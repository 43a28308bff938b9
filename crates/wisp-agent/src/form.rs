//! A reply in a given form: the JSON schema of `--schema`, what the model is told of it, and whether a reply satisfies it.

use std::sync::Arc;

use boon::{Compiler, OutputUnit, SchemaIndex, Schemas, UrlLoader};
use serde_json::Value;

/// The name the schema has among its own references.
const NAME: &str = "wisp:/schema.json";
/// Characters of the reason that a model and the user are told.
const REASON_CHARS: usize = 600;

/// The form that the last reply of a turn must have. Cheap to clone.
#[derive(Clone)]
pub struct Form(Arc<Compiled>);

struct Compiled {
    /// As it is sent to the server.
    schema: Value,
    schemas: Schemas,
    index: SchemaIndex,
}

/// Why a text is not usable as a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It is JSON, but not a schema.
    #[error("it is not a JSON schema: {0}")]
    NotASchema(String),
}

/// Nothing is read from the network or from disk for a reference.
struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, _: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err("references to other documents are not followed: copy their definitions into $defs".into())
    }
}

impl Form {
    /// Reads a JSON schema. Errors: no JSON, no schema, or one that refers to another document.
    pub fn parse(text: &str) -> Result<Self, FormError> {
        let text = text.trim_start_matches('\u{feff}');
        let schema: Value = serde_json::from_str(text).map_err(|why| FormError::NotJson(why.to_string()))?;
        if !schema.is_object() {
            return Err(FormError::NotASchema("it must be an object".to_owned()));
        }
        let wrong = |why: boon::CompileError| FormError::NotASchema(short(&format!("{why:#}")));
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(Nowhere));
        compiler.add_resource(NAME, schema.clone()).map_err(wrong)?;
        let mut schemas = Schemas::new();
        let index = compiler.compile(NAME, &mut schemas).map_err(wrong)?;
        Ok(Self(Arc::new(Compiled {
            schema,
            schemas,
            index,
        })))
    }

    /// The schema, for a request's `format`.
    pub fn schema(&self) -> &Value {
        &self.0.schema
    }

    /// Whether a reply is JSON that satisfies the schema; if not, what is wrong, a line each.
    pub fn check(&self, reply: &str) -> Result<(), String> {
        let value: Value =
            serde_json::from_str(reply.trim()).map_err(|why| format!("it is not JSON: {why}"))?;
        let checked = self.0.schemas.validate(&value, self.0.index);
        checked.map_err(|error| {
            let output = error.basic_output();
            let mut lines = Vec::new();
            leaves(&output, &mut lines);
            short(&lines.join("; "))
        })
    }

    /// What the model is told at the end of the prompt.
    pub fn rule(&self) -> String {
        format!(
            "[Your final answer must be one JSON value that satisfies this JSON schema, and nothing else: {}]",
            self.0.schema
        )
    }
}

/// The errors that have no further ones below them: `at '/severity': value must be one of …`.
fn leaves(output: &OutputUnit<'_, '_, '_>, lines: &mut Vec<String>) {
    match &output.error {
        boon::OutputError::Branch(below) => {
            for one in below {
                leaves(one, lines);
            }
        }
        boon::OutputError::Leaf(kind) => {
            let at = output.instance_location.to_string();
            lines.push(if at.is_empty() {
                kind.to_string()
            } else {
                format!("at {at}: {kind}")
            });
        }
    }
}

/// A reason of bounded length.
fn short(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(REASON_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = r#"{"type":"object","properties":{"verdict":{"enum":["approve","reject"]},"lines":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["verdict","lines"],"additionalProperties":false}"#;

    #[test]
    fn a_reply_that_satisfies_the_schema_passes_with_space_around_it() {
        let form = Form::parse(REVIEW).unwrap();
        assert_eq!(
            form.check("\n {\"verdict\": \"approve\", \"lines\": [1, 2]} \n"),
            Ok(())
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let form = Form::parse(REVIEW).unwrap();
        for (reply, said) in [
            ("Looks good!", "it is not JSON: "),
            (r#"{"verdict":"maybe","lines":[]}"#, "at /verdict: "),
            (r#"{"verdict":"approve","lines":[0]}"#, "at /lines/0: "),
            (r#"{"verdict":"approve"}"#, "lines"),
            (r#"{"verdict":"approve","lines":[],"note":1}"#, "note"),
            (
                "```json\n{\"verdict\":\"approve\",\"lines\":[]}\n```",
                "it is not JSON: ",
            ),
        ] {
            let why = form.check(reply).unwrap_err();
            assert!(why.contains(said), "{reply}: {why}");
        }
    }

    #[test]
    fn references_within_the_schema_are_followed_and_others_refused() {
        let own = r##"{"$defs":{"id":{"type":"string","pattern":"^[a-z]+$"}},"type":"array","items":{"$ref":"#/$defs/id"}}"##;
        let form = Form::parse(own).unwrap();
        assert_eq!(form.check(r#"["a","b"]"#), Ok(()));
        assert!(form.check(r#"["A"]"#).is_err());
        for other in ["file:///etc/hostname", "https://example.com/s.json", "other.json"] {
            let text = format!(r#"{{"$ref":"{other}"}}"#);
            let why = Form::parse(&text).err().map(|why| why.to_string());
            assert!(
                why.as_ref().is_some_and(|why| why.contains("are not followed")),
                "{other}: {why:?}"
            );
        }
    }

    #[test]
    fn what_is_no_schema_is_told_from_what_is_no_json() {
        let said = |text: &str| {
            Form::parse(text)
                .err()
                .map(|why| why.to_string())
                .unwrap_or_default()
        };
        assert!(said("{").starts_with("it is not JSON: "), "{}", said("{"));
        assert!(
            said("[]").starts_with("it is not a JSON schema: "),
            "{}",
            said("[]")
        );
        let typo = r#"{"type":"strnig"}"#;
        assert!(
            said(typo).starts_with("it is not a JSON schema: "),
            "{}",
            said(typo)
        );
        let pattern = r#"{"type":"string","pattern":"("}"#;
        assert!(
            said(pattern).starts_with("it is not a JSON schema: "),
            "{}",
            said(pattern)
        );
    }

    #[test]
    fn a_reason_is_bounded() {
        let form = Form::parse(r#"{"type":"array","items":{"type":"integer"}}"#).unwrap();
        let many = format!("[{}]", vec!["\"x\""; 500].join(","));
        assert_eq!(form.check(&many).unwrap_err().chars().count(), REASON_CHARS + 1);
    }
}
