//! Sharing room among several results: max-min water-fill.
//!
//! Small results keep everything; the large ones share what is left equally. It is the fairest division there is:
//! no share can grow but at the cost of one that is no larger.

/// Shares of `room` for results of `sizes`, in their order. Each is at most its size; together they are at most
/// `room`, and exactly `room` when the sizes exceed it. Remainders of the division go to the earliest.
pub fn water_fill(sizes: &[u64], room: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes[*at]);
    let mut shares = vec![0; sizes.len()];
    let mut left = room;
    for (done, at) in order.iter().enumerate() {
        let waiting = (sizes.len() - done) as u64;
        shares[*at] = sizes[*at].min(left / waiting);
        left -= shares[*at];
    }
    for (share, size) in shares.iter_mut().zip(sizes) {
        let more = left.min(size - *share).min(1);
        *share += more;
        left -= more;
    }
    shares
}
