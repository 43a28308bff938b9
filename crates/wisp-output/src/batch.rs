//! The last step before results are recorded and sent: all the results of one reply within one budget.
//!
//! Room is shared by max-min water-fill: small results keep everything, the large ones share what is left equally.
//! It is the fairest division there is, since no share can grow but at the cost of one that is no larger. A reduced
//! result is fitted again from its stored output by whoever calls; what comes back is held to its share here, so
//! that no failure of the store can make a batch too large. Order and count stay, and a batch that fits is left
//! alone, so that finishing twice is finishing once.

use std::borrow::Cow;

use crate::content::{MemoryContent, Section};
use crate::fit::{Keeping, Telling, Whole, fit};

/// Shares of `room` for results of `sizes`, in their order. Each is at most its size; together they are at most
/// `room`, and exactly `room` when the sizes exceed it. Remainders of the division go to the earliest.
pub fn water_fill(sizes: &[u64], room: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes[*at]);
    let level = level(sizes, &order, room);
    let mut shares: Vec<u64> = sizes.iter().map(|size| (*size).min(level)).collect();
    let mut left = room.saturating_sub(shares.iter().sum());
    for (share, size) in shares.iter_mut().zip(sizes) {
        let more = left.min(size - *share).min(1);
        *share += more;
        left -= more;
    }
    shares
}

/// The height to which the room fills: what no share exceeds, but for the remainder.
fn level(sizes: &[u64], order: &[usize], room: u64) -> u64 {
    let mut left = room;
    for (done, at) in order.iter().enumerate() {
        let equal = left / (sizes.len() - done) as u64;
        if sizes[*at] > equal {
            return equal;
        }
        left -= sizes[*at];
    }
    u64::MAX
}

/// A result that was made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduced {
    /// Its place in the batch, from 0.
    pub index: usize,
    /// Its size before, in bytes.
    pub from: usize,
    /// Its size now.
    pub to: usize,
}

/// Brings `texts` within `room` bytes together. `refit` makes the text of result `index` again within a share; a
/// longer one is capped. Returns what was reduced, in order; nothing when the batch fits as it is.
pub fn finish(
    texts: &mut [String],
    room: usize,
    mut refit: impl FnMut(usize, usize) -> String,
) -> Vec<Reduced> {
    let sizes: Vec<u64> = texts.iter().map(|text| text.len() as u64).collect();
    if sizes.iter().sum::<u64>() <= room as u64 {
        return Vec::new();
    }
    let mut reduced = Vec::new();
    for (index, share) in water_fill(&sizes, room as u64).into_iter().enumerate() {
        let share = usize::try_from(share).expect("a share of memory is within memory");
        let text = &mut texts[index];
        if text.len() <= share {
            continue;
        }
        let from = text.len();
        *text = cap(&refit(index, share), share).into_owned();
        reduced.push(Reduced {
            index,
            from,
            to: text.len(),
        });
    }
    reduced
}

/// The no-I/O cap at the point of sending: `texts` within `room` bytes together, cut without a store. It changes
/// nothing that [`finish`] has brought within the same room.
pub fn cap_all(texts: &mut [String], room: usize) -> Vec<Reduced> {
    let before = texts.to_vec();
    finish(texts, room, |index, _| before[index].clone())
}

/// `text` within `limit` bytes: itself, or its head and its tail around a marker.
pub fn cap(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let content = MemoryContent::whole(text.as_bytes());
    let lines = text.lines().count() as u64;
    let all = [Section {
        name: None,
        from: 0,
        bytes: text.len() as u64,
        line: 1,
        lines,
        number: 1,
        binary: false,
    }];
    let whole = Whole {
        content: &content,
        sections: &all,
        lines,
    };
    let keeping = Keeping::Lost("it passed the most that one reply's results may have".to_owned());
    let fitted = fit(
        whole,
        limit,
        &Telling {
            keeping,
            ..Telling::default()
        },
    )
    .expect("memory can be read");
    Cow::Owned(fitted.text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Max-min fairness by hand: a byte at a time to the smallest share that is not full.
    fn brute_force(sizes: &[u64], room: u64) -> Vec<u64> {
        let mut shares = vec![0; sizes.len()];
        for _ in 0..room {
            let open = (0..sizes.len()).filter(|at| shares[*at] < sizes[*at]);
            let Some(least) = open.min_by_key(|at| shares[*at]) else {
                break;
            };
            shares[least] += 1;
        }
        shares
    }

    #[test]
    fn small_results_keep_everything() {
        assert_eq!(water_fill(&[10, 500, 20, 900], 430), vec![10, 200, 20, 200]);
        assert_eq!(water_fill(&[10, 500, 20, 900], 431), vec![10, 201, 20, 200]);
        assert_eq!(water_fill(&[5, 5], 10), vec![5, 5]);
        assert_eq!(water_fill(&[], 10), Vec::<u64>::new());
        assert_eq!(water_fill(&[3, 3, 3], 0), vec![0, 0, 0]);
    }

    proptest! {
        #[test]
        fn water_fill_is_the_brute_force_one(
            sizes in proptest::collection::vec(0..60u64, 0..12),
            room in 0..300u64,
        ) {
            prop_assert_eq!(water_fill(&sizes, room), brute_force(&sizes, room));
        }

        #[test]
        fn a_batch_keeps_its_order_and_its_budget_and_finishing_twice_changes_nothing(
            sizes in proptest::collection::vec(0..9_000usize, 0..9),
            room in 0..20_000usize,
        ) {
            let text = |(at, size): (usize, &usize)| format!("{at}漢\n").repeat(size / 6);
            let mut texts: Vec<String> = sizes.iter().enumerate().map(text).collect();
            let before = texts.clone();
            let reduced = finish(&mut texts, room, |index, share| before[index].chars().take(share / 2).collect());
            prop_assert_eq!(texts.len(), before.len());
            prop_assert!(texts.iter().map(String::len).sum::<usize>() <= room);
            for (at, text) in texts.iter().enumerate() {
                let kept = reduced.iter().all(|one| one.index != at);
                prop_assert!(!kept || *text == before[at]);
            }
            let once = texts.clone();
            prop_assert!(finish(&mut texts, room, |_, _| "changed".to_owned()).is_empty());
            prop_assert!(cap_all(&mut texts, room).is_empty());
            prop_assert_eq!(&texts, &once);
        }

        #[test]
        fn a_cap_is_never_passed_and_never_silent(text in "([a-z é]{0,40}\n){0,60}", limit in 0..900usize) {
            let capped = cap(&text, limit);
            prop_assert!(capped.len() <= limit);
            prop_assert!(text.len() <= limit || limit < 3 || capped.contains('…'));
        }
    }

    #[test]
    fn a_refit_that_fails_to_fit_is_capped() {
        let mut texts = vec!["short".to_owned(), "a line\n".repeat(1_000)];
        let reduced = finish(&mut texts, 2_000, |_, _| "another line\n".repeat(1_000));
        assert_eq!(reduced.len(), 1);
        assert_eq!((reduced[0].index, reduced[0].from), (1, 7_000));
        assert!(texts[1].len() <= 1_995);
        assert!(texts[1].contains("held back"));
        assert_eq!(texts[0], "short");
    }
}
