//! The splitter against the shells themselves: generated lines are run by `dash` and `bash`, in which every program is
//! a function that records how it was called, and each recorded call must have been in the splitter's answer.
//!
//! What a wrapper starts (`env`, `xargs`, `timeout`, `sh -c`) is a program of the same name that records its call too.
//!
//! Nothing else can run: `PATH` has those programs and the wrappers. `WISP_ORACLE_LINES` sets how many lines, `WISP_ORACLE_SEED` where
//! they start; a million take some minutes. Each line goes to one of the shells, and to both when a number is set.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test stops at what it did not expect, and runs the shells it compares with"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use wisp_guard::{SimpleCommand, split};

/// The programs there are.
const PROGRAMS: [&str; 6] = ["qa", "qb", "qc", "qd", "qe", "qf"];

/// What separates the words of a record, and records.
const WORD: char = '\u{1f}';
const END: char = '\u{1e}';

/// A generator of numbers that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % sides as u64).unwrap()
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len())]
    }
}

fn word(dice: &mut Dice, depth: usize) -> String {
    if depth > 2 {
        return dice.of(&["x", "-n", "'y z'", "\"w\"", "5"]).to_owned();
    }
    let inner = |dice: &mut Dice| line(dice, depth + 1);
    let operator =
        |dice: &mut Dice| dice.of(&[":-", "-", ":=", "=", ":+", "+", "#", "##", "%", "%%", ":?", "/"]);
    match dice.roll(30) {
        0 => format!("$({})", inner(dice)),
        1 => format!("\"$({})\"", inner(dice)),
        2 => format!("`{}`", inner(dice)),
        3 => format!("\"a `{}` b\"", inner(dice)),
        4 => format!("${{v{}$({})}}", operator(dice), inner(dice)),
        5 => format!("\"${{v{}`{}`}}\"", operator(dice), inner(dice)),
        6 => format!("${{v{}{}}}", operator(dice), word(dice, depth + 1)),
        7 => format!("\"${{v{}{}}}\"", operator(dice), word(dice, depth + 1)),
        8 => format!("$((1+$({} >&2; echo 1)))", inner(dice)),
        9 => format!("'{}'", inner(dice).replace('\'', "")),
        10 => format!("\\{}", dice.of(&["$", "`", "\"", "'", "(", "\\", "a", "#"])),
        11 => format!("{}{}", word(dice, depth + 1), word(dice, depth + 1)),
        12 => format!("#{}", word(dice, depth + 1)),
        13 => format!("a#{}", word(dice, depth + 1)),
        14 => format!("$'{}'", dice.of(&["a", "a b", "\\n", "a\\'b"])),
        15 => format!("{{{},{}}}", word(dice, depth + 1), word(dice, depth + 1)),
        16 => "$v".to_owned(),
        17 => format!(
            "\"{}\"",
            dice.of(&["a b", "a'b", "a\\\"b", "a\\`b", "a\\$b", "$v", "a#b", "(a)"])
        ),
        18 => format!("\\\n{}", word(dice, depth + 1)),
        19 => format!("x=$({})", inner(dice)),
        _ => dice
            .of(&[
                "x", "-n", "'y z'", "\"w\"", "5", "a*", "~", "a=b", "--x=y", "[a]", "!",
            ])
            .to_owned(),
    }
}

/// The programs that start others, and how they are called.
const WRAPPERS: [&str; 7] = ["env", "nice", "nohup", "timeout", "setsid", "stdbuf", "xargs"];
const WRAPPED: [&str; 18] = [
    "env",
    "env A=b",
    "env -u B",
    "env A=b C='d e'",
    "nice",
    "nice -n 3",
    "nohup",
    "timeout 5",
    "timeout -k 1 5",
    "timeout --signal=INT 5",
    "setsid -w",
    "stdbuf -oL",
    "xargs",
    "xargs -n1",
    "xargs -I{}",
    "xargs -I x",
    "env nice timeout 9",
    "env -- nohup",
];

fn command(dice: &mut Dice, depth: usize) -> String {
    let mut text = String::new();
    if dice.roll(8) == 0 {
        text = format!("v={} ", word(dice, depth + 1));
    }
    match dice.roll(60) {
        0 => text = format!("{text}{} ", dice.of(&WRAPPED)),
        1 => {
            let script = line(dice, depth + 1).replace('\'', "");
            return format!("{text}{}sh -c '{script}'", dice.of(&["", "env ", "timeout 5 "]));
        }
        _ => {}
    }
    text += dice.of(&PROGRAMS);
    for _ in 0..dice.roll(3) {
        text = format!("{text} {}", word(dice, depth + 1));
    }
    match dice.roll(14) {
        0 => format!("{text} > o"),
        1 => format!("{text} 2>&1"),
        2 => format!("{text} < /dev/null"),
        3 => format!("> o {text}"),
        _ => text,
    }
}

