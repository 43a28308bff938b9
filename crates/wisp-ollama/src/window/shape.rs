//! What a model's cache costs, from its metadata: bytes for each token of the window, and bytes that do not grow.
//!
//! A 16-bit cache is assumed: a quantised one cannot be seen from outside, and the error is on the safe side.

use super::hybrid::hybrid;
use crate::show::{ModelInfo, PerLayer, Show};

/// Tokens a sliding layer's cache holds beyond its window.
const SLIDING_SLACK: u64 = 2048;

/// The engine's own buffers; twice that when a draft model runs beside.
const BUFFERS: u64 = 512 << 20;

/// More layers, and wider ones, than any model has: a file that says so is not believed, and sums cannot overflow.
const MAX_BLOCKS: u64 = 4096;
pub(super) const MAX_WIDTH: u64 = 1 << 20;

/// Bytes of one number in the cache.
const NUMBER: u64 = 2;

/// How the layers were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// All alike.
    Plain,
    /// Some see the whole window, the others a sliding part.
    Sliding {
        /// Layers that see everything.
        global: u64,
        /// Layers that slide.
        sliding: u64,
    },
    /// Some attend, the others carry a state of fixed size.
    Hybrid {
        /// Layers with a cache.
        attending: u64,
        /// Layers with a state.
        recurrent: u64,
    },
}

/// What a window costs, weights aside. All in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// For each token of the window.
    pub per_token: u64,
    /// For each token in the sliding layers, up to `sliding_tokens`.
    pub sliding_per_token: u64,
    /// The most tokens a sliding layer holds.
    pub sliding_tokens: u64,
    /// Whatever the window.
    pub fixed: u64,
    /// The engine's buffers.
    pub buffers: u64,
    /// How the layers were counted.
    pub layers: Layers,
    /// Whether a draft model or draft layers run beside.
    pub drafts: bool,
}

impl Cost {
    /// Reads the cost from `/api/show`. `None` where the metadata has no shape (pure state-space models, remote ones).
    pub fn of(show: &Show) -> Option<Self> {
        let info = &show.model_info;
        let heads = Heads::of(info)?;
        let counted = hybrid(info, &heads, &show.modelfile)
            .or_else(|| sliding(info, &heads))
            .unwrap_or_else(|| plain(&heads));
        let drafts = has_draft_line(&show.modelfile) && !counted.cost.drafts;
        Some(if drafts {
            counted.with_draft(1)
        } else {
            counted.cost
        })
    }

    /// Bytes a window of `tokens` needs beside weights of `weights` bytes.
    pub fn need(&self, weights: u64, tokens: u64) -> u64 {
        let sliding = self
            .sliding_per_token
            .saturating_mul(tokens.min(self.sliding_tokens));
        let cache = self.per_token.saturating_mul(tokens);
        [sliding, cache, self.fixed, self.buffers]
            .iter()
            .fold(weights, |sum, part| sum.saturating_add(*part))
    }
}

/// A cost, and the widest of the layers that see the whole window, in bytes a token.
pub(super) struct Counted {
    pub(super) cost: Cost,
    pub(super) widest: u64,
}

impl Counted {
    /// Counts layers that see the whole window.
    pub(super) fn attending(heads: &Heads, layers: &[u64]) -> Self {
        let bytes = || layers.iter().map(|layer| heads.layer_bytes(*layer));
        Self {
            cost: Cost {
                per_token: bytes().sum(),
                sliding_per_token: 0,
                sliding_tokens: 0,
                fixed: 0,
                buffers: BUFFERS,
                layers: Layers::Plain,
                drafts: false,
            },
            widest: bytes().max().unwrap_or_default(),
        }
    }

    /// With layers that draft, each as wide as the widest, and buffers of their own.
    pub(super) fn with_draft(self, layers: u64) -> Cost {
        Cost {
            per_token: self.cost.per_token + layers * self.widest,
            buffers: 2 * BUFFERS,
            drafts: true,
            ..self.cost
        }
    }
}

/// The heads of every layer and their size.
pub(super) struct Heads {
    pub(super) blocks: u64,
    pub(super) kv: PerLayer,
    key: u64,
    value: u64,
}

impl Heads {
    fn of(info: &ModelInfo) -> Option<Self> {
        let blocks = info.block_count();
        let heads = Self {
            blocks: blocks.filter(|blocks| (1..=MAX_BLOCKS).contains(blocks))?,
            kv: info.head_count_kv().filter(|heads| is_width(heads.widest()))?,
            key: info.key_length().filter(|width| is_width(*width))?,
            value: info.value_length().filter(|width| is_width(*width))?,
        };
        Some(heads)
    }

    pub(super) fn in_layer(&self, layer: u64) -> u64 {
        self.kv.of(index(layer))
    }

    /// Bytes a token takes in one layer.
    fn layer_bytes(&self, layer: u64) -> u64 {
        self.in_layer(layer) * (self.key + self.value) * NUMBER
    }
}

fn is_width(width: u64) -> bool {
    (1..=MAX_WIDTH).contains(&width)
}

fn index(layer: u64) -> usize {
    usize::try_from(layer).unwrap_or(usize::MAX)
}

fn plain(heads: &Heads) -> Counted {
    let all: Vec<u64> = (0..heads.blocks).collect();
    Counted::attending(heads, &all)
}

