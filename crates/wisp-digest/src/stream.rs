//! One stream of lines and the readers at work on it. Parallel jobs have a stream each.

use crate::cues::{Bits, Cues, WORDS};
use crate::line::Line;
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::Report;
use crate::rest::Rest;

/// The readers of one stream and which of them has the word.
pub(crate) struct Stream {
    readers: Vec<Option<Box<dyn Reader>>>,
    hold: Option<usize>,
    lean: Option<usize>,
    /// Which format is asked next, since the last one asked knows that it is its line.
    given: Option<usize>,
    /// Which formats have read something.
    used: Bits,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stream")
            .field("hold", &self.hold)
            .field("lean", &self.lean)
            .finish_non_exhaustive()
    }
}

impl Stream {
    pub(crate) fn new(formats: &[Format]) -> Self {
        Self {
            readers: formats.iter().map(|_| None).collect(),
            hold: None,
            lean: None,
            given: None,
            used: 0,
        }
    }

    /// Whether no reader waits for the next line, whatever it is.
    pub(crate) fn is_idle(&self) -> bool {
        self.hold.is_none() && self.lean.is_none()
    }

    /// Whether a reader has said that the next line comes to it first, and none waits behind it.
    pub(crate) fn is_held(&self) -> bool {
        self.hold.is_some() && self.lean.is_none()
    }

    /// A mark of the CI runner ends whatever block was open, but for those of readers that know the line: no
    /// tool prints across the end of its step.
    pub(crate) fn interrupt(&mut self, formats: &[Format], cues: &mut Cues<'_>, report: &mut Report) {
        for at in [self.hold, self.lean]
            .into_iter()
            .flatten()
            .filter(|at| !cues.calls(*at))
        {
            if let Some(mut reader) = self.readers[at].take() {
                report.format = formats[at].name;
                reader.finish(report);
            }
        }
        self.hold = self.hold.filter(|at| cues.calls(*at));
        self.lean = self.lean.filter(|at| cues.calls(*at));
    }

