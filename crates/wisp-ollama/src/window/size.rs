//! Sizing a window from memory: the largest multiple of 4,096 tokens that fits a budget.

use super::shape::Cost;

/// The smallest window sized or adopted, unless the model was trained for less.
pub const FLOOR: u64 = 8192;

const STEP: u64 = 4096;

/// The machine's memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// What could be had now.
    pub available: u64,
    /// What is installed.
    pub total: u64,
    /// What the server already holds for this model.
    pub held: u64,
}

impl Memory {
    /// What a model may use: half of what could be had now, counting what is held for it already, and never more
    /// than three quarters of what is installed.
    pub fn budget(&self) -> u64 {
        let now = self.available.saturating_add(self.held) / 2;
        now.min(self.total / 4 * 3)
    }
}

/// A window and what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sized {
    /// Tokens.
    pub window: u64,
    /// Tokens the model was trained for.
    pub maximum: u64,
    /// Bytes the window needs, weights included.
    pub need: u64,
    /// Bytes that may be used.
    pub budget: u64,
    /// Whether the need is within the budget; the smallest window is used even if not.
    pub fits: bool,
    /// What the need was made of.
    pub cost: Cost,
}

/// Sizes a window for a model whose file has `weights` bytes and which was trained for `maximum` tokens.
pub fn size(cost: Cost, weights: u64, maximum: u64, memory: Memory) -> Sized {
    let budget = memory.budget();
    let fits = |tokens: u64| cost.need(weights, tokens) <= budget;
    let window = if fits(maximum) {
        maximum
    } else {
        largest_step(maximum / STEP, fits).max(FLOOR.min(maximum))
    };
    Sized {
        window,
        maximum,
        need: cost.need(weights, window),
        budget,
        fits: fits(window),
        cost,
    }
}

/// The largest multiple of the step, at most `steps` of them, that fits; 0 when none does. The need only grows.
fn largest_step(steps: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, steps);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle * STEP) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low * STEP
}

#[cfg(test)]
mod tests {
    use super::{Memory, Sized, size};
    use crate::window::shape::{Cost, Layers};

    const GIB: u64 = 1 << 30;

    fn cost(per_token: u64, fixed: u64, buffers: u64) -> Cost {
        Cost {
            per_token,
            sliding_per_token: 0,
            sliding_tokens: 0,
            fixed,
            buffers,
            layers: Layers::Plain,
            drafts: false,
        }
    }

    fn memory(available: u64) -> Memory {
        Memory {
            available,
            total: 256 * GIB,
            held: 0,
        }
    }

    fn granite(available: u64) -> Sized {
        size(
            cost(160 << 10, 0, 512 << 20),
            5_347_234_775,
            131_072,
            memory(available),
        )
    }

    #[test]
    fn the_budget_is_half_of_now_and_at_most_three_quarters_of_all() {
        let budget = |available, total, held| {
            Memory {
                available,
                total,
                held,
            }
            .budget()
        };
        assert_eq!(budget(10, 100, 4), 7);
        assert_eq!(budget(100, 100, 100), 75);
    }

    #[test]
    fn the_largest_multiple_that_fits_is_taken() {
        let found = granite(2 * 10_522_669_875);
        assert_eq!((found.window, found.fits), (24_576, true));
        assert_eq!(found.need / (GIB / 10), 92, "9.2 GiB");
        let exactly = granite(2 * found.need);
        assert_eq!(exactly.window, 24_576);
        assert_eq!(granite(2 * (found.need - 1)).window, 20_480);
    }

    #[test]
    fn a_drafting_hybrid_is_sized_as_measured() {
        let qwen = cost(68 << 10, 784_465_920, 1 << 30);
        let at = |available| size(qwen, 17_740_000_000, 262_144, memory(available)).window;
        assert_eq!(at(50_000_000_000), 73_728);
        assert_eq!((at(40_800_000_000), at(41_000_000_000)), (8192, 12_288));
    }

    #[test]
    fn the_floor_is_used_even_if_it_does_not_fit() {
        let found = granite(GIB);
        assert_eq!((found.window, found.fits), (8192, false));
        let small = size(cost(1 << 20, 0, 0), 0, 2048, memory(0));
        assert_eq!((small.window, small.fits), (2048, false));
    }

    #[test]
    fn the_trained_length_is_never_passed() {
        assert_eq!(granite(1000 * GIB).window, 131_072);
        assert_eq!(size(cost(1, 0, 0), 0, 10_000, memory(GIB)).window, 10_000);
    }
}
