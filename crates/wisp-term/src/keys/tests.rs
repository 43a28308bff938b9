//! What each form of a key means, that reports leave nothing behind wherever they are cut, and that what was typed is
//! kept whatever stands before it.

use super::*;

const MILLIS: Duration = Duration::from_millis(1);

/// What a line would hold: characters as they are, other keys in angle brackets.
fn shown(typed: &[Typed]) -> String {
    let one = |typed: &Typed| match typed {
        Typed::Paste(text) => format!("<paste {text}>"),
        Typed::Focus(here) => format!("<focus {here}>"),
        Typed::Key(key) => {
            let modifiers = key.modifiers - KeyModifiers::SHIFT;
            match key.code {
                KeyCode::Char(c) if modifiers.is_empty() => c.to_string(),
                KeyCode::Char(c) => format!("<{modifiers}-{c}>"),
                code if key.modifiers.is_empty() => format!("<{code}>"),
                code => format!("<{}-{code}>", key.modifiers),
            }
        }
    };
    typed.iter().map(one).collect()
}

/// What bytes mean that come in pieces, with so many milliseconds before each, and a long silence at the end.
fn pieces(mut decoder: Decoder, pieces: &[(u64, &[u8])]) -> String {
    let mut typed = Vec::new();
    let mut now = Duration::from_secs(10);
    let wait = |decoder: &mut Decoder, until: Duration, typed: &mut Vec<Typed>| {
        while let Some(due) = decoder.due().filter(|due| *due <= until) {
            typed.extend(decoder.tick(due));
        }
    };
    for (after, bytes) in pieces {
        now += MILLIS * u32::try_from(*after).unwrap();
        wait(&mut decoder, now, &mut typed);
        typed.extend(decoder.feed(bytes, now));
    }
    wait(&mut decoder, now + Duration::from_mins(1), &mut typed);
    shown(&typed)
}

fn at_once(bytes: &[u8]) -> String {
    pieces(Decoder::with_escape(), &[(0, bytes)])
}

const REPORTS: [&[u8]; 18] = [
    b"\x1b[?62;22;52c",
    b"\x1b[>41;354;0c",
    b"\x1bP!|7E565445\x1b\\",
    b"\x1b]10;rgb:c0c0/c0c0/c0c0\x1b\\",
    b"\x1b]11;rgb:1e1e/1e1e/2e2e\x07",
    b"\x1b]4;1;rgb:cdcd/0000/0000\x07",
    b"\x1bP>|kitty(0.36.4)\x1b\\",
    b"\x1bP1+r544e=787465726d\x1b\\",
    b"\x1b[0n",
    b"\x1b[24;80R",
    b"\x1b[?12;40R",
    b"\x1b[?2026;2$y",
    b"\x1b[48;24;80;480;1200t",
    b"\x1b[8;24;80t",
    b"\x1b[?0u",
    b"\x1b[?997;1n",
    b"\x1b]52;c;aGVsbG8=\x1b\\",
    b"\x1b[<35;10;5M",
];

#[test]
fn a_report_leaves_nothing_wherever_it_is_cut() {
    for report in REPORTS {
        let text = [b"ab", report, b"cd"].concat();
        assert_eq!(at_once(&text), "abcd", "{:?}", report.escape_ascii().to_string());
        for cut in 1..report.len() {
            for pause in [1, 60, 300, 800] {
                let come: [(u64, &[u8]); 3] = [(0, b"ab"), (0, &report[..cut]), (pause, &report[cut..])];
                let lines = pieces(Decoder::for_lines(), &[come[0], come[1], come[2], (90, b"cd")]);
                assert_eq!(lines, "abcd", "cut at {cut} of {}", report.escape_ascii());
                let keys = pieces(Decoder::with_escape(), &[come[0], come[1], come[2], (90, b"cd")]);
                // A lone Escape is a key after a tenth of a second; nothing else is.
                let escaped = cut == 1 && pause > 100;
                let expected = if escaped { "ab<Esc>cd" } else { "abcd" };
                assert_eq!(keys, expected, "cut at {cut} of {}", report.escape_ascii());
            }
        }
    }
}

