//! The blocks wisp puts beside the conversation, on the prompt side, version by version.
//!
//! Three places of the earlier block and one before the request. Facts and summary stay empty until the layers
//! that write them exist; the place for them is here so that a request's order does not change when they come.

use serde::{Deserialize, Serialize};

use crate::entry::Revision;
use crate::message::PartKind;
use crate::text::Text;

/// A place for a block in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the earlier block: standing facts.
    Facts,
    /// In the earlier block: what the person said in turns no longer shown.
    Earlier,
    /// Last in the earlier block: the running summary.
    Summary,
    /// Just before the request: passing facts and the task.
    Now,
}

impl Place {
    /// The places of the earlier block, in the order sent.
    pub const EARLIER: [Self; 3] = [Self::Facts, Self::Earlier, Self::Summary];

    /// Every place.
    const ALL: [Self; 4] = [Self::Facts, Self::Earlier, Self::Summary, Self::Now];

    fn index(self) -> usize {
        match self {
            Self::Facts => 0,
            Self::Earlier => 1,
            Self::Summary => 2,
            Self::Now => 3,
        }
    }

    /// What a part at this place is called.
    pub(crate) const fn part(self) -> PartKind {
        match self {
            Self::Facts => PartKind::Facts,
            Self::Earlier => PartKind::Earlier,
            Self::Summary => PartKind::Summary,
            Self::Now => PartKind::Now,
        }
    }
}

/// Every version of every block, each place's oldest first; empty text leaves a place empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Blocks {
    by_place: [Vec<(Revision, Text)>; 4],
}

/// One version of a block as a file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    /// Where it goes.
    pub(crate) place: Place,
    /// From which revision on, until the next of its place.
    pub(crate) revision: Revision,
    /// What it says.
    pub(crate) text: Text,
}

impl Blocks {
    /// The text at `place` in the view at `revision`, when there is any.
    pub(crate) fn at(&self, place: Place, revision: Revision) -> Option<&Text> {
        let versions = &self.by_place[place.index()];
        let until = versions.partition_point(|(from, _)| *from <= revision);
        versions[..until]
            .last()
            .map(|(_, text)| text)
            .filter(|text| !text.is_empty())
    }

    /// Puts `text` at `place` from `revision` on.
    pub(crate) fn set(&mut self, place: Place, revision: Revision, text: Text) {
        self.by_place[place.index()].push((revision, text));
    }

    /// The versions that another took the place of by `revision`.
    pub(crate) fn older(&self, revision: Revision) -> Vec<Version> {
        let all = Place::ALL.into_iter().flat_map(|place| {
            let versions = &self.by_place[place.index()];
            let older = replaced(versions, revision);
            versions[..older]
                .iter()
                .map(move |version| Version::of(place, version))
        });
        all.collect()
    }

    /// Lets go of the versions that another took the place of by `revision`.
    pub(crate) fn let_go(&mut self, revision: Revision) {
        for versions in &mut self.by_place {
            versions.drain(..replaced(versions, revision));
        }
    }

    /// Leaves out the versions that came after `revision`.
    pub(crate) fn take_back_to(&mut self, revision: Revision) {
        for versions in &mut self.by_place {
            versions.retain(|(from, _)| *from <= revision);
        }
    }

    /// These versions with older ones before them.
    pub(crate) fn with_older(mut self, older: Vec<Version>) -> Self {
        for version in older.into_iter().rev() {
            self.by_place[version.place.index()].insert(0, (version.revision, version.text));
        }
        self
    }

    /// The versions still in force after `revision`, for saving.
    pub(crate) fn newer(&self, revision: Revision) -> Vec<Version> {
        let all = Place::ALL.into_iter().flat_map(|place| {
            let versions = &self.by_place[place.index()];
            let older = replaced(versions, revision);
            versions[older..]
                .iter()
                .map(move |version| Version::of(place, version))
        });
        all.collect()
    }
}

/// How many of a place's versions another took the place of by `revision`.
fn replaced(versions: &[(Revision, Text)], revision: Revision) -> usize {
    let begun = versions.partition_point(|(from, _)| *from <= revision);
    begun.saturating_sub(1)
}

impl Version {
    fn of(place: Place, (revision, text): &(Revision, Text)) -> Self {
        Self {
            place,
            revision: *revision,
            text: text.clone(),
        }
    }
}
