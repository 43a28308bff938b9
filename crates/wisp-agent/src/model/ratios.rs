//! What was learned about how many bytes a model's tokens have, kept across runs in one small file.
//!
//! The file is advice: one that cannot be read or written changes nothing but the first estimate of a conversation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wisp_context::Estimator;
use wisp_host::files;

/// A file larger than this is not one of wisp's.
const MOST_BYTES: u64 = 1 << 20;
/// The most models remembered; the file is cut in the order of names beyond.
const MOST_MODELS: usize = 500;
/// A change smaller than this is not worth a write.
const WORTH: f64 = 0.02;

/// The kept ratios of one home.
#[derive(Debug, Clone)]
pub struct Ratios {
    file: PathBuf,
}

impl Ratios {
    /// The ratios in a file, which need not exist.
    pub fn at(file: PathBuf) -> Self {
        Self { file }
    }

    /// An estimator for a model: with what was learned before, or as for any model.
    pub fn estimator(&self, model: &str) -> Estimator {
        match read(&self.file).get(model) {
            Some(ratio) => Estimator::with_ratio(*ratio),
            None => Estimator::default(),
        }
    }

    /// Keeps what an estimator has learned, when it has and when it differs from what is kept.
    pub fn keep(&self, model: &str, estimator: &Estimator) {
        if !estimator.is_calibrated() {
            return;
        }
        let mut kept = read(&self.file);
        let ratio = estimator.ratio();
        if kept.get(model).is_some_and(|old| (old - ratio).abs() < WORTH) {
            return;
        }
        kept.insert(model.to_owned(), ratio);
        while kept.len() > MOST_MODELS {
            kept.pop_last();
        }
        // The next conversation's first estimate is a little worse, and nothing else.
        let _ = serde_json::to_vec_pretty(&kept).map(|bytes| files::replace(&self.file, &bytes));
    }
}

fn read(file: &Path) -> BTreeMap<String, f64> {
    let small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
    let text = if small { std::fs::read(file).ok() } else { None };
    text.and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Ratios;

    #[test]
    fn what_one_conversation_learned_the_next_begins_with() {
        let home = tempfile::tempdir().expect("a directory");
        let ratios = Ratios::at(home.path().join("estimates.json"));
        let mut estimator = ratios.estimator("small");
        ratios.keep("small", &estimator);
        assert!(
            !home.path().join("estimates.json").exists(),
            "nothing was learned yet"
        );
        estimator.report(3000, 1000);
        ratios.keep("small", &estimator);
        assert!((ratios.estimator("small").ratio() - 3.0).abs() < 0.001);
        assert!((ratios.estimator("other").ratio() - 4.0).abs() < 0.001);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a damaged file is what is tested")]
    fn a_file_that_is_none_is_as_no_file() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("estimates.json");
        for text in ["", "[1]", "{\"small\": \"4\"}", "{\"small\": 1e9}"] {
            std::fs::write(&file, text).expect("written");
            let ratio = Ratios::at(file.clone()).estimator("small").ratio();
            assert!((1.5..=6.0).contains(&ratio), "{text}");
        }
    }
}
