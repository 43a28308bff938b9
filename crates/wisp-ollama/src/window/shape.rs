//! What a model's cache costs, from its metadata: bytes for each token of the window, and bytes that do not grow.
//!
//! A 16-bit cache is assumed: a quantised one cannot be seen from outside, and the error is on the safe side.

use crate::show::{ModelInfo, PerLayer, Show};

/// Tokens a sliding layer's cache holds beyond its window (ADR 0043).
const SLIDING_SLACK: u64 = 2048;

/// The engine's own buffers; twice that when a draft model runs beside.
const BUFFERS: u64 = 512 << 20;

/// More layers, and wider ones, than any model has: a file that says so is not believed, and sums cannot overflow.
const MAX_BLOCKS: u64 = 4096;
const MAX_WIDTH: u64 = 1 << 20;

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
        let draft = has_draft_line(&show.modelfile);
        if let Some(cost) = hybrid(info, &heads, &show.modelfile) {
            return Some(cost);
        }
        let cost = sliding(info, &heads).unwrap_or_else(|| plain(&heads));
        Some(if draft { cost.with_draft() } else { cost })
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

    fn plain(per_token: u64) -> Self {
        Self {
            per_token,
            sliding_per_token: 0,
            sliding_tokens: 0,
            fixed: 0,
            buffers: BUFFERS,
            layers: Layers::Plain,
            drafts: false,
        }
    }

    /// With the draft model of a `DRAFT` line: one more layer as wide as the widest, and buffers of its own.
    fn with_draft(self) -> Self {
        let layers = match self.layers {
            Layers::Sliding { global, .. } => global,
            Layers::Hybrid { attending, .. } => attending,
            Layers::Plain => 0,
        };
        let one = self.per_token.checked_div(layers).unwrap_or_default();
        Self {
            per_token: self.per_token + one,
            buffers: 2 * BUFFERS,
            drafts: true,
            ..self
        }
    }
}

fn is_width(width: u64) -> bool {
    (1..=MAX_WIDTH).contains(&width)
}

/// The heads of every layer and their size.
struct Heads {
    blocks: u64,
    kv: PerLayer,
    key: u64,
    value: u64,
}

impl Heads {
    fn of(info: &ModelInfo) -> Option<Self> {
        let heads = Self {
            blocks: info
                .block_count()
                .filter(|blocks| (1..=MAX_BLOCKS).contains(blocks))?,
            kv: info.head_count_kv().filter(|heads| is_width(heads.widest()))?,
            key: info.key_length().filter(|width| is_width(*width))?,
            value: info.value_length().filter(|width| is_width(*width))?,
        };
        Some(heads)
    }

    fn in_layer(&self, layer: u64) -> u64 {
        self.kv.of(usize::try_from(layer).unwrap_or(usize::MAX))
    }

    /// Bytes a token takes in one layer.
    fn layer_bytes(&self, layer: u64) -> u64 {
        self.in_layer(layer) * (self.key + self.value) * NUMBER
    }
}

fn plain(heads: &Heads) -> Cost {
    Cost::plain((0..heads.blocks).map(|layer| heads.layer_bytes(layer)).sum())
}

/// Models that say for each layer whether it slides.
fn sliding(info: &ModelInfo, heads: &Heads) -> Option<Cost> {
    let pattern = info.per_layer("attention.sliding_window_pattern")?;
    let window = info.sliding_window()?;
    if !matches!(pattern, PerLayer::Each(_)) {
        return None;
    }
    let key = info.number("attention.key_length_swa").unwrap_or(heads.key);
    let value = info.number("attention.value_length_swa").unwrap_or(heads.value);
    let slides = |layer: &u64| pattern.of(usize::try_from(*layer).unwrap_or(usize::MAX)) > 0;
    let (moving, global): (Vec<u64>, Vec<u64>) = (0..heads.blocks).partition(slides);
    let sliding_per_token = moving
        .iter()
        .map(|layer| heads.in_layer(*layer) * (key + value) * NUMBER)
        .sum();
    Some(Cost {
        sliding_per_token,
        sliding_tokens: window.saturating_add(SLIDING_SLACK),
        layers: Layers::Sliding {
            global: global.len() as u64,
            sliding: moving.len() as u64,
        },
        ..Cost::plain(global.iter().map(|layer| heads.layer_bytes(*layer)).sum())
    })
}

