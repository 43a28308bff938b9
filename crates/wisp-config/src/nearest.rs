//! The name somebody probably meant.

/// The candidate nearest to `word` in any letter case, if at most a third of its letters differ. Of equals the
/// first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = word.to_lowercase();
    let near = |name: &'a str| (distance(&wanted, &name.to_lowercase()), name);
    let (distance, name) = candidates
        .into_iter()
        .map(near)
        .min_by_key(|(distance, _)| *distance)?;
    let longest = word.chars().count().max(name.chars().count());
    (distance * 3 <= longest).then_some(name)
}

/// The fewest insertions, removals, exchanges and swaps of neighbours from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y))
                .min(above[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["approval.threshold", "audit.days", "theme", "model"];
        assert_eq!(nearest("aproval.treshold", names), Some("approval.threshold"));
        assert_eq!(nearest("Theme", names), Some("theme"));
        assert_eq!(nearest("moedl", names), Some("model"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", []), None);
    }

    #[test]
    fn a_swap_of_neighbours_is_one_slip() {
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