fn line(dice: &mut Dice, depth: usize) -> String {
    if depth > 3 {
        return command(dice, depth);
    }
    let next = |dice: &mut Dice| line(dice, depth + 1);
    match dice.roll(34) {
        0 => format!("{}; {}", next(dice), next(dice)),
        1 => format!("{} && {}", next(dice), next(dice)),
        2 => format!("{} || {}", next(dice), next(dice)),
        3 => format!("{} | {}", next(dice), next(dice)),
        4 => format!("{}\n{}", next(dice), next(dice)),
        5 => format!("( {} )", next(dice)),
        6 => format!("{{ {}; }}", next(dice)),
        7 => format!("if {}; then {}; else {}; fi", next(dice), next(dice), next(dice)),
        8 => format!(
            "for v in {} {}; do {}; done",
            word(dice, depth),
            word(dice, depth),
            next(dice)
        ),
        9 => format!(
            "case {} in {}) {};; *) {};; esac",
            word(dice, depth),
            word(dice, depth),
            next(dice),
            next(dice)
        ),
        10 => format!("zz() {{ {}; }}; zz", next(dice)),
        11 => format!("eval '{}'", next(dice).replace('\'', "")),
        12 => format!("{} # {}\n{}", next(dice), word(dice, depth), next(dice)),
        13 => format!("{} <<E\n{}\nE", command(dice, depth), word(dice, depth)),
        14 => format!(
            "{} <<'E'\n{}\nE\n{}",
            command(dice, depth),
            next(dice),
            next(dice)
        ),
        15 => format!("{} <<-E\n\t{}\n\tE", command(dice, depth), word(dice, depth)),
        16 => format!("! {}", next(dice)),
        17 => format!("v={}; {}", word(dice, depth), next(dice)),
        18 => format!("while false; do {}; done; {}", next(dice), next(dice)),
        19 => format!("{} & {}", next(dice), next(dice)),
        20 => format!("command {}", command(dice, depth)),
        21 => format!(
            "[ {} = {} ] && {}",
            word(dice, depth),
            word(dice, depth),
            next(dice)
        ),
        22 => format!("export v={}; {}", word(dice, depth), next(dice)),
        _ => command(dice, depth),
    }
}

/// Characters a line is damaged with: those that begin and end what the shell reads specially.
const DAMAGE: [&str; 22] = [
    "'", "\"", "`", "$", "(", ")", "{", "}", "\\", "#", ";", "&", "|", "<", ">", "\n", " ", "$(", "${v",
    "<<E", "!", "=",
];

fn damaged(dice: &mut Dice, line: &str) -> String {
    let mut chars: Vec<String> = line.chars().map(String::from).collect();
    for _ in 0..=dice.roll(2) {
        let at = dice.roll(chars.len() + 1);
        match dice.roll(3) {
            0 if at < chars.len() => drop(chars.remove(at)),
            _ => chars.insert(at, dice.of(&DAMAGE).to_owned()),
        }
    }
    chars.concat()
}

/// The lines, some of them damaged; none that could go on for ever or leave its directory.
fn lines(count: usize, seed: u64) -> Vec<String> {
    let mut dice = Dice(seed);
    let mut lines = Vec::with_capacity(count);
    while lines.len() < count {
        let mut made = line(&mut dice, 0);
        if dice.roll(3) == 0 {
            made = damaged(&mut dice, &made);
        }
        let whole = made.matches("while").count() == made.matches("while false; do").count();
        let loops = !whole || made.matches("zz").count() > 2;
        if made.len() < 400 && !loops {
            lines.push(made);
        }
    }
    lines
}

