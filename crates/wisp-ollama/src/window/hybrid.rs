//! Models of which only some layers attend; the others carry a state whose size does not depend on the window.

use super::shape::{Counted, Heads, Layers, MAX_WIDTH};
use crate::show::{ModelInfo, PerLayer};

/// Counts every `full_attention_interval`th layer, or those that have heads. `None` for a model without a state.
pub(super) fn hybrid(info: &ModelInfo, heads: &Heads, modelfile: &str) -> Option<Counted> {
    let state = State::of(info)?;
    let drafting = info.number("nextn_predict_layers").unwrap_or_default();
    let own = heads.blocks.checked_sub(drafting)?;
    let attending = attending(info, heads, own);
    let recurrent = own - attending.len() as u64;
    let ahead = if drafting > 0 {
        draft_num_predict(modelfile)
    } else {
        0
    };
    let states = recurrent.saturating_mul(ahead.saturating_add(1));
    let mut counted = Counted::attending(heads, &attending);
    counted.cost.fixed = state.bytes().saturating_mul(states);
    counted.cost.layers = Layers::Hybrid {
        attending: attending.len() as u64,
        recurrent,
    };
    if drafting > 0 {
        let widest = counted.widest;
        counted = Counted {
            cost: counted.with_draft(drafting),
            widest,
        };
    }
    Some(counted)
}

/// The layers with a cache, of the first `own`.
fn attending(info: &ModelInfo, heads: &Heads, own: u64) -> Vec<u64> {
    let interval = info
        .number("full_attention_interval")
        .filter(|interval| *interval > 0);
    let attends = |layer: &u64| match (&heads.kv, interval) {
        (PerLayer::Each(_), _) => heads.in_layer(*layer) > 0,
        (PerLayer::Same(_), Some(interval)) => (layer + 1).is_multiple_of(interval),
        (PerLayer::Same(_), None) => true,
    };
    (0..own).filter(attends).collect()
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
            let width = info.number(&format!("ssm.{name}"));
            width.filter(|width| *width <= MAX_WIDTH)
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
    use crate::show::Show;
    use crate::window::shape::{Cost, Layers};
    use serde_json::{Value, json};

    const MIB: u64 = 1 << 20;

    fn cost(info: &Value, modelfile: &str) -> Option<Cost> {
        let show = json!({ "model_info": info, "modelfile": modelfile });
        Cost::of(&serde_json::from_value::<Show>(show).expect("reads"))
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
}
