//! The turn: requests up to a limit, the calls of each reply in order, and the end, which comes once.

use crate::calls::{self, Bar, REPEATS_END, REPEATS_TOLD};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The prompt is recorded.
    Begin,
    /// A whole reply with so many calls was recorded.
    Calls(usize),
    /// The call that was to be made is answered.
    CallDone {
        /// Its tool.
        tool: String,
        /// How often an equal call was made now with nothing new found.
        in_a_row: u32,
    },
    /// The call could not be recorded, so it was not run, nor is any after it.
    CallFailed,
    /// The results of the batch are recorded, all that there are.
    Recorded,
    /// A whole reply without calls was recorded.
    Replied,
    /// The user stops the turn: a call under way may still come to its end, and no other is begun.
    Cancel,
    /// What had arrived of a reply was kept when the user stopped it.
    Interrupted,
    /// The server refused the request as too long, or read only a part of it.
    DoesNotFit,
    /// Something failed that is not tried again.
    Failed,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send the next request: its number in the turn, from 1.
    Ask {
        /// The number.
        step: u32,
    },
    /// Answer the call at this place of the reply, from 0: by running it, or with what bars it.
    Call {
        /// The place.
        at: usize,
        /// Why it is not run.
        bar: Option<Bar>,
    },
    /// Ask the model, in the user's words and with the next request, to answer without a tool. Once a batch.
    AskForWords {
        /// The tool that was called twice.
        tool: String,
    },
    /// Record the results of the calls that were answered.
    Finish,
    /// Make room and send the request again. Once a turn: what still does not fit then ends it.
    MakeRoom,
    /// The turn is over.
    End(End),
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The model replied.
    Replied,
    /// The user stopped it.
    Interrupted,
    /// It made as many requests as it may: this many.
    TooManySteps(u32),
    /// The model made the same call over and over.
    Repeated {
        /// Its tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// Something failed; whoever carries the effects out knows what.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Asking {
        step: u32,
    },
    Calling {
        step: u32,
        at: usize,
        calls: usize,
    },
    /// `failed`: a call could not be recorded.
    Finishing {
        step: u32,
        failed: bool,
    },
    Over,
}

/// One turn. An input that its state does not wait for changes nothing: a job that ends late finds the turn over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    state: State,
    max_steps: u32,
    stopped: bool,
    has_made_room: bool,
    was_told: bool,
    repeated: Option<(String, u32)>,
}

impl Machine {
    /// A turn of at most so many requests.
    pub fn new(max_steps: u32) -> Self {
        Self {
            state: State::New,
            max_steps,
            stopped: false,
            has_made_room: false,
            was_told: false,
            repeated: None,
        }
    }

    /// Takes what happened and gives what is to be done, in order.
    pub fn on(&mut self, input: Input) -> Vec<Effect> {
        match (self.state, input) {
            (State::Over, _) => Vec::new(),
            (_, Input::Cancel) => {
                self.stopped = true;
                Vec::new()
            }
            (_, Input::Failed) => self.end(End::Failed),
            (State::New, Input::Begin) => self.ask(1),
            (State::Asking { step }, Input::Calls(calls)) if calls > 0 => self.call(step, 0, calls),
            (State::Asking { .. }, Input::Replied | Input::Calls(_)) => self.end(End::Replied),
            (State::Asking { .. }, Input::Interrupted) => self.end(End::Interrupted),
            (State::Asking { .. }, Input::DoesNotFit) => self.make_room(),
            (State::Calling { step, at, calls }, Input::CallDone { tool, in_a_row }) => {
                let mut effects = self.see_repeat(tool, in_a_row);
                effects.extend(self.call(step, at + 1, calls));
                effects
            }
            (State::Calling { step, .. }, Input::CallFailed) => self.finish(step, true),
            (State::Finishing { step, failed }, Input::Recorded) => self.recorded(step, failed),
            _ => Vec::new(),
        }
    }

    fn end(&mut self, end: End) -> Vec<Effect> {
        self.state = State::Over;
        vec![Effect::End(end)]
    }

    fn ask(&mut self, step: u32) -> Vec<Effect> {
        self.was_told = false;
        if step > self.max_steps {
            return self.end(End::TooManySteps(self.max_steps));
        }
        self.state = State::Asking { step };
        vec![Effect::Ask { step }]
    }

    fn call(&mut self, step: u32, at: usize, calls: usize) -> Vec<Effect> {
        if at >= calls::answered(calls) {
            return self.finish(step, false);
        }
        self.state = State::Calling { step, at, calls };
        let bar = calls::bar(at, calls, self.stopped, self.repeated.is_some());
        vec![Effect::Call { at, bar }]
    }

