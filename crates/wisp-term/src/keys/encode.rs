//! Keys written as bytes again, in the one form a line editor that knows only the old sequences understands. What it
//! has no key for is left out, so that nothing of it can be taken for text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Typed;

/// The bytes of a key or of a paste for such an editor. Control characters in a paste, which would reach the terminal
/// when the line is drawn, are U+FFFD; line ends and tabs stay.
pub fn encoded(typed: &Typed) -> Vec<u8> {
    match typed {
        Typed::Key(key) => of_key(*key),
        Typed::Focus(_) => Vec::new(),
        Typed::Paste(text) => {
            let control = |c: char| c.is_control() && !matches!(c, '\r' | '\n' | '\t');
            let text = text.replace(control, "\u{fffd}");
            format!("\x1b[200~{text}\x1b[201~").into_bytes()
        }
    }
}

fn of_key(key: KeyEvent) -> Vec<u8> {
    let (control, alt) = (
        key.modifiers.contains(KeyModifiers::CONTROL),
        key.modifiers.contains(KeyModifiers::ALT),
    );
    let modified = control || alt;
    match key.code {
        KeyCode::Char(c) if control => with_control(c)
            .map(|byte| if alt { vec![0x1b, byte] } else { vec![byte] })
            .unwrap_or_default(),
        KeyCode::Char(c) if alt => format!("\x1b{c}").into_bytes(),
        KeyCode::Char(c) => c.to_string().into_bytes(),
        KeyCode::Enter if modified || key.modifiers.contains(KeyModifiers::SHIFT) => b"\x1b\r".to_vec(),
        KeyCode::Enter => b"\r".to_vec(),
        KeyCode::Tab => b"\t".to_vec(),
        KeyCode::BackTab => b"\x1b[Z".to_vec(),
        KeyCode::Backspace if modified => b"\x1b\x7f".to_vec(),
        KeyCode::Backspace => b"\x7f".to_vec(),
        KeyCode::Delete if modified => b"\x1bd".to_vec(),
        KeyCode::Delete => b"\x1b[3~".to_vec(),
        KeyCode::Home => b"\x1b[H".to_vec(),
        KeyCode::End => b"\x1b[F".to_vec(),
        KeyCode::PageUp => b"\x1b[5~".to_vec(),
        KeyCode::PageDown => b"\x1b[6~".to_vec(),
        KeyCode::Up => b"\x1b[A".to_vec(),
        KeyCode::Down => b"\x1b[B".to_vec(),
        // By words, with either of the two.
        KeyCode::Left if modified => b"\x1bb".to_vec(),
        KeyCode::Right if modified => b"\x1bf".to_vec(),
        KeyCode::Left => b"\x1b[D".to_vec(),
        KeyCode::Right => b"\x1b[C".to_vec(),
        _ => Vec::new(),
    }
}

/// The byte that Ctrl makes of a character.
fn with_control(c: char) -> Option<u8> {
    Some(match c.to_ascii_lowercase() {
        c @ 'a'..='z' => c as u8 - b'a' + 1,
        ' ' | '@' | '2' => 0,
        '4' | '\\' => 0x1c,
        '5' | ']' => 0x1d,
        '6' | '^' => 0x1e,
        '7' | '_' | '/' | '-' => 0x1f,
        _ => return None,
    })
}