/// Models of which only some layers attend: every `full_attention_interval`th, or those that have heads.
fn hybrid(info: &ModelInfo, heads: &Heads, modelfile: &str) -> Option<Cost> {
    let state = State::of(info)?;
    let drafting = info.number("nextn_predict_layers").unwrap_or_default();
    let own = heads.blocks.checked_sub(drafting)?;
    let interval = info
        .number("full_attention_interval")
        .filter(|interval| *interval > 0);
    let attends = |layer: &u64| match (&heads.kv, interval) {
        (PerLayer::Each(_), _) => heads.in_layer(*layer) > 0,
        (PerLayer::Same(_), Some(interval)) => (layer + 1).is_multiple_of(interval),
        (PerLayer::Same(_), None) => true,
    };
    let attending: Vec<u64> = (0..own).filter(attends).collect();
    let recurrent = own - attending.len() as u64;
    let widest = heads.kv.widest() * (heads.key + heads.value) * NUMBER;
    let per_token: u64 = attending.iter().map(|layer| heads.layer_bytes(*layer)).sum();
    let ahead = if drafting > 0 {
        draft_num_predict(modelfile)
    } else {
        0
    };
    Some(Cost {
        fixed: state
            .bytes()
            .saturating_mul(recurrent)
            .saturating_mul(ahead.saturating_add(1)),
        buffers: if drafting > 0 { 2 * BUFFERS } else { BUFFERS },
        layers: Layers::Hybrid {
            attending: attending.len() as u64,
            recurrent,
        },
        drafts: drafting > 0,
        ..Cost::plain(per_token + drafting * widest)
    })
}

/// The state of one recurrent layer.
struct State {
    kernel: u64,
    inner: u64,
    groups: u64,
    size: u64,
}

impl State {
    fn of(info: &ModelInfo) -> Option<Self> {
        let field = |name: &str| {
            info.number(&format!("ssm.{name}"))
                .filter(|width| *width <= MAX_WIDTH)
        };
        Some(Self {
            kernel: field("conv_kernel")?,
            inner: field("inner_size")?,
            groups: field("group_count").unwrap_or_default(),
            size: field("state_size")?,
        })
    }

    /// Bytes, in 32-bit numbers.
    fn bytes(&self) -> u64 {
        let width = self.inner.saturating_add(2 * self.groups * self.size);
        let convolution = self.kernel.saturating_sub(1).saturating_mul(width);
        convolution
            .saturating_add(self.size * self.inner)
            .saturating_mul(4)
    }
}

fn has_draft_line(modelfile: &str) -> bool {
    modelfile
        .lines()
        .any(|line| line.split_whitespace().next() == Some("DRAFT"))
}

/// Tokens drafted ahead, from `PARAMETER draft_num_predict N`.
fn draft_num_predict(modelfile: &str) -> u64 {
    let number = modelfile.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let named = words.next() == Some("PARAMETER") && words.next() == Some("draft_num_predict");
        named.then(|| words.next()?.parse().ok())?
    });
    number.unwrap_or_default()
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
    fn recurrent_layers_have_a_state_of_fixed_size() {
        let qwen = json!({"general.architecture": "q", "q.block_count": 65, "q.nextn_predict_layers": 1,
            "q.full_attention_interval": 4, "q.attention.head_count": 24, "q.attention.head_count_kv": 4,
            "q.attention.key_length": 256, "q.attention.value_length": 256, "q.ssm.conv_kernel": 4,
            "q.ssm.state_size": 128, "q.ssm.group_count": 16, "q.ssm.inner_size": 6144});
        let cost_of = |modelfile| cost(&qwen, modelfile).expect("a shape");
        let drafting = cost_of("PARAMETER draft_num_predict 4\n");
        assert_eq!((drafting.per_token, drafting.fixed), (68 * 1024, 784_465_920));
        assert_eq!(
            (drafting.buffers, drafting.layers),
            (
                1024 * MIB,
                Layers::Hybrid {
                    attending: 16,
                    recurrent: 48
                }
            )
        );
        assert_eq!(cost_of("").fixed, 784_465_920 / 5);

        let ornith = json!({"general.architecture": "o", "o.block_count": 32, "o.full_attention_interval": 4,
            "o.attention.head_count": 16, "o.attention.head_count_kv": 4, "o.attention.key_length": 256,
            "o.attention.value_length": 256, "o.ssm.conv_kernel": 4, "o.ssm.state_size": 128,
            "o.ssm.group_count": 16, "o.ssm.inner_size": 4096});
        let cost = cost(&ornith, "").expect("a shape");
        assert_eq!(
            (cost.per_token, cost.fixed, cost.buffers),
            (32 * 1024, 52_690_944, 512 * MIB)
        );
    }

    #[test]
    fn heads_by_layer_tell_which_attend() {
        let info = json!({"general.architecture": "n", "n.block_count": 4, "n.attention.head_count": 8,
            "n.attention.head_count_kv": [0, 2, 0, 2], "n.attention.key_length": 64,
            "n.attention.value_length": 64, "n.ssm.conv_kernel": 4, "n.ssm.state_size": 16, "n.ssm.inner_size": 32});
        let cost = cost(&info, "").expect("a shape");
        assert_eq!(
            (cost.per_token, cost.layers),
            (
                1024,
                Layers::Hybrid {
                    attending: 2,
                    recurrent: 2
                }
            )
        );
        assert_eq!(cost.fixed, 2 * 4 * (3 * 32 + 16 * 32));
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