#[test]
fn what_is_typed_after_half_a_report_is_kept() {
    for report in REPORTS {
        for cut in 3..report.len() {
            let half = &report[..cut];
            let typed = pieces(
                Decoder::with_escape(),
                &[(0, half), (200, b"v"), (200, b"e"), (200, b"\r"), (2000, b"s")],
            );
            assert_eq!(typed, "ve<Enter>s", "after {}", half.escape_ascii());
        }
    }
}

#[test]
fn ctrl_c_and_enter_end_a_string_that_has_no_end() {
    assert_eq!(at_once(b"\x1b]11;rgb:\x03"), "<Control-c>");
    assert_eq!(at_once(b"\x1b[?62\r"), "<Enter>");
    assert_eq!(at_once(b"\x1b]11;rgb:\x1b[?62;22cx"), "x");
}

#[test]
fn keys_of_the_kitty_protocol() {
    for (bytes, typed) in [
        ("\x1b[97;1:1u\x1b[97;1:3u", "a"),
        ("\x1b[97;1:1u\x1b[97;1:2u\x1b[97;1:2u\x1b[97;1:3u", "aaa"),
        ("\x1b[50:64;2;64u", "@"),
        ("\x1b[97;65u", "A"),
        ("\x1b[97;129u", "a"),
        ("\x1b[97;9u", ""),
        ("\x1b[13;2u", "<Shift-Enter>"),
        ("\x1b[99;5u", "<Control-c>"),
        ("\x1b[99;5:3u", ""),
        ("\x1b[1089::99;5u", "<Control-c>"),
        ("\x1b[100;133u", "<Control-d>"),
        ("\x1b[127;2u", "<Backspace>"),
        ("\x1b[127;5u", "<Control-Backspace>"),
        ("\x1b[1;1:1D\x1b[1;1:3D", "<Left>"),
        ("\x1b[1;129D", "<Left>"),
        ("\x1b[3;5:1~\x1b[3;5:3~", "<Control-Del>"),
        ("\x1b[57358u\x1b[57441;2:1u\x1b[57441;1:3u", ""),
        ("\x1b[57400u\x1b[57414u", "1<Enter>"),
        ("\x1b[27u\x1b[91;5u", "<Esc><Esc>"),
        ("\x1b[228;1;228u", "ä"),
    ] {
        assert_eq!(at_once(bytes.as_bytes()), typed, "{}", bytes.escape_debug());
    }
}

#[test]
fn keys_of_modify_other_keys() {
    for (bytes, typed) in [
        ("\x1b[27;5;99~", "<Control-c>"),
        ("\x1b[27;2;13~", "<Shift-Enter>"),
        ("\x1b[27;5;127~", "<Control-Backspace>"),
        ("\x1b[27;2;65~", "A"),
        ("\x1b[27;3;120~", "<Alt-x>"),
        ("\x1b[27;5~", ""),
    ] {
        assert_eq!(at_once(bytes.as_bytes()), typed, "{}", bytes.escape_debug());
    }
}

#[test]
fn keys_of_old_terminals() {
    for (bytes, typed) in [
        ("\x1b[1~\x1b[7~\x1b[H\x1bOH", "<Home><Home><Home><Home>"),
        ("\x1b[4~\x1b[8~\x1b[F\x1bOF", "<End><End><End><End>"),
        (
            "\x1b[1;5D\x1bOd\x1b[5D",
            "<Control-Left><Control-Left><Control-Left>",
        ),
        ("\x1b[3^", "<Control-Del>"),
        ("\x1b[[A\x1b[11~\x1bOP\x1b[24~", "<F1><F1><F1><F12>"),
        (
            "\x1b\x1b[D\x1bb\x1b\r\x1b\x7f",
            "<Alt-Left><Alt-b><Alt-Enter><Alt-Backspace>",
        ),
        (
            "\x08\x7f\x03\x00\x1f",
            "<Control-h><Backspace><Control-c><Control- ><Control-7>",
        ),
        ("\x1b[Z\x1b[I\x1b[O", "<Back Tab><focus true><focus false>"),
        ("\x1b[99~\x1b[1;1:1!px\x1bOz\x1b[M !!y", "xy"),
    ] {
        assert_eq!(at_once(bytes.as_bytes()), typed, "{}", bytes.escape_debug());
    }
}

