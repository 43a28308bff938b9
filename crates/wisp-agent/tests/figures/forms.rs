//! The forms in which numbers stand in texts about one thing, each with what it means.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::things::Thing;

/// A number as it stands in a text.
pub fn number(text: &str) -> usize {
    text.replace(',', "").parse().unwrap()
}

/// A group of a form as a number.
pub fn at(found: &Captures<'_>, group: usize) -> usize {
    number(&found[group])
}

/// Whether a size in words is `bytes`, rounded up as every size is.
pub fn is_size(text: &str, bytes: usize) -> bool {
    size_of(bytes) == text
}

/// The sizes that a stretch of lines held back may have: all of them, or less what of the first and of the last is shown
/// beside the marker, for a line may be cut.
pub fn held(thing: &Thing, text: &str, from: usize, to: usize) -> Vec<String> {
    let (lines, shown) = (thing.lines(), text.lines().collect::<Vec<_>>());
    let (first, last) = (lines[from - 1], lines[to - 1]);
    let mut sizes = vec![size_of(thing.bytes_of(from, to))];
    let markers = (0..shown.len()).filter(|row| shown[*row].starts_with("[… "));
    for row in markers {
        let before = row.checked_sub(1).map_or("", |row| shown[row]);
        let after = shown.get(row + 1).copied().unwrap_or_default();
        let head = if first.starts_with(before) {
            before.len()
        } else {
            0
        };
        let ended = usize::from(thing.bytes_of(to, to) > last.len());
        let tail = if last.ends_with(after) {
            after.len() + ended
        } else {
            0
        };
        for shown in [head, tail, head + tail] {
            sizes.push(size_of(thing.bytes_of(from, to).saturating_sub(shown)));
        }
    }
    sizes
}

/// A size by the rule of the specification, written anew: largest unit of at least one, one decimal below ten, rounded up.
pub fn size_of(bytes: usize) -> String {
    for (name, unit) in [("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= unit {
            let tenths = (bytes * 10).div_ceil(unit);
            return if tenths < 100 && tenths % 10 != 0 {
                format!("{}.{} {name}", tenths / 10, tenths % 10)
            } else if tenths < 100 {
                format!("{} {name}", tenths / 10)
            } else {
                format!("{} {name}", grouped(bytes.div_ceil(unit)))
            };
        }
    }
    format!("{} byte{}", grouped(bytes), if bytes == 1 { "" } else { "s" })
}

pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let threes: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|c| std::str::from_utf8(c).unwrap())
        .collect();
    threes.join(",")
}

/// A text with its lines cut, for the message of a failure.
pub fn short(text: &str) -> String {
    let cut = text
        .lines()
        .map(|line| line.chars().take(700).collect::<String>());
    let lines: Vec<String> = cut.collect();
    if lines.len() <= 40 {
        return lines.join("\n");
    }
    [&lines[..20], &lines[lines.len() - 20..]].concat().join("\n")
}

