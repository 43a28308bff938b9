//! Deciding what a condensation does, without doing it.

use serde::{Deserialize, Serialize};
use wisp_amount::grouped;

use crate::earlier::{self, Frame, Line, SQUEEZED_BYTES};
use crate::entry::{EntryId, Revision};
use crate::message::{MESSAGE_FRAME, size};
use crate::pressure::fits;
use crate::record::ThreadRecord;
use crate::target::{Gauge, Phase};
use crate::text::Text;

use super::sizes::{LiteralTurn, Sizes};
use super::{Reason, Step};

/// A condensation that has been thought through and not applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Why.
    pub reason: Reason,
    /// The window, in tokens.
    pub window: u64,
    /// Tokens the context must come down to.
    pub goal: u64,
    /// Estimated context, in tokens, the request left out.
    pub fill_before: u64,
    /// The same once applied.
    pub fill_after: u64,
    /// Tokens of the request: the prompt, and in a tool loop all of the turn under way; 0 between turns, where the prompt
    /// is not known.
    pub prompt: u64,
    /// The headroom counted with, in tokens.
    pub headroom: u64,
    /// Literal turns that are over, before.
    pub turns_before: u32,
    /// The same after.
    pub turns_after: u32,
    /// The turns that leave, oldest first: what a distillation reads.
    pub leaving: Vec<u32>,
    /// What is done, in order. Empty when nothing can be.
    pub steps: Vec<Step>,
    /// Whether the context is still above the goal afterwards.
    pub floor: bool,
    /// Whether the request fits the window afterwards.
    pub fits: bool,
    pub(super) revision: Revision,
    pub(super) kept_from: EntryId,
    pub(super) references: Vec<(EntryId, Text)>,
    pub(super) earlier: Option<Text>,
}

impl Plan {
    /// Whether applying it changes anything.
    pub fn changes(&self) -> bool {
        !self.steps.is_empty()
    }

    /// What the person is told when the floor is reached.
    pub fn floor_note(&self) -> Option<String> {
        let (taken, window) = (grouped(self.fill_after + self.prompt), grouped(self.window));
        let rest = match (self.fits, self.turns_before) {
            // A new conversation has no more room than one that is only begun.
            (true, 0) => "this turn may run out of room; a larger window is set with ollama.contextLength",
            (true, _) => "this turn may run out of room, and /new starts afresh",
            (false, 0) => {
                "the request may not fit; shorten it, or set a larger window with ollama.contextLength"
            }
            (false, _) => "the request may not fit; shorten it or start a new conversation with /new",
        };
        self.floor.then(|| {
            format!(
                "context at its floor: the instructions and the last turn take {taken} of {window} tokens; {rest}"
            )
        })
    }
}

impl ThreadRecord {
    /// Thinks a condensation through: the fewest oldest turns that bring the context to the goal, and the steps of
    /// last resort when even that is not enough. `None` while the window is unknown.
    pub fn plan(&self, gauge: &Gauge<'_>, phase: Phase, reason: Reason) -> Option<Plan> {
        Planner::new(self, gauge, phase)?.run(reason).into()
    }

    /// The plan for a budget that is passed where the server itself refuses what does not fit: it counts exactly, so
    /// the steps of last resort wait for its word, unless the request cannot fit however its text is split into tokens.
    pub fn plan_until_refused(&self, gauge: &Gauge<'_>, phase: Phase) -> Option<Plan> {
        let planner = Planner {
            spares: true,
            ..Planner::new(self, gauge, phase)?
        };
        planner.run(Reason::Budget).into()
    }
}

