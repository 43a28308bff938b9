//! Asking a program one short question: the branch for the status line, the width of a terminal, a version.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use crate::{CommandSpec, run};

/// The most bytes of an answer, in two halves.
const HALF: usize = 16 * 1024;

/// What a program prints on standard output, without the white space at its end. `None` when it cannot be started, does
/// not succeed within `timeout`, or answers more than 32 KiB or something that is not UTF-8: the caller does without.
pub async fn probe<S: AsRef<OsStr>>(
    argv: impl IntoIterator<Item = S>,
    dir: Option<&Path>,
    timeout: Duration,
) -> Option<String> {
    let mut spec = CommandSpec::argv(argv);
    spec.dir = dir.map(Path::to_owned);
    spec.timeout = Some(timeout);
    spec.bound = HALF;
    let outcome = run(spec).await.ok()?;
    let answer = outcome.ending.is_success().then(|| outcome.stdout.whole())??;
    let answer = String::from_utf8(answer).ok()?;
    Some(answer.trim_end().to_owned())
}
