//! How much of a conversation of 29 turns is left when the question comes, and what reading it cost the server.
//! `scripts/bench retention` runs this. `--show` prints the last request too.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement prints")]

#[path = "../tests/common/retention.rs"]
mod retention;
#[path = "../tests/common/talk.rs"]
mod talk;

fn main() {
    let show = std::env::args().any(|argument| argument == "--show");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    println!("window\tstand\treachable\trequests\tover\tcondensed\tevaluated\tnew\tratio");
    for window in [8192, 32_768] {
        let home = tempfile::tempdir().unwrap();
        let figures = runtime.block_on(retention::measure(home.path(), window));
        println!(
            "{}\t{}/10\t{}/10\t{}\t{}\t{}\t{}\t{}\t{:.2}",
            figures.window,
            figures.stand.len(),
            figures.reachable.len(),
            figures.requests,
            figures.over,
            figures.condensations,
            figures.evaluated,
            figures.new,
            figures.ratio()
        );
        for (what, _) in retention::STATEMENTS {
            let how = match (figures.stand.contains(&what), figures.reachable.contains(&what)) {
                (true, _) => "stands",
                (false, true) => "behind a hint",
                (false, false) => "LOST",
            };
            println!("\t{what}\t{how}");
        }
        if show {
            println!("{}\n{}", figures.last, figures.told.join("\n"));
        }
    }
}