/// A plan in the making.
struct Planner<'a> {
    record: &'a ThreadRecord,
    gauge: &'a Gauge<'a>,
    window: u64,
    sizes: Sizes,
    /// Lines of the turns that leave.
    lines: Vec<Line>,
    /// How many turns `lines` covers.
    lined: usize,
    /// Tokens of the request that come on top of the context, as estimated from bytes in `sizes.open`.
    own: u64,
    headroom: u64,
    goal: u64,
    dropped: usize,
    /// Between turns: what the person says next is only guessed, and nothing of last resort is done for a guess.
    idle: bool,
    /// The steps of last resort wait until the server has refused the request.
    spares: bool,
    referenced: bool,
    in_turn: usize,
    earlier: Option<Text>,
    steps: Vec<Step>,
}

impl<'a> Planner<'a> {
    fn new(record: &'a ThreadRecord, gauge: &'a Gauge<'a>, phase: Phase) -> Option<Self> {
        let window = gauge.window?;
        let sizes = Sizes::of(record, &record.compose());
        let own = if phase == Phase::Idle {
            0
        } else {
            gauge.estimator.tokens(sizes.open)
        };
        let headroom = record.headroom(gauge);
        let goal = gauge.target.goal(window, own, headroom);
        Some(Self {
            record,
            gauge,
            window,
            sizes,
            lines: Vec::new(),
            lined: 0,
            own,
            headroom,
            goal,
            dropped: 0,
            idle: phase == Phase::Idle,
            spares: false,
            referenced: phase == Phase::Idle,
            in_turn: 0,
            earlier: None,
            steps: Vec::new(),
        })
    }

    fn run(mut self, reason: Reason) -> Plan {
        let fill_before = self.fill();
        // From here on every output of an earlier turn is counted as its reference; between turns it is anyway, since
        // the next request has them as references.
        self.referenced = true;
        self.drop_to_goal();
        if !self.idle {
            self.squeeze();
        }
        if self.is_last_resort() {
            self.drop_last();
            self.reference_in_turn();
        }
        self.count_references();
        let fill_after = self.fill();
        Plan {
            reason,
            window: self.window,
            goal: self.goal,
            fill_before,
            fill_after,
            prompt: self.own,
            headroom: self.headroom,
            turns_before: count(self.sizes.turns.len()),
            turns_after: count(self.sizes.turns.len() - self.dropped),
            leaving: self.sizes.turns[..self.dropped]
                .iter()
                .map(|turn| turn.number)
                .collect(),
            floor: fill_after > self.goal,
            fits: self.fits(),
            revision: self.record.revision,
            kept_from: self.kept_from(),
            references: self.references(),
            earlier: self.earlier,
            steps: self.steps,
        }
    }

    /// Says how many outputs of turns that stay became references.
    fn count_references(&mut self) {
        let kept = &self.sizes.turns[self.dropped..];
        let whole = kept.iter().map(|turn| turn.whole.len()).sum::<usize>();
        if whole > 0 {
            self.steps.insert(0, Step::Referenced(count(whole)));
        }
    }

    /// The fewest oldest turns leave that bring the context to the goal, the last complete one never. What they
    /// leave behind in the earlier block is measured with them.
    fn drop_to_goal(&mut self) {
        let most = self.sizes.turns.len().saturating_sub(1);
        while self.fill() > self.goal && self.dropped < most {
            let over = self.fill() - self.goal;
            let mut freed = 0;
            while freed < over && self.dropped < most {
                freed += self
                    .gauge
                    .estimator
                    .tokens(self.turn_bytes(&self.sizes.turns[self.dropped]));
                self.dropped += 1;
            }
            self.earlier = Some(self.block(earlier::room(Some(self.window))));
        }
        if self.dropped > 0 {
            self.steps.push(Step::Dropped(count(self.dropped)));
        }
    }

    /// Above the goal with one turn left: the earlier block shrinks.
    fn squeeze(&mut self) {
        if self.fill() > self.goal && self.earlier_bytes() > size(SQUEEZED_BYTES) + MESSAGE_FRAME {
            self.earlier = Some(self.block(SQUEEZED_BYTES));
            self.steps.push(Step::Squeezed);
        }
    }

