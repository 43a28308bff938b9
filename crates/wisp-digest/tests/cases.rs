//! The given cases: each is an output that other programs read wrongly, with the right answer in numbers.

mod common;

#[path = "given/chains.rs"]
mod chains;
#[path = "given/compilers.rs"]
mod compilers;
#[path = "given/logs.rs"]
mod logs;
#[path = "given/published.rs"]
mod published;
#[path = "given/suites.rs"]
mod suites;
#[path = "given/words.rs"]
mod words;
#[path = "given/words_suites.rs"]
mod words_suites;
