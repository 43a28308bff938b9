//! Which key does what: a table of actions with the keys they have unless the person chose others.
//!
//! An action is a row: its name (as the configuration spells it), where it works, its keys, what help says, and the
//! function. The panel of keys, the documentation and the check for clashes read the same rows.

mod chord;
mod table;

use std::collections::BTreeMap;

use crossterm::event::KeyEvent;

pub use chord::{Binding, Chord, NotAKey};
pub use table::ACTIONS;

use crate::app::App;

/// Where keys have their meaning. A key may mean one thing in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The input box.
    Input,
    /// The panel that shows an output.
    Output,
    /// The bar of that panel, while a pattern or a line is typed there.
    Bar,
    /// A panel that shows a text.
    Text,
    /// A list of options.
    Choice,
    /// The question whether something may run.
    Approval,
}

impl Place {
    /// Every place, in the order help lists them, with its heading.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Input, "Typing"),
        (Self::Output, "An output"),
        (Self::Bar, "An output's bar"),
        (Self::Text, "A panel of text"),
        (Self::Choice, "A list"),
        (Self::Approval, "May it run?"),
    ];
}

/// What an action of the input box does while something is being done. Elsewhere every action works at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// It works.
    Always,
    /// It works, and also on the box behind a question: it only edits.
    Edits,
    /// It does nothing.
    Idle,
}

/// One row of the key table.
pub struct Action {
    /// How the configuration names it: unique in its place.
    pub name: &'static str,
    /// Where it works.
    pub place: Place,
    /// Whether it works while something is being done.
    pub when: When,
    /// Its keys, as they are written in the configuration.
    pub keys: &'static [&'static str],
    /// What it does, in a few words.
    pub help: &'static str,
    /// What it does.
    pub run: fn(&mut App),
}

impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Action")
            .field("name", &self.name)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// What is wrong with the keys a person chose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// An action that does not exist.
    #[error(
        "no action is called {name}; the nearest is {nearest} (F1 in wisp-tui shows the keys, docs/tui.md lists the actions)"
    )]
    NoAction {
        /// The name as written.
        name: String,
        /// The action whose name is most like it.
        nearest: &'static str,
    },
    /// A key that cannot be read.
    #[error("keys of {action}: {why}")]
    NotAKey {
        /// The action's name.
        action: String,
        /// What was written.
        why: NotAKey,
    },
    /// Two actions of one place with the same key.
    #[error("{key} is bound to {one} and to {other}; give one of them another key, or none with \"\"")]
    Clash {
        /// The key.
        key: String,
        /// The first action.
        one: &'static str,
        /// The second action.
        other: &'static str,
    },
}

/// What a key turned out to mean.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    /// Nothing is bound to it.
    Nothing,
    /// It is the first of two keys.
    Prefix,
    /// An action.
    Action(&'static Action),
}

/// The keys in use.
#[derive(Debug, Clone)]
pub struct Bindings {
    rows: Vec<(Binding, &'static Action)>,
}

impl Bindings {
    /// The keys of the table, replaced for the actions named in `chosen` (an action without keys has none). Fails on
    /// unknown actions, on keys that cannot be read, and on a key with two meanings in one place.
    pub fn new(chosen: &BTreeMap<String, Vec<String>>) -> Result<Self, KeysError> {
        if let Some(name) = chosen
            .keys()
            .find(|name| ACTIONS.iter().all(|a| a.name != **name))
        {
            return Err(KeysError::NoAction {
                name: name.clone(),
                nearest: nearest(name),
            });
        }
        let mut rows = Vec::new();
        for action in ACTIONS {
            for key in keys_of(action, chosen) {
                let binding = key.parse().map_err(|why| KeysError::NotAKey {
                    action: action.name.to_owned(),
                    why,
                })?;
                rows.push((binding, action));
            }
        }
        check(&rows)?;
        Ok(Self { rows })
    }

    /// What a key means in a place, after `prefix` when there was one.
    pub fn meaning(&self, place: Place, prefix: Option<Chord>, key: KeyEvent) -> Meaning {
        let chord = Chord::from(key);
        let mut found = Meaning::Nothing;
        for (binding, action) in self.rows.iter().filter(|(_, action)| action.place == place) {
            match (prefix, binding.second) {
                (None, None) if binding.first == chord => return Meaning::Action(action),
                (Some(first), Some(second)) if binding.first == first && second == chord => {
                    return Meaning::Action(action);
                }
                (None, Some(_)) if binding.first == chord => found = Meaning::Prefix,
                _ => {}
            }
        }
        found
    }

