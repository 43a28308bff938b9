//! Copying through the terminal (OSC 52), which also works over ssh.

use wisp_host::Env;

use crate::units::{counted, thousands};

/// The most bytes that are copied: terminals drop longer sequences, silently.
pub const MAX_COPY: usize = 74_994;

/// What stopped a copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("too long to copy through the terminal: {}, the limit is {}", counted(*bytes as u64, "byte"), thousands(MAX_COPY as u64))]
pub struct TooLong {
    /// How long the text is.
    pub bytes: usize,
}

/// The programs that put their standard input on the clipboard of the desktop this environment belongs to, the first
/// choice first. None over ssh: what runs there has the clipboard of another machine.
pub fn programs(env: &Env) -> Vec<Vec<&'static str>> {
    const PROGRAMS: [(&str, &[&str]); 3] = [
        ("WAYLAND_DISPLAY", &["wl-copy"]),
        ("DISPLAY", &["xclip", "-selection", "clipboard"]),
        ("DISPLAY", &["xsel", "--clipboard", "--input"]),
    ];
    let is_set = |name: &str| env.get(name).is_some_and(|value| !value.is_empty());
    if is_set("SSH_CONNECTION") || is_set("SSH_TTY") {
        return Vec::new();
    }
    if cfg!(target_os = "macos") {
        return vec![vec!["pbcopy"]];
    }
    let here = PROGRAMS.iter().filter(|(variable, _)| is_set(variable));
    here.map(|(_, argv)| argv.to_vec()).collect()
}

/// The sequence that puts a text on the clipboard.
pub fn osc52(text: &str) -> Result<String, TooLong> {
    if text.len() > MAX_COPY {
        return Err(TooLong { bytes: text.len() });
    }
    Ok(format!("\u{1b}]52;c;{}\u{7}", base64(text.as_bytes())))
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let index = (bits >> (18 - 6 * at)) & 63;
            let letter = ALPHABET[index as usize];
            encoded.push(if at <= chunk.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard_examples() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(
            osc52("touch PWNED\n").unwrap(),
            "\u{1b}]52;c;dG91Y2ggUFdORUQK\u{7}"
        );
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn the_programs_are_those_of_the_desktop_and_none_over_ssh() {
        let programs = |set: &[&str]| {
            let env: Env = set
                .iter()
                .map(|name| ((*name).to_owned(), ":0".to_owned()))
                .collect();
            programs(&env).into_iter().map(|argv| argv[0]).collect::<Vec<_>>()
        };
        assert_eq!(programs(&[]), [""; 0]);
        assert_eq!(programs(&["DISPLAY"]), ["xclip", "xsel"]);
        assert_eq!(
            programs(&["DISPLAY", "WAYLAND_DISPLAY"]),
            ["wl-copy", "xclip", "xsel"]
        );
        assert_eq!(programs(&["DISPLAY", "SSH_CONNECTION"]), [""; 0]);
    }

    #[test]
    fn the_limit_is_exact() {
        assert!(osc52(&"x".repeat(MAX_COPY)).is_ok());
        assert_eq!(
            osc52(&"x".repeat(MAX_COPY + 1)),
            Err(TooLong { bytes: MAX_COPY + 1 })
        );
    }
}
