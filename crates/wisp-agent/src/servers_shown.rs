//! MCP servers as lines for the person: in `/mcp` and in `wisp mcp`.

use wisp_mcp::{Row, Standing};

/// A server in a line: its name, how it stands, how many tools it has.
pub fn summary(row: &Row) -> String {
    let name = &row.name;
    match &row.standing {
        Standing::Off => format!("{name}  off (enabled: false)"),
        Standing::Starting => format!("{name}  starting"),
        Standing::Failed(why) => format!("{name}  does not run: {why}"),
        Standing::Ready => {
            let tools = match row.tools.len() {
                1 => "1 tool".to_owned(),
                many => format!("{many} tools"),
            };
            let out = match row.left_out.len() {
                0 => String::new(),
                many => format!(", {many} not offered"),
            };
            let about = if row.about.is_empty() {
                String::new()
            } else {
                format!("  {}", row.about)
            };
            format!("{name}  ready, {tools}{out}{about}")
        }
    }
}

/// A server with its tools, those that are not offered, and its instructions.
pub fn details(row: &Row) -> Vec<String> {
    let mut lines = vec![summary(row)];
    lines.extend(
        row.tools
            .iter()
            .map(|(name, about)| format!("  {name}  {about}").trim_end().to_owned()),
    );
    lines.extend(row.left_out.iter().map(|why| format!("  not offered: {why}")));
    if !row.instructions.is_empty() {
        lines.push(format!(
            "  its instructions, which the model is not sent: {}",
            row.instructions
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(standing: Standing) -> Row {
        Row {
            name: "files".to_owned(),
            standing,
            about: "secure-filesystem 0.2.0".to_owned(),
            tools: vec![("files__read".to_owned(), "Reads.".to_owned())],
            left_out: vec!["odd: its argument \"a b\" has an unusual name".to_owned()],
            instructions: "Be brief.".to_owned(),
        }
    }

    #[test]
    fn a_server_is_shown_as_it_stands() {
        let of = |standing| summary(&row(standing));
        assert_eq!(
            of(Standing::Ready),
            "files  ready, 1 tool, 1 not offered  secure-filesystem 0.2.0"
        );
        assert_eq!(
            of(Standing::Failed("it ended: exit status 1".to_owned())),
            "files  does not run: it ended: exit status 1"
        );
        assert_eq!(of(Standing::Off), "files  off (enabled: false)");
        assert_eq!(
            details(&row(Standing::Ready))[1..],
            [
                "  files__read  Reads.",
                "  not offered: odd: its argument \"a b\" has an unusual name",
                "  its instructions, which the model is not sent: Be brief."
            ]
        );
    }
}