    /// The keys of an action, as a person reads them.
    pub fn shown(&self, name: &str) -> String {
        let keys = self.rows.iter().filter(|(_, action)| action.name == name);
        keys.map(|(binding, _)| binding.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The first key of an action, for a hint.
    pub fn hint(&self, name: &str) -> Option<String> {
        let (binding, _) = self.rows.iter().find(|(_, action)| action.name == name)?;
        Some(binding.to_string())
    }
}

fn keys_of<'a>(action: &'a Action, chosen: &'a BTreeMap<String, Vec<String>>) -> Vec<&'a str> {
    match chosen.get(action.name) {
        Some(keys) => keys.iter().map(String::as_str).collect(),
        None => action.keys.to_vec(),
    }
}

/// The action whose name takes the fewest letters changed, added or left out to become `name`.
fn nearest(name: &str) -> &'static str {
    let names = ACTIONS.iter().map(|action| action.name);
    names
        .min_by_key(|known| distance(known, name))
        .unwrap_or_default()
}

/// The edit distance of two names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, from) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (to, letter) in b.iter().enumerate() {
            let changed = corner + usize::from(*letter != from);
            corner = row[to + 1];
            row[to + 1] = changed.min(corner + 1).min(row[to] + 1);
        }
    }
    row[b.len()]
}

/// A key may mean one thing in a place, and the first of two keys nothing by itself.
fn check(rows: &[(Binding, &'static Action)]) -> Result<(), KeysError> {
    for (at, (binding, action)) in rows.iter().enumerate() {
        let clash = rows[at + 1..].iter().find(|(other, second)| {
            let same_place = second.place == action.place;
            let prefix = binding.second.is_none() != other.second.is_none() && binding.first == other.first;
            same_place && (binding == other || prefix)
        });
        if let Some((other, second)) = clash {
            return Err(KeysError::Clash {
                key: other.first.to_string(),
                one: action.name,
                other: second.name,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn chosen(rows: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        rows.iter()
            .map(|(name, keys)| ((*name).to_owned(), keys.iter().map(|k| (*k).to_owned()).collect()))
            .collect()
    }

    #[test]
    fn the_table_has_no_clash_and_every_name_once() {
        assert!(Bindings::new(&BTreeMap::new()).is_ok());
        let mut names: Vec<&str> = ACTIONS.iter().map(|action| action.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_person_can_choose_other_keys() {
        let bindings = Bindings::new(&chosen(&[("send", &["ctrl-s"])])).unwrap();
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert!(matches!(
            bindings.meaning(Place::Input, None, enter),
            Meaning::Nothing
        ));
        let save = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
        assert!(matches!(bindings.meaning(Place::Input, None, save), Meaning::Action(a) if a.name == "send"));
        assert_eq!(bindings.shown("send"), "ctrl-s");
    }

    #[test]
    fn a_choice_that_cannot_be_kept_is_refused() {
        let error = |rows: &[(&str, &[&str])]| Bindings::new(&chosen(rows)).unwrap_err().to_string();
        assert!(
            error(&[("open-outptu", &["ctrl-s"])])
                .starts_with("no action is called open-outptu; the nearest is open-output ")
        );
        let other = "; give one of them another key, or none with \"\"";
        assert_eq!(
            error(&[("newline", &["enter"])]),
            format!("enter is bound to send and to newline{other}")
        );
        assert_eq!(
            error(&[("newline", &["ctrl-x"])]),
            format!("ctrl-x is bound to newline and to edit-outside{other}")
        );
        assert!(error(&[("newline", &["ctrl-oo"])]).starts_with("keys of newline: not a key: ctrl-oo"));
    }

    #[test]
    fn two_keys_in_a_row_are_one_action() {
        let bindings = Bindings::new(&BTreeMap::new()).unwrap();
        let first = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL);
        let second = KeyEvent::new(KeyCode::Char('e'), KeyModifiers::CONTROL);
        assert!(matches!(
            bindings.meaning(Place::Input, None, first),
            Meaning::Prefix
        ));
        let found = bindings.meaning(Place::Input, Some(first.into()), second);
        assert!(matches!(found, Meaning::Action(a) if a.name == "edit-outside"));
    }
}
