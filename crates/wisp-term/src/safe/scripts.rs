//! Words that mix alphabets, which look like other words: `pаypal` with a Cyrillic а.

/// A word with letters of more than one alphabet, and which those are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixed {
    /// The word.
    pub word: String,
    /// The alphabets, in the order they come in it.
    pub scripts: Vec<&'static str>,
}

/// The alphabets whose letters are mistaken for each other's, by ranges of their letters.
const SCRIPTS: &[(&str, &[(char, char)])] = &[
    (
        "Latin",
        &[
            ('A', 'Z'),
            ('a', 'z'),
            ('\u{c0}', '\u{24f}'),
            ('\u{250}', '\u{2af}'),
            ('\u{1d00}', '\u{1d7f}'),
            ('\u{1e00}', '\u{1eff}'),
        ],
    ),
    ("Greek", &[('\u{370}', '\u{3ff}'), ('\u{1f00}', '\u{1fff}')]),
    (
        "Cyrillic",
        &[
            ('\u{400}', '\u{52f}'),
            ('\u{1c80}', '\u{1c8f}'),
            ('\u{a640}', '\u{a69f}'),
        ],
    ),
    ("Armenian", &[('\u{530}', '\u{58f}')]),
    ("Cherokee", &[('\u{13a0}', '\u{13ff}'), ('\u{ab70}', '\u{abbf}')]),
    ("Lisu", &[('\u{a4d0}', '\u{a4ff}')]),
    (
        "full-width Latin",
        &[('\u{ff21}', '\u{ff3a}'), ('\u{ff41}', '\u{ff5a}')],
    ),
    ("mathematical", &[('\u{1d400}', '\u{1d7ff}')]),
];

/// The words of a text that mix alphabets, each once, in order.
///
/// ```
/// let mixed = wisp_term::safe::mixed("curl https://p\u{430}ypal.example");
/// assert_eq!(mixed[0].scripts, ["Latin", "Cyrillic"]);
/// ```
pub fn mixed(text: &str) -> Vec<Mixed> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut found: Vec<Mixed> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let mut scripts: Vec<&'static str> = Vec::new();
        for script in word.chars().filter_map(script_of) {
            if !scripts.contains(&script) {
                scripts.push(script);
            }
        }
        if scripts.len() > 1 && found.iter().all(|mixed| mixed.word != word) {
            found.push(Mixed {
                word: word.to_owned(),
                scripts,
            });
        }
    }
    found
}

fn script_of(c: char) -> Option<&'static str> {
    let within = |ranges: &[(char, char)]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
    let found = SCRIPTS.iter().find(|(_, ranges)| within(ranges));
    found.map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_mix_alphabets_are_named_and_each_once() {
        let words = |text: &str| -> Vec<(String, Vec<&str>)> {
            mixed(text).into_iter().map(|m| (m.word, m.scripts)).collect()
        };
        for text in [
            "cat notes.txt",
            "cat файл.txt src/日本語.rs",
            "größe naïve Ωμέγα",
            "a-б c_д 5µm",
        ] {
            assert_eq!(words(text), [], "{text}");
        }
        assert_eq!(
            words("g\u{456}t push; g\u{456}t pull \u{ff52}m p\u{3bf}rt"),
            [
                ("g\u{456}t".to_owned(), vec!["Latin", "Cyrillic"]),
                ("\u{ff52}m".to_owned(), vec!["full-width Latin", "Latin"]),
                ("p\u{3bf}rt".to_owned(), vec!["Latin", "Greek"]),
            ]
        );
    }
}
