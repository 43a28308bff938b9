//! `/copy`: a text on the clipboard, by a program of the desktop and through the terminal.

use std::io::Cursor;

use wisp_host::Env;
use wisp_term::clipboard::{osc52, programs};
use wisp_term::units::format_bytes;
use wisp_term::{Printer, Role, safe};

/// Copies a text, and says how or why not.
pub fn copy(text: &str, what: &str, env: &Env, err: &mut Printer) {
    let by = by_program(text, env);
    let through = err.surface().terminal.then(|| osc52(text));
    let told = match (&by, &through) {
        (Some(program), _) => Ok(format!("with {program}")),
        (None, Some(Ok(_))) => Ok("through the terminal".to_owned()),
        (None, Some(Err(long))) => Err(long.to_string()),
        (None, None) => Err("there is no terminal and no clipboard program".to_owned()),
    };
    if let Some(Ok(sequence)) = &through {
        let _ = err.bytes(sequence.as_bytes());
    }
    let (role, line) = match told {
        Ok(how) => (
            Role::Quiet,
            format!("copied {what} ({}) {how}", format_bytes(text.len() as u64)),
        ),
        Err(why) => (Role::Error, format!("{what} was not copied: {why}")),
    };
    let _ = err.words(Some(role), &safe::safe(&line));
    let _ = err.flush();
}

/// The program that took the text; none when there is none, or none that works.
fn by_program(text: &str, env: &Env) -> Option<&'static str> {
    programs(env).into_iter().find_map(|argv| {
        // What it says is of no use in a conversation, and what it leaves running must not hold the terminal.
        let mut quiet = vec!["sh", "-c", "exec \"$@\" >/dev/null 2>&1", "sh"];
        quiet.extend(&argv);
        let ended = wisp_exec::run_pager(&quiet, Cursor::new(text.as_bytes()));
        ended.is_ok_and(wisp_exec::Ending::is_success).then_some(argv[0])
    })
}