/// What is asked of the numbers in one form: the thing the text is about, what stood there, and the whole text.
pub type Meaning = fn(&Thing, &Captures<'_>, &str) -> bool;

/// A count as it is written, and a size.
pub const COUNT: &str = r"\d{1,3}(?:,\d{3})*";
pub const SIZE: &str = r"\d[\d,.]* (?:bytes?|KiB|MiB)";

/// The forms in which numbers stand in texts about one thing, the special before the general. A form's match is taken out
/// of the text, and what digits are left belong to no form.
pub static FORMS: LazyLock<Vec<(Regex, Meaning)>> = LazyLock::new(|| {
    let form = |pattern: &str, meaning: Meaning| {
        (
            Regex::new(&pattern.replace("COUNT", COUNT).replace("SIZE", SIZE)).unwrap(),
            meaning,
        )
    };
    vec![
        // A row of a page or of a filter: the line itself, under its number and, behind stdout, stderr's own.
        form(
            r"(?m)^(\d+)(?: \(stderr (\d+)\))?(?: from byte (COUNT))?: (.*)$",
            |thing, found, _| {
                let (lines, n) = (thing.lines(), at(found, 1));
                let out = thing.out.lines().count();
                let own = found
                    .get(2)
                    .is_none_or(|own| number(own.as_str()) + out == n && out > 0);
                let from = found.get(3).map_or(0, |from| number(from.as_str()) - 1);
                own && lines
                    .get(n - 1)
                    .is_some_and(|line| line[from..].starts_with(&found[4]))
            },
        ),
        // A row of a file that was read, where to go on in it, and how long a line of it is.
        form(
            r"(?m)^(?:first line: |last line: )?(\d+)\t(.*)$",
            |thing, found, _| {
                let row = found[2].trim_end_matches('…');
                thing
                    .lines()
                    .get(at(found, 1) - 1)
                    .is_some_and(|line| line.contains(row))
            },
        ),
        form(r"(?m)^(?:first|last) line: (\d+)$", |thing, found, _| {
            let row = &thing.lines()[at(found, 1) - 1];
            row.is_empty() || *row == format!("{}\t", &found[1])
        }),
        form(r"paging: more from offset (\d+)", |_, found, whole| {
            let last = whole.split("\nlast line: ").last().unwrap();
            let last = last.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            (0..2).contains(&(at(found, 1) - number(last)))
        }),
        // What a reference stands for, to the byte.
        form(r"(COUNT) lines?, (COUNT) bytes?", |thing, found, _| {
            at(found, 1) == thing.lines().len() && at(found, 2) == thing.bytes()
        }),
        form(
            r"\bentry \d+\b|at \d\d:\d\d:\d\d|<(?:/|)output-\w+>",
            |_, _, _| true,
        ),
        form(
            r"\[line (COUNT) has (COUNT) bytes?, (COUNT)–(COUNT) shown: call again with offset (\d+) and column (\d+)\]",
            |thing, found, _| {
                let (line, length) = (at(found, 1), thing.lines()[at(found, 1) - 1].len());
                line == at(found, 5)
                    && at(found, 2) == length
                    && at(found, 4) + 1 == at(found, 6)
                    && at(found, 4) <= length
            },
        ),
        form(r"offset (\d+)(?: and column (\d+))?", |thing, found, whole| {
            let next = number(&found[1]);
            let shown = whole
                .lines()
                .rev()
                .find_map(|row| row.split_once('\t')?.0.parse::<usize>().ok());
            shown.is_none_or(|last| next == last + 1 || next == last) && next <= thing.lines().len()
        }),
        // The line under a call that did what it was asked: how much it returned.
        form(
            r"(?m)^↳ (?:\d of \d · \w+: )?(SIZE) in \d+\.\d s$",
            |thing, found, whole| {
                let kept = whole.contains("kept as output ");
                is_size(
                    &found[1],
                    if kept {
                        thing.bytes()
                    } else {
                        page_of(whole).bytes()
                    },
                )
            },
        ),
        // Which lines are of which stream.
        form(
            r"\bstdout (COUNT)(?:–(COUNT))?(?:, stderr (COUNT)(?:–(COUNT))? \(its own 1(?:–(COUNT))?\))?",
            |thing, found, _| {
                let (out, all) = (thing.out.lines().count(), thing.lines().len());
                let last = |group: usize| found.get(group).map(|to| number(to.as_str()));
                let own = last(5).unwrap_or(1);
                at(found, 1) == 1
                    && last(2).unwrap_or(1) == out
                    && found.get(3).is_none_or(|from| {
                        let from = number(from.as_str());
                        from == out + 1 && last(4).unwrap_or(from) == all && own == all - out
                    })
            },
        ),
        // A row whose line is too long to be shown: where the match stands in it.
        form(
            r"(?m)^(\d+)(?: \(stderr \d+\))? \(match at byte offset (COUNT) of (COUNT)\): …(.*)…$",
            |thing, found, _| {
                let lines = thing.lines();
                let line = lines[at(found, 1) - 1];
                line.len() == at(found, 3) && line.contains(&found[4])
            },
        ),
        form(r"lines (COUNT)(?:–(COUNT))? of (COUNT)", |thing, found, _| {
            let (all, first) = (thing.lines().len(), at(found, 1));
            let last = found.get(2).map_or(first, |to| number(to.as_str()));
            at(found, 3) == all && first >= 1 && first <= last && last <= all
        }),
        form(
            r"(COUNT) of (COUNT) lines? match(?:es)?, (COUNT) do not",
            |thing, found, _| {
                let lines = thing.lines();
                let hits = lines.iter().filter(|line| line.contains("it broke")).count();
                (at(found, 1), at(found, 2), at(found, 3)) == (hits, lines.len(), lines.len() - hits)
            },
        ),
        // A stretch within one line.
        form(
            r"bytes (COUNT)–(COUNT) of line (COUNT) \((SIZE)(?:, its own (COUNT))?\)",
            |thing, found, _| {
                let line = at(found, 3);
                let length = at(found, 2) + 1 - at(found, 1);
                line <= thing.lines().len()
                    && is_size(&found[4], length)
                    && at(found, 2) <= thing.bytes_of(line, line)
            },
        ),
        // What is held back, in the note: the stretch, its size, and its numbers in its own stream.
        form(
            r"(stdout |stderr |)lines? (COUNT)(?:–(COUNT))? \((SIZE)(?:, its own (COUNT)(?:–(COUNT))?)?\)",
            |thing, found, whole| {
                let (from, out) = (at(found, 2), thing.out.lines().count());
                let to = found.get(3).map_or(from, |to| number(to.as_str()));
                let range = match &found[1] {
                    "stdout " => 1..=out,
                    "stderr " => out + 1..=thing.lines().len(),
                    _ => 1..=thing.lines().len(),
                };
                let own = found.get(5).is_none_or(|own| number(own.as_str()) + out == from);
                range.contains(&from)
                    && range.contains(&to)
                    && own
                    && held(thing, whole, from, to).contains(&found[4].to_owned())
            },
        ),
        form(
            r"\[… COUNT bytes? of line (COUNT) held back …\]",
            |thing, found, _| at(found, 1) <= thing.lines().len(),
        ),
        // The marker; that it is the note's stretch is asked of both together, in `check_note`.
        form(
            r"\[… (COUNT) lines? \((SIZE)\) held back …\]",
            |thing, found, _| at(found, 1) <= thing.lines().len(),
        ),
        form(
            r"(?:first error|what looks like an error) at line (COUNT)",
            |thing, found, _| thing.lines()[at(found, 1) - 1] == "error: it broke",
        ),
        form(r"exit status (\d+)", |thing, found, _| {
            at(found, 1) == usize::from(thing.exit)
        }),
        form(
            r"(?m)↳ (?:\d of \d · run_command: )?exit (\d+)$",
            |thing, found, _| at(found, 1) == usize::from(thing.exit),
        ),
        form(
            r"kept (?:for the person )?as output \w+ \((COUNT) lines?\)",
            |thing, found, _| at(found, 1) == thing.lines().len(),
        ),
        // What a front end says of a failed command in a row of `/outputs` or a digest.
        form(r"error: it broke \(L(\d+)\)", |thing, found, _| {
            thing.lines()[at(found, 1) - 1] == "error: it broke"
        }),
        form(r"\bexit (\d+)\b", |thing, found, _| {
            at(found, 1) == usize::from(thing.exit)
        }),
        // Where the next page begins: after this one, or within its last line.
        form(r"from line (\d+)(?: byte (\d+))?", |thing, found, whole| {
            static PAGE: LazyLock<Regex> =
                LazyLock::new(|| Regex::new(r"lines (\S+) of [\d,]+ \(?").unwrap());
            let next = at(found, 1);
            let last = PAGE
                .captures(whole)
                .map(|page| number(page[1].rsplit('–').next().unwrap()));
            let within = found.get(2).is_some();
            let follows = last.is_none_or(|last| next == if within { last } else { last + 1 });
            follows && (1..=thing.lines().len()).contains(&next)
        }),
        // How much it is in all.
        form(r"(COUNT) lines?, (SIZE)", |thing, found, _| {
            at(found, 1) == thing.lines().len() && is_size(&found[2], thing.bytes())
        }),
        form(r"(COUNT) lines? \((SIZE)\)", |thing, found, _| {
            at(found, 1) == thing.lines().len() && is_size(&found[2], thing.bytes())
        }),
        form(
            r"(?m)^(COUNT) lines? that looks? like (?:a )?failures? and",
            |thing, found, _| {
                let broke = thing
                    .lines()
                    .iter()
                    .filter(|line| **line == "error: it broke")
                    .count();
                at(found, 1) == broke
            },
        ),
        form(r"\b(COUNT) lines?\b", |thing, found, _| {
            at(found, 1) == thing.lines().len()
        }),
        // A line that a digest quotes, or ranges of them.
        form(r"(?m)^ *(?:\S+ )?L(\d+) (.*)$", |thing, found, _| {
            let quoted = found[2].trim_end_matches('…');
            thing.lines()[at(found, 1) - 1].trim().starts_with(quoted.trim())
        }),
    ]
});

/// Checks each number of a text about a thing; ids and names stand in it without digits.
pub fn check(thing: &Thing, whole: &str) {
    let mut rest = whole.to_owned();
    for (form, meaning) in FORMS.iter() {
        for found in form.captures_iter(&rest) {
            assert!(
                meaning(thing, &found, whole),
                "{:?} is not true\n{}",
                &found[0],
                short(whole)
            );
        }
        rest = form.replace_all(&rest, "").into_owned();
    }
    let left: Vec<&str> = rest
        .lines()
        .filter(|line| line.contains(|c: char| c.is_ascii_digit()))
        .collect();
    assert!(
        left.is_empty(),
        "numbers in a form that is not known: {left:#?}\n{}",
        short(whole)
    );
    check_note(whole);
}

/// The markers in a text say the same as the note below them, one by one.
pub fn check_note(text: &str) {
    static MARKER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\[… (?:(\S+) lines? \((.+)\)|(\S+) bytes? of line (\S+)) held back …\]").unwrap()
    });
    static PLACE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"bytes (\S+?)(?:–(\S+))? of line (\S+) |lines? ([\d,]+)(?:–([\d,]+))? \(([\d,.]+ \w+)")
            .unwrap()
    });
    let Some(note) = text.rfind("\nheld back: ").map(|at| &text[at + 1..]) else {
        return;
    };
    let note = note.lines().next().unwrap();
    let span = |found: &Captures<'_>, from: usize| {
        let first = at(found, from);
        found.get(from + 1).map_or(first, |to| number(to.as_str())) + 1 - first
    };
    let marker = |found: Captures<'_>| match found.get(1) {
        Some(_) => format!("{} lines, {}", at(&found, 1), &found[2]),
        None => format!("{} bytes of {}", at(&found, 3), at(&found, 4)),
    };
    let place = |found: Captures<'_>| match found.get(1) {
        Some(_) => format!("{} bytes of {}", span(&found, 1), at(&found, 3)),
        None => format!("{} lines, {}", span(&found, 4), &found[6]),
    };
    let markers: Vec<String> = MARKER.captures_iter(text).map(marker).collect();
    let places: Vec<String> = PLACE.captures_iter(note).map(place).collect();
    if !markers.is_empty() {
        assert_eq!(markers, places, "marker and note disagree\n{}", short(text));
    }
}

/// What a call returned, without the line under it.
pub fn page_of(text: &str) -> Thing {
    let (page, _) = text.rsplit_once("\n↳ ").unwrap();
    Thing {
        out: page.to_owned(),
        ..Thing::default()
    }
}
