//! What does not fit: the cut before the reply, the refusal in its place, and the shift while replying, by release.

use ollama_sim::profile::Era;
use serde_json::{Value, json};

use crate::Clause;
use crate::subject::{Subject, count, numbers, says, words};

pub(crate) const CLAUSES: &[Clause] = &[
    ("a history over the window loses whole messages behind 200", drops),
    ("truncate: false refuses that, where the field exists", refuses),
    ("one message over the window is cut or refused, by release", cuts),
    (
        "a reply past the window goes on or is cut off, by release",
        shifts,
    ),
];

/// The window that is overrun, in tokens: the least that the template and a message fit.
const WINDOW: u64 = 512;

fn options(num_ctx: u64, num_predict: u64) -> Value {
    json!({"num_ctx": num_ctx, "num_predict": num_predict, "temperature": 0, "seed": 1})
}

/// Twelve turns, together well over the window; each alone well under it.
fn history() -> Value {
    let turns = (0..12).flat_map(|n| {
        [
            says("user", &format!("Turn {n}: {}", words(30))),
            says("assistant", "I see."),
        ]
    });
    turns.chain([says("user", "Good evening.")]).collect()
}

fn asked(subject: &Subject, messages: &Value, more: &Value) -> crate::common::Response {
    let mut body = json!({"model": subject.model, "messages": messages, "options": options(WINDOW, 1)});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    subject.send(&body)
}

fn drops(subject: &Subject) {
    let cut = asked(subject, &history(), &json!({}));
    assert_eq!(cut.status, 200, "{}", cut.text());
    let left = count(&cut.last(), "prompt_eval_count");
    assert!(left <= WINDOW, "{left} tokens are left");
    let alone = asked(subject, &json!([says("user", "Good evening.")]), &json!({}));
    assert!(
        left > count(&alone.last(), "prompt_eval_count"),
        "as many messages stay as fit"
    );
}

fn refuses(subject: &Subject) {
    let refused = asked(subject, &history(), &json!({"truncate": false}));
    if subject.profile.overflow_fields {
        overflows(&refused, subject.profile.era);
        return;
    }
    // The field is unknown there and does nothing: the protection must not be taken for granted.
    assert_eq!(refused.status, 200);
    assert!(count(&refused.last(), "prompt_eval_count") <= WINDOW);
}

/// The refusals of too long a prompt.
fn overflows(response: &crate::common::Response, era: Era) {
    assert_eq!(response.status, 400, "{}", response.text());
    let error = response.error();
    if era.is_e4() {
        let inner: Value = serde_json::from_str(&error).expect("the engine's own body is nested");
        assert_eq!(inner["error"]["type"], "exceed_context_size_error", "{inner}");
        assert_eq!(inner["error"]["n_ctx"], WINDOW, "{inner}");
        assert!(count(&inner["error"], "n_prompt_tokens") > WINDOW, "{inner}");
    } else {
        assert_eq!(error, "the input length exceeds the context length");
    }
}

fn cuts(subject: &Subject) {
    let one = json!([says("user", &words(1_000))]);
    let cut = asked(subject, &one, &json!({}));
    if subject.profile.era == Era::E4Native {
        return overflows(&cut, subject.profile.era);
    }
    assert_eq!(cut.status, 200, "{}", cut.text());
    let left = count(&cut.last(), "prompt_eval_count");
    if subject.profile.era == Era::E4Rendered {
        assert!(
            (WINDOW / 2..WINDOW / 2 + 8).contains(&left),
            "half a window: {left}"
        );
    } else {
        assert_eq!(
            left, WINDOW,
            "the front is kept and the end, to exactly the window"
        );
    }
    let refused = asked(subject, &one, &json!({"truncate": false}));
    if subject.profile.overflow_fields {
        return overflows(&refused, subject.profile.era);
    }
    assert_eq!(count(&refused.last(), "prompt_eval_count"), WINDOW);
}

fn shifts(subject: &Subject) {
    // The engine of later releases allots windows in steps of 256, and the reply has to be longer than such a step.
    let told = if subject.profile.era.is_e4() { 240 } else { 60 };
    let messages = json!([says("user", &numbers(told))]);
    let length = subject.whole(&messages, options(2048, 1), json!({}));
    let prompt = count(&length, "prompt_eval_count");
    let window = if subject.profile.era.is_e4() {
        (prompt + 16).next_multiple_of(256)
    } else {
        prompt + 16
    };
    let many = window - prompt + 40;
    let ended = subject.whole(&messages, options(window, many), json!({"shift": false}));
    let (reason, made) = (&ended["done_reason"], count(&ended, "eval_count"));
    if subject.profile.overflow_fields {
        assert_eq!((reason, made < many), (&json!("length"), true), "{ended}");
        let full = window + u64::from(!subject.profile.era.is_e4());
        assert_eq!(prompt + made, full, "{ended}");
    } else {
        // Ignored: nothing but the model and num_predict ends the reply.
        assert!(reason == "stop" || made == many, "{ended}");
        assert!(prompt + made > window, "{ended}");
    }
}