/// Makes the directory that is `PATH`: wrappers, a shell, and programs that record how they were called.
fn programs_on_path(dir: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bin = dir.join("bin");
    fs::create_dir(&bin).unwrap();
    let real = |name: &str| {
        let places = ["/bin", "/usr/bin"];
        places
            .iter()
            .map(|place| Path::new(place).join(name))
            .find(|path| path.exists())
    };
    for wrapper in WRAPPERS.iter().chain(&["sh"]) {
        if let Some(path) = real(wrapper) {
            symlink(path, bin.join(wrapper)).unwrap();
        }
    }
    for program in PROGRAMS {
        let path = bin.join(program);
        let text = format!("#!/bin/sh\nprintf '%s{WORD}' \"$L\" {program} \"$@\" '{END}' >&9\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// Runs the lines in one process of the shell and gives the calls of each.
fn calls(shell: &str, lines: &[String], dir: &Path) -> Vec<Vec<Vec<String>>> {
    use std::fmt::Write;
    let mut script = String::from("ulimit -t 60\nexport L\nexec 9>>record\n");
    for program in PROGRAMS {
        let _ = writeln!(
            script,
            "{program}() {{ printf '%s{WORD}' \"$L\" {program} \"$@\" '{END}' >&9; }}"
        );
    }
    for (at, line) in lines.iter().enumerate() {
        let _ = writeln!(script, "L={at}\n( eval '{}' )", line.replace('\'', "'\\''"));
    }
    fs::write(dir.join("script"), script).unwrap();
    programs_on_path(dir);
    let program = ["/bin", "/usr/bin"]
        .iter()
        .map(|bin| format!("{bin}/{shell}"))
        .find(|path| Path::new(path).exists());
    let _ = Command::new(program.unwrap())
        .arg("script")
        .current_dir(dir)
        .env_clear()
        .env("PATH", dir.join("bin"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    let record = String::from_utf8_lossy(&fs::read(dir.join("record")).unwrap_or_default()).into_owned();
    let mut all = vec![Vec::new(); lines.len()];
    for call in record.split(END) {
        let mut words = call.trim_start_matches(WORD).split(WORD).map(str::to_owned);
        let Some(at) = words.next().and_then(|at| at.parse::<usize>().ok()) else {
            continue;
        };
        let mut words: Vec<String> = words.collect();
        words.pop();
        all[at].push(words);
    }
    all
}

/// Whether a call is one of a part: the same program, and the same words where all of them were known.
fn is_of(call: &[String], part: &SimpleCommand) -> bool {
    let fixed = !part.open
        && part
            .words
            .iter()
            .all(|word| word.literal && !word.glob && !word.text.starts_with('~'));
    let same = || part.words.iter().map(|word| &word.text).eq(call);
    match part.name() {
        // Which program it runs is not known: it is dangerous whatever it is.
        None => !part.words.is_empty(),
        Some(name) => call.first().is_some_and(|called| name == called) && (!fixed || same()),
    }
}

/// The shells that are here.
fn shells() -> Vec<&'static str> {
    let there = |shell: &&str| {
        ["/bin", "/usr/bin"]
            .iter()
            .any(|bin| Path::new(bin).join(shell).exists())
    };
    ["dash", "bash"].into_iter().filter(there).collect()
}

/// Runs what of these lines can be read in one shell: how many can, how many calls were made, and each that was not
/// in the splitter's answer.
fn compared(shell: &str, lines: &[String]) -> (usize, usize, Vec<String>) {
    // What cannot be read is dangerous and never runs unasked: only the others are run.
    let read = |line: &String| split(line).ok().map(|parts| (line.clone(), parts));
    let (texts, answers): (Vec<String>, Vec<_>) = lines.iter().filter_map(read).unzip();
    let (mut seen, mut faults) = (0, Vec::new());
    for ((made, parts), line) in recorded(shell, &texts).iter().zip(&answers).zip(&texts) {
        seen += made.len();
        faults.extend(
            missed(made, parts)
                .map(|call| format!("{shell}: {line:?} ran {call:?}"))
                .filter(|_| {
                    // The records of calls that go on in the background can run into each other; a fault is one each time.
                    (0..3).all(|_| {
                        let again = recorded(shell, std::slice::from_ref(line));
                        again.iter().any(|made| missed(made, parts).next().is_some())
                    })
                }),
        );
    }
    (texts.len(), seen, faults)
}

/// The calls of each line in a directory of their own.
fn recorded(shell: &str, lines: &[String]) -> Vec<Vec<Vec<String>>> {
    calls(shell, lines, tempfile::tempdir().unwrap().path())
}

/// The calls that are of no part.
fn missed<'a>(made: &'a [Vec<String>], parts: &'a [SimpleCommand]) -> impl Iterator<Item = &'a Vec<String>> {
    made.iter()
        .filter(|call| !parts.iter().any(|part| is_of(call, part)))
}

#[test]
fn every_call_a_shell_makes_was_in_the_splitters_answer() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let set = number("WISP_ORACLE_LINES");
    let count = usize::try_from(set.unwrap_or(10_000)).unwrap();
    let seed = number("WISP_ORACLE_SEED").unwrap_or(0x5eed);
    let shells = shells();
    let (mut readable, mut made, mut faults) = (0, 0, Vec::new());
    for batch in 0..count.div_ceil(10_000) {
        let lines = lines(count.min(10_000), seed + batch as u64 * 7919);
        let half = lines.len().div_ceil(shells.len().max(1));
        let results: Vec<_> = std::thread::scope(|scope| {
            let start = |(at, shell): (usize, &&'static str)| {
                let shell = *shell;
                let all = if set.is_some() {
                    &lines[..]
                } else {
                    &lines[at * half..lines.len().min((at + 1) * half)]
                };
                scope.spawn(move || compared(shell, all))
            };
            let started: Vec<_> = shells.iter().enumerate().map(start).collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (of_these, calls, missed) in results {
            readable += of_these;
            made += calls;
            faults.extend(missed);
        }
        if !faults.is_empty() {
            break;
        }
    }
    println!("{count} lines, {readable} readable, {made} calls");
    faults.truncate(20);
    assert_eq!(faults, [""; 0]);
    assert!(
        shells.is_empty() || made > count / 2,
        "the shells made {made} calls of {readable} lines"
    );
}