    /// Whether what the person and the model need most may leave too, for a request that does not fit: never between
    /// turns, and on a server that counts exactly only once that is certain.
    fn is_last_resort(&self) -> bool {
        let certain = || self.gauge.estimator.at_least(self.bytes()) > self.window;
        !self.idle && (!self.spares || certain())
    }

    /// The request does not fit the window at all: the last complete turn goes the way of the others.
    fn drop_last(&mut self) {
        if !self.fits() && self.dropped < self.sizes.turns.len() {
            self.dropped = self.sizes.turns.len();
            self.earlier = Some(self.block(SQUEEZED_BYTES));
            self.steps.push(Step::DroppedLast);
        }
    }

    /// It still does not: outputs of the turn under way become references, oldest first, the latest ones never.
    fn reference_in_turn(&mut self) {
        while !self.fits() && self.in_turn < self.sizes.open_whole.len() {
            self.in_turn += 1;
        }
        if self.in_turn > 0 {
            self.steps.push(Step::ReferencedInTurn(count(self.in_turn)));
        }
    }

    /// The earlier block for the turns that have left by now.
    fn block(&mut self, room: usize) -> Text {
        for turn in &self.sizes.turns[self.lined..self.dropped] {
            self.lines.extend(self.record.lines_of(turn.number));
        }
        self.lined = self.dropped;
        let through = match self.dropped.checked_sub(1) {
            Some(last) => self.sizes.turns[last].number,
            None => self.record.earlier_through(),
        };
        self.record.earlier.block(
            &self.lines,
            Frame {
                room,
                through,
                memory: self.record.rules.memory,
            },
        )
    }

    fn turn_bytes(&self, turn: &LiteralTurn) -> u64 {
        if self.referenced {
            turn.referenced_bytes()
        } else {
            turn.bytes
        }
    }

    /// Bytes of the earlier block, with a frame to spare for the message it may come to share.
    fn earlier_bytes(&self) -> u64 {
        self.earlier
            .as_ref()
            .map_or(self.sizes.earlier, |text| size(text.len()) + 2 * MESSAGE_FRAME)
    }

    /// Bytes of the request as planned so far.
    fn bytes(&self) -> u64 {
        let turns: u64 = self.sizes.turns[self.dropped..]
            .iter()
            .map(|turn| self.turn_bytes(turn))
            .sum();
        let saved: u64 = self.sizes.open_whole[..self.in_turn]
            .iter()
            .map(|output| output.saves)
            .sum();
        (self.sizes.fixed + self.earlier_bytes() + turns + self.sizes.open).saturating_sub(saved)
    }

    /// Estimated tokens of all of it.
    fn tokens(&self) -> u64 {
        self.gauge.estimator.estimate(self.bytes()).tokens
    }

    /// Estimated tokens of the context, the request left out.
    fn fill(&self) -> u64 {
        self.tokens().saturating_sub(self.own)
    }

    fn fits(&self) -> bool {
        fits(self.gauge.estimator.estimate(self.bytes()), self.window)
    }

    fn kept_from(&self) -> EntryId {
        match self.sizes.turns.get(self.dropped) {
            _ if self.dropped == 0 => EntryId::at(self.record.literal_start(self.record.revision)),
            Some(turn) => self
                .record
                .turn(turn.number)
                .map_or(EntryId(2), |turn| turn.first),
            None => self
                .record
                .after_turns(self.sizes.turns.last().map_or(0, |turn| turn.number)),
        }
    }

    fn references(&self) -> Vec<(EntryId, Text)> {
        let kept = self.sizes.turns[self.dropped..]
            .iter()
            .flat_map(|turn| &turn.whole);
        let open = &self.sizes.open_whole[..self.in_turn];
        let kept = kept.filter(|_| self.referenced);
        kept.chain(open)
            .map(|output| (output.entry, output.text.clone()))
            .collect()
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