    /// Shows the line to the readers it concerns. True when one of them accounted for it.
    pub(crate) fn line(
        &mut self,
        formats: &[Format],
        cues: &mut Cues<'_>,
        line: &Line<'_>,
        report: &mut Report,
    ) -> bool {
        let mut asked = WORDS;
        if let Some(at) = self.hold.take() {
            match self.ask_on(formats, at, line, report) {
                Some(others) => asked |= others,
                None => return true,
            }
        } else if let Some(at) = self.lean
            && self.owns((at, &formats[at]), line, cues.next(), report)
        {
            return true;
        }
        let sure = cues.sure() & !asked;
        if sure != 0 {
            let at = sure.trailing_zeros() as usize;
            if self.owns((at, &formats[at]), line, cues.next(), report) {
                return true;
            }
        }
        let mut rest = cues.bits() & !asked;
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            match self.ask_on(formats, at, line, report) {
                Some(others) => rest &= !others,
                None => return true,
            }
        }
        let leaning = self.lean.take().filter(|at| !cues.calls(*at));
        leaning.is_some_and(|at| self.ask(formats, at, line, report))
    }

    /// Whether the reader that leans on the stream passes over bare lines by itself, and none holds it.
    pub(crate) fn passes_bare(&self) -> bool {
        let leaning = self.lean.filter(|_| self.hold.is_none());
        let reader = leaning.and_then(|at| self.readers[at].as_ref());
        reader.is_some_and(|reader| reader.passes_bare())
    }

    /// Lets the reader that leans on the stream pass over bare lines.
    pub(crate) fn pass_bare(&mut self, rest: &mut Rest<'_>) {
        let reader = self.lean.and_then(|at| self.readers[at].as_mut());
        if reader.is_some_and(|reader| !reader.pass_bare(rest)) {
            self.lean = None;
        }
    }

    /// Lets the reader that holds the stream read on, and where it has ended, those whose sure beginnings the next lines
    /// have.
    pub(crate) fn read_on(&mut self, formats: &[Format], rest: &mut Rest<'_>, report: &mut Report) {
        loop {
            if self
                .hold
                .is_some_and(|at| self.reads_on((at, &formats[at]), rest, report))
            {
                return;
            }
            self.hold = None;
            let Some(next) = rest.beginning().filter(|_| self.lean.is_none()) else {
                return;
            };
            let at = next.sure.trailing_zeros() as usize;
            if !self.owns((at, &formats[at]), &next.line, next.next, report) {
                return;
            }
            rest.pass_shown(&next);
        }
    }

    /// Lets this reader read on: whether it still holds the stream.
    fn reads_on(&mut self, (at, format): (usize, &Format), rest: &mut Rest<'_>, report: &mut Report) -> bool {
        let Some(reader) = &mut self.readers[at] else {
            return false;
        };
        let before = rest.taken();
        rest.give_to(1 << at);
        report.format = format.name;
        let holds = reader.read_on(rest, report);
        if rest.taken() != before {
            self.settle(at, Step::Hold, report);
        }
        holds
    }

    /// Whether the line was this reader's own beyond doubt.
    fn owns(
        &mut self,
        (at, format): (usize, &Format),
        line: &Line<'_>,
        next: Next<'_>,
        report: &mut Report,
    ) -> bool {
        let reader = self.readers[at].get_or_insert_with(format.reader);
        report.format = format.name;
        let step = match reader.own(line, next, report) {
            None | Some(Step::Pass | Step::Give(_)) => return false,
            Some(step) => step,
        };
        report.shown += line.text.len() as u64;
        self.settle(at, step, report);
        true
    }

    /// Asks a reader and those it gives the line to: which were asked, or none when one of them accounted for it.
    fn ask_on(
        &mut self,
        formats: &[Format],
        first: usize,
        line: &Line<'_>,
        report: &mut Report,
    ) -> Option<Bits> {
        let mut asked = 0;
        let mut next = Some(first);
        while let Some(at) = next.filter(|at| asked & (1 << at) == 0) {
            asked |= 1 << at;
            self.given = None;
            if self.ask(formats, at, line, report) {
                return None;
            }
            next = self.given;
        }
        Some(asked)
    }

    fn ask(&mut self, formats: &[Format], at: usize, line: &Line<'_>, report: &mut Report) -> bool {
        let format = &formats[at];
        let reader = self.readers[at].get_or_insert_with(format.reader);
        report.format = format.name;
        report.shown += line.text.len() as u64;
        match reader.line(line, report) {
            Step::Pass => false,
            Step::Give(name) => {
                self.given = formats.iter().position(|format| format.name == name);
                false
            }
            step => {
                self.settle(at, step, report);
                true
            }
        }
    }

    /// A reader has taken a line.
    fn settle(&mut self, at: usize, step: Step, report: &mut Report) {
        if self.used & (1 << at) == 0 && !matches!(step, Step::Try | Step::Common) {
            self.used |= 1 << at;
            report.used();
        }
        match step {
            Step::Hold | Step::Try => self.hold = Some(at),
            Step::Lean => self.lean = Some(at),
            Step::Take | Step::Common if self.lean == Some(at) => self.lean = None,
            _ => {}
        }
    }

    /// Lets every reader report what it held back.
    pub(crate) fn finish(&mut self, formats: &[Format], report: &mut Report) {
        for (at, reader) in self.readers.iter_mut().enumerate() {
            if let Some(reader) = reader {
                report.format = formats[at].name;
                reader.finish(report);
            }
        }
    }

    /// Bytes that the readers keep, written out.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.readers.iter().flatten().map(|reader| reader.kept()).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Digest, Options};

    fn formats(log: &str) -> (Vec<&'static str>, u64, u64) {
        let digest = Digest::of(log.as_bytes(), Options::default());
        let failures = digest.failures.len() as u64 + digest.more_failures;
        (digest.formats, failures, digest.warnings.total)
    }

    #[test]
    fn a_line_that_is_one_formats_own_is_asked_of_no_other() {
        // Mix would have the warning of a stream of Elixir's, but for its place on the next line.
        let elixir = "Compiling 2 files (.ex)\n";
        let rust = "warning: unused variable: `x`\n --> src/lib.rs:4:9\n\n";
        assert_eq!(formats(&format!("{elixir}{rust}")), (vec!["rustc"], 0, 1));
        let mut carried = crate::Digester::new(Options::default());
        for byte in format!("{elixir}{rust}").as_bytes() {
            carried.push(&[*byte]);
        }
        let carried = carried.finish();
        let places = carried
            .warnings
            .kinds
            .iter()
            .map(|kind| (kind.count, kind.location.clone()));
        let place = crate::Location {
            path: "src/lib.rs".to_owned(),
            line: Some(4),
            column: Some(9),
        };
        assert_eq!(places.collect::<Vec<_>>(), [(1, Some(place))]);
        let own = "warning: unused variable \"x\"\n  lib/a.ex:4: A.b/0\n\n";
        assert_eq!(formats(&format!("{elixir}{own}")), (vec!["mix"], 0, 1));
    }

    #[test]
    fn what_stands_in_the_message_of_a_diagnostic_calls_for_nobody_after_another() {
        let named = |what: &str| format!("src/a.c:3:4: error: {what}\n");
        let log = named("use of 'x'") + &named("--- FAIL: TestA (0.00s)") + &named("npm ERR! code E1");
        assert_eq!(formats(&log), (vec!["gcc/clang"], 3, 0));
    }

    #[test]
    fn what_clang_format_says_is_its_own_among_a_compilers_diagnostics() {
        let formatted = "src/a.c:1:14: error: code should be clang-formatted [-Wclang-format-violations]\n";
        let (read, failures, _) = formats(&format!("src/a.c:3:4: error: use of 'x'\n{formatted}{formatted}"));
        assert_eq!((read, failures), (vec!["gcc/clang", "formatter"], 2));
    }

    #[test]
    fn lines_that_begin_as_one_formats_own_and_are_not_go_to_the_others() {
        let (read, failures, _) = formats("test result in a.py:3: error: Incompatible types  [assignment]\n");
        assert_eq!((read, failures), (vec![], 0));
        let (read, failures, _) = formats("   Compiling\nmake: *** [Makefile:3: all] Error 1\n");
        assert_eq!((read, failures), (vec!["make"], 1));
    }
}
