//! `docs/protocol.schema.json` is written from the types of this module and compared with them: a field added here
//! and not there fails the test that is all there is in this file.
#![allow(
    clippy::disallowed_methods,
    reason = "the test reads, and when asked writes, a file of the tree"
)]

use serde_json::{Value, json};

use crate::{Command, Event};

/// The schema of every line that passes, commands and events.
fn schema() -> Value {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let lines = [
        generator.subschema_for::<Command>(),
        generator.subschema_for::<Event>(),
    ];
    let definitions = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "wisp chat --json",
        "description": "One JSON object a line. Commands go to standard input, events come from standard output. Both \
            ends ignore members they do not know.",
        "anyOf": lines,
        "$defs": definitions,
    })
}

#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol.schema.json");
    let written = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("WISP_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &written).unwrap();
    }
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        checked_in == written,
        "docs/protocol.schema.json is not what the types say; write it anew with\n  \
         WISP_WRITE_SCHEMA=1 cargo test -p wisp-protocol --lib schema"
    );
}