#[test]
fn a_key_cut_in_two_is_one_key() {
    let cut = pieces(Decoder::with_escape(), &[(0, b"\x1b["), (300, b"D"), (300, b"D")]);
    assert_eq!(cut, "<Left>D");
    let cut = pieces(Decoder::with_escape(), &[(0, b"\x1b[1;5"), (300, b"D")]);
    assert_eq!(cut, "<Control-Left>");
}

#[test]
fn escape_alone_is_a_key_after_a_tenth_of_a_second() {
    let mut decoder = Decoder::with_escape();
    assert_eq!(decoder.feed(b"\x1b", Duration::ZERO), []);
    assert_eq!(decoder.due(), Some(ESCAPE));
    assert_eq!(shown(&decoder.tick(MILLIS * 99)), "");
    assert_eq!(shown(&decoder.tick(MILLIS * 100)), "<Esc>");
    assert_eq!(
        pieces(Decoder::for_lines(), &[(0, b"\x1b"), (5000, b"b")]),
        "<Alt-b>"
    );
}

#[test]
fn a_byte_that_is_not_utf_8_is_one_sign_and_the_rest_is_kept() {
    assert_eq!(at_once(b"caf\xe9 au lait"), "caf\u{fffd} au lait");
    assert_eq!(at_once(b"caf\xe9\r"), "caf\u{fffd}<Enter>");
    assert_eq!(at_once(b"\xffabc\xc3\x28"), "\u{fffd}abc\u{fffd}(");
    assert_eq!(at_once(b"\xed\xa0\x80"), "\u{fffd}\u{fffd}\u{fffd}");
    assert_eq!(
        at_once(b"\xc2\x9b31m"),
        "\u{fffd}31m",
        "a control character is none to type"
    );
    assert_eq!(
        at_once(b"\x1b[200~caf\xe9 au lait\x1b[201~"),
        "<paste caf\u{fffd} au lait>"
    );
}

#[test]
fn a_character_cut_in_two_waits_for_its_end_and_blocks_nothing() {
    let cut = pieces(Decoder::with_escape(), &[(0, b"abc\xe6\xbc"), (900, b"\xa2d")]);
    assert_eq!(cut, "abc漢d");
    let next = pieces(
        Decoder::with_escape(),
        &[(0, b"abc\xe6\xbc"), (900, b"d"), (0, b"\x1b[D")],
    );
    assert_eq!(next, "abc\u{fffd}d<Left>");
}

#[test]
fn a_paste_is_one_text_wherever_it_is_cut() {
    let bytes = b"a\x1b[200~two\nlines \x1b[31m\x1b[201~b";
    for cut in 1..bytes.len() {
        let typed = pieces(Decoder::for_lines(), &[(0, &bytes[..cut]), (300, &bytes[cut..])]);
        assert_eq!(typed, "a<paste two\nlines \x1b[31m>b", "cut at {cut}");
    }
}

#[test]
fn a_paste_without_its_end_is_given_out_and_left_by_ctrl_c() {
    let typed = pieces(
        Decoder::with_escape(),
        &[
            (0, b"\x1b[200~half"),
            (2000, b" more\n"),
            (2000, b"\x03"),
            (100, b"x"),
        ],
    );
    assert_eq!(typed, "<paste half><paste  more\n><Control-c>x");
}

#[test]
fn keys_are_written_again_as_a_line_editor_knows_them() {
    for (bytes, written) in [
        ("\x1b[99;5u", "\x03"),
        ("\x1b[13;2u", "\x1b\r"),
        ("\x1b[127;2u", "\x7f"),
        ("\x1b[127;5u", "\x1b\x7f"),
        ("\x1b[1;129D\x1bOd\x1b[7~", "\x1b[D\x1bb\x1b[H"),
        ("\x1b[50:64;2;64u\x1b[97;1:3u", "@"),
        ("\x1b[?62;22c\x1b[I\x1b[57358u\x1b[15~", ""),
        (
            "\x1b[200~a\x1b[31mb\r\n\x1b[201~",
            "\x1b[200~a\u{fffd}[31mb\r\n\x1b[201~",
        ),
        ("\0\x08", "\0\x08"),
    ] {
        let typed = Decoder::for_lines().feed(bytes.as_bytes(), Duration::ZERO);
        let again: Vec<u8> = typed.iter().flat_map(encoded).collect();
        assert_eq!(
            String::from_utf8(again).unwrap(),
            written,
            "{}",
            bytes.escape_debug()
        );
    }
}