    fn finish(&mut self, step: u32, failed: bool) -> Vec<Effect> {
        self.state = State::Finishing { step, failed };
        vec![Effect::Finish]
    }

    /// What ran is recorded before a failure of the audit, a stop or a repetition ends the turn.
    fn recorded(&mut self, step: u32, failed: bool) -> Vec<Effect> {
        if failed {
            return self.end(End::Failed);
        }
        if self.stopped {
            return self.end(End::Interrupted);
        }
        match self.repeated.take() {
            Some((tool, times)) => self.end(End::Repeated { tool, times }),
            None => self.ask(step + 1),
        }
    }

    /// An equal call that is made a second time has the model asked to answer; the next one ends the turn.
    fn see_repeat(&mut self, tool: String, in_a_row: u32) -> Vec<Effect> {
        if in_a_row >= REPEATS_END {
            self.repeated = Some((tool, in_a_row));
        } else if in_a_row == REPEATS_TOLD && !std::mem::replace(&mut self.was_told, true) {
            return vec![Effect::AskForWords { tool }];
        }
        Vec::new()
    }

    fn make_room(&mut self) -> Vec<Effect> {
        if std::mem::replace(&mut self.has_made_room, true) {
            return self.end(End::Failed);
        }
        vec![Effect::MakeRoom]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The effects of the last of these inputs, in a turn of at most so many requests that has begun.
    fn last(max_steps: u32, inputs: impl IntoIterator<Item = Input>) -> Vec<Effect> {
        let mut machine = Machine::new(max_steps);
        let begun = machine.on(Input::Begin);
        inputs.into_iter().fold(begun, |_, input| machine.on(input))
    }

    fn done(in_a_row: u32) -> Input {
        Input::CallDone {
            tool: "read_file".to_owned(),
            in_a_row,
        }
    }

    #[test]
    fn the_second_equal_call_has_the_model_asked_for_words_once_a_batch() {
        let told = Effect::AskForWords {
            tool: "read_file".to_owned(),
        };
        let next = |at| Effect::Call { at, bar: None };
        assert_eq!(last(9, [Input::Calls(3), done(2)]), [told, next(1)]);
        assert_eq!(last(9, [Input::Calls(3), done(2), done(2)]), [next(2)]);
    }

    #[test]
    fn the_third_equal_call_bars_the_rest_and_ends_the_turn_with_its_results_recorded() {
        let bar = Some(Bar::Repeated);
        assert_eq!(last(9, [Input::Calls(2), done(3)]), [Effect::Call { at: 1, bar }]);
        let all = [Input::Calls(2), done(3), done(0), Input::Recorded];
        let tool = "read_file".to_owned();
        assert_eq!(last(9, all), [Effect::End(End::Repeated { tool, times: 3 })]);
    }

    #[test]
    fn the_limit_is_the_number_of_requests() {
        let step = [Input::Calls(1), done(1), Input::Recorded];
        assert_eq!(last(2, step.clone()), [Effect::Ask { step: 2 }]);
        let two = step.clone().into_iter().chain(step);
        assert_eq!(last(2, two), [Effect::End(End::TooManySteps(2))]);
    }

    #[test]
    fn a_stop_bars_the_calls_after_it_and_ends_once_their_answers_are_recorded() {
        let stopped = [Input::Calls(2), Input::Cancel, done(1)];
        let bar = Some(Bar::Stopped);
        assert_eq!(last(9, stopped.clone()), [Effect::Call { at: 1, bar }]);
        let all = stopped.into_iter().chain([done(0), Input::Recorded]);
        assert_eq!(last(9, all), [Effect::End(End::Interrupted)]);
    }

    #[test]
    fn room_is_made_once_a_turn() {
        assert_eq!(last(9, [Input::DoesNotFit]), [Effect::MakeRoom]);
        assert_eq!(
            last(9, [Input::DoesNotFit, Input::DoesNotFit]),
            [Effect::End(End::Failed)]
        );
    }

    #[test]
    fn a_call_that_cannot_be_recorded_has_the_results_before_it_recorded_first() {
        let failed = [Input::Calls(3), done(1), Input::CallFailed];
        assert_eq!(last(9, failed.clone()), [Effect::Finish]);
        let all = failed.into_iter().chain([Input::Recorded]);
        assert_eq!(last(9, all), [Effect::End(End::Failed)]);
    }

    #[test]
    fn what_comes_after_the_end_changes_nothing() {
        assert_eq!(last(9, [Input::Replied, done(1)]), []);
        assert_eq!(last(9, [Input::Replied, Input::Cancel, Input::Begin]), []);
    }
}
