//! Programs that are talked to: their streams are the caller's, and nothing of them outlives it.

#[cfg(target_os = "linux")]
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use wisp_exec::{CommandSpec, Ending, ExecError, serve};

#[cfg(target_os = "linux")]
/// Waits for a condition at most five seconds.
async fn until(mut is: impl FnMut() -> bool) -> bool {
    for _ in 0..500 {
        if is() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[cfg(target_os = "linux")]
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().starts_with('Z') && !rest.is_empty())
}

#[tokio::test]
async fn a_program_answers_what_it_is_told_and_ends_when_nothing_more_comes() {
    let spec = CommandSpec::shell("while read -r line; do echo \"got $line\"; echo aside >&2; done; exit 7");
    let (mut served, streams) = serve(spec).expect("a shell");
    let (mut stdin, mut stdout) = (streams.stdin, BufReader::new(streams.stdout));
    let mut line = String::new();
    for word in ["one", "two"] {
        stdin
            .write_all(format!("{word}\n").as_bytes())
            .await
            .expect("it reads");
        line.clear();
        stdout.read_line(&mut line).await.expect("it answers");
        assert_eq!(line, format!("got {word}\n"));
    }
    drop(stdin);
    assert_eq!(
        served.ended().await.expect("an ending"),
        Ending::Exited { code: 7 }
    );
    let mut aside = String::new();
    let mut stderr = streams.stderr;
    stderr.read_to_string(&mut aside).await.expect("it is kept apart");
    assert_eq!(aside, "aside\naside\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_of_a_program_outlives_the_one_who_holds_it() {
    let spec = CommandSpec::shell("trap '' TERM HUP; sleep 300 & echo $! $$; wait");
    let (served, streams) = serve(spec).expect("a shell");
    let mut line = String::new();
    BufReader::new(streams.stdout)
        .read_line(&mut line)
        .await
        .expect("two ids");
    let pids: Vec<&str> = line.split_whitespace().collect();
    assert!(pids.iter().all(|pid| runs(pid)), "{line}");
    drop(served);
    assert!(until(|| pids.iter().all(|pid| !runs(pid))).await, "{line}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_does_not_end_by_itself_is_ended_with_what_it_started() {
    let spec = CommandSpec::shell("sleep 300 & echo $! $$; exec sleep 300");
    let (served, streams) = serve(spec).expect("a shell");
    let mut line = String::new();
    BufReader::new(streams.stdout)
        .read_line(&mut line)
        .await
        .expect("two ids");
    drop(streams.stdin);
    tokio::time::timeout(Duration::from_secs(10), served.end())
        .await
        .expect("an end");
    let pids: Vec<&str> = line.split_whitespace().collect();
    assert!(until(|| pids.iter().all(|pid| !runs(pid))).await, "{line}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let Err(error) = serve(CommandSpec::argv(["/nowhere/server"])) else {
        panic!("it was started")
    };
    assert!(matches!(error, ExecError::Launch { .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("could not launch /nowhere/server: "),
        "{error}"
    );
}