/// Models that say for each layer whether it slides.
fn sliding(info: &ModelInfo, heads: &Heads) -> Option<Counted> {
    let pattern = info.per_layer("attention.sliding_window_pattern")?;
    let window = info.sliding_window()?;
    if !matches!(pattern, PerLayer::Each(_)) {
        return None;
    }
    let width = |name: &str, other: u64| {
        let own = info.number(name).filter(|width| is_width(*width));
        own.unwrap_or(other)
    };
    let key = width("attention.key_length_swa", heads.key);
    let value = width("attention.value_length_swa", heads.value);
    let slides = |layer: &u64| pattern.of(index(*layer)) > 0;
    let (moving, global): (Vec<u64>, Vec<u64>) = (0..heads.blocks).partition(slides);
    let mut counted = Counted::attending(heads, &global);
    let heads_moving: u64 = moving.iter().map(|layer| heads.in_layer(*layer)).sum();
    counted.cost.sliding_per_token = heads_moving * (key + value) * NUMBER;
    counted.cost.sliding_tokens = window.saturating_add(SLIDING_SLACK);
    counted.cost.layers = Layers::Sliding {
        global: global.len() as u64,
        sliding: moving.len() as u64,
    };
    Some(counted)
}

fn has_draft_line(modelfile: &str) -> bool {
    modelfile
        .lines()
        .any(|line| line.split_whitespace().next() == Some("DRAFT"))
}

#[cfg(test)]
mod tests {
    use super::{Cost, Layers};
    use crate::show::Show;
    use serde_json::{Value, json};

    const MIB: u64 = 1 << 20;

    fn cost(info: &Value, modelfile: &str) -> Option<Cost> {
        let show = json!({ "model_info": info, "modelfile": modelfile });
        Cost::of(&serde_json::from_value::<Show>(show).expect("reads"))
    }

    #[test]
    fn alike_layers_are_counted_once_each() {
        let granite = json!({"general.architecture": "g", "g.block_count": 40, "g.embedding_length": 4096,
            "g.attention.head_count": 32, "g.attention.head_count_kv": 8});
        let cost = cost(&granite, "").expect("a shape");
        assert_eq!(
            (cost.per_token, cost.fixed, cost.buffers),
            (160 * 1024, 0, 512 * MIB)
        );
        assert_eq!(cost.layers, Layers::Plain);
    }

    fn gemma(global: usize, kv_global: u64, sliding: usize) -> Value {
        let mut kv = vec![8; sliding];
        kv.extend(vec![kv_global; global]);
        let mut pattern = vec![true; sliding];
        pattern.extend(vec![false; global]);
        json!({"general.architecture": "g", "g.block_count": global + sliding,
            "g.attention.head_count": 16, "g.attention.head_count_kv": kv,
            "g.attention.key_length": 512, "g.attention.value_length": 512,
            "g.attention.key_length_swa": 256, "g.attention.value_length_swa": 256,
            "g.attention.sliding_window": 1024, "g.attention.sliding_window_pattern": pattern})
    }

    #[test]
    fn sliding_layers_stop_growing() {
        let small = cost(&gemma(8, 1, 40), "FROM x\nDRAFT y\n").expect("a shape");
        assert_eq!(
            (small.per_token, small.buffers, small.drafts),
            (18 * 1024, 1024 * MIB, true)
        );
        assert_eq!(
            small.layers,
            Layers::Sliding {
                global: 8,
                sliding: 40
            }
        );
        assert_eq!(
            small.need(0, 3072) - small.per_token * 3072 - small.buffers,
            960 * MIB
        );
        assert_eq!(
            small.need(0, 9999) - small.per_token * 9999 - small.buffers,
            960 * MIB
        );
        assert!(small.need(0, 3071) - small.per_token * 3071 - small.buffers < 960 * MIB);
        let large = cost(&gemma(5, 2, 25), "DRAFT y").expect("a shape");
        assert_eq!(large.per_token, 24 * 1024);
        assert_eq!(
            large.need(0, 8192) - large.per_token * 8192 - large.buffers,
            600 * MIB
        );
        assert_eq!(cost(&gemma(5, 2, 25), "").expect("a shape").per_token, 20 * 1024);
    }

    #[test]
    fn a_draft_model_is_one_more_layer_whatever_the_kind() {
        let plain = json!({"general.architecture": "g", "g.block_count": 40, "g.embedding_length": 4096,
            "g.attention.head_count": 32, "g.attention.head_count_kv": 8});
        let cost = cost(&plain, "DRAFT y").expect("a shape");
        assert_eq!((cost.per_token, cost.buffers), (164 * 1024, 1024 * MIB));
    }

    #[test]
    fn a_file_that_lies_is_not_believed() {
        let huge = u64::MAX;
        for (blocks, heads, size) in [(huge, 8, 64), (4, huge, 64), (4, 8, huge)] {
            let info = json!({"general.architecture": "x", "x.block_count": blocks, "x.attention.head_count": heads,
                "x.attention.key_length": size, "x.attention.value_length": size});
            assert_eq!(cost(&info, ""), None);
        }
    }

    #[test]
    fn no_shape_is_no_cost() {
        assert_eq!(cost(&json!({}), ""), None);
        let mamba = json!({"general.architecture": "m", "m.block_count": 4, "m.ssm.inner_size": 32,
            "m.attention.head_count": 0, "m.embedding_length": 64});
        assert_eq!(cost(&mamba, ""), None);
    }
}
