//! `POST /api/pull`: statuses at HTTP 200, errors among them, progress that goes back, success only by its word.
//!
//! What happens is in the name asked for, since the registry is made up: `flaky/…` fails once midway and goes on
//! from there when asked again, `broken/…` ends in a digest mismatch, a name with a host cannot be reached, and
//! `missing…` does not exist. Any other name is pulled and is there afterwards.

use serde_json::{Value, json};

use super::Exchange;
use super::show::model_field;
use crate::answer::{Answer, NDJSON};
use crate::decode::ModelName;
use crate::gojson::encode;
use crate::model::Model;
use crate::wire::Closed;

/// The layers of a made-up model: twelve hex digits and a size in bytes.
const LAYERS: [(&str, u64); 2] = [("4f5a3e2d1c0b", 1_000_000), ("9a8b7c6d5e4f", 1_200)];
/// How far a layer is, in thousandths, from one line to the next; it goes back once, as a part is tried again.
const PROGRESS: [u64; 7] = [0, 250, 500, 375, 625, 875, 1000];
/// Between two lines of progress.
const TICK: std::time::Duration = std::time::Duration::from_millis(60);
/// The long silence while a digest is verified.
const VERIFY: std::time::Duration = std::time::Duration::from_secs(20);

pub(super) async fn pull(x: &mut Exchange<'_, '_>) -> Result<(), Closed> {
    let written = match model_field(&x.request.body, "api.PullRequest", "PullRequest") {
        Ok(written) => written,
        Err(text) => return x.send(Answer::error(400, &text)).await,
    };
    let Ok(name) = ModelName::read(&written) else {
        return x.send(Answer::error(400, "invalid model name")).await;
    };
    x.wire.start(200, NDJSON).await?;
    let error = match stages(x, &name).await? {
        Some(error) => json!({ "error": error }),
        None => json!({ "status": "success" }),
    };
    x.wire.line(&encode(&error)).await?;
    x.wire.end().await
}

async fn say(x: &mut Exchange<'_, '_>, line: Value) -> Result<(), Closed> {
    x.wire.line(&encode(&line)).await
}

/// Everything before the last line; the error it ends with, if it does.
async fn stages(x: &mut Exchange<'_, '_>, name: &ModelName) -> Result<Option<String>, Closed> {
    say(x, json!({"status": "pulling manifest"})).await?;
    if let Some(error) = manifest_error(name) {
        return Ok(Some(error));
    }
    let again = asked_before(x, &name.written);
    let flaky = name.stem.starts_with("flaky/") && !again;
    for (digest, total) in LAYERS {
        for step in PROGRESS {
            if again && step < 500 {
                continue;
            }
            layer(x, digest, total, step).await?;
            if flaky && step == 500 {
                return Ok(Some("max retries exceeded: EOF".to_owned()));
            }
        }
    }
    say(x, json!({"status": "verifying sha256 digest"})).await?;
    x.wire.flush().await?;
    x.shared.clock.sleep(VERIFY).await;
    if name.stem.starts_with("broken/") {
        return Ok(Some(
            "digest mismatch, file must be downloaded again: want sha256:4f5a, got sha256:0000".to_owned(),
        ));
    }
    say(x, json!({"status": "writing manifest"})).await?;
    let mut models = x.shared.models();
    models.retain(|m| !crate::same_model(&m.name, &name.full()));
    models.insert(0, Model::new(&name.full()));
    Ok(None)
}

async fn layer(x: &mut Exchange<'_, '_>, digest: &str, total: u64, step: u64) -> Result<(), Closed> {
    let mut line =
        json!({"status": format!("pulling {digest}"), "digest": format!("sha256:{digest}"), "total": total});
    if step > 0 {
        line["completed"] = json!(total * step / 1000);
    }
    say(x, line).await?;
    x.wire.flush().await?;
    x.shared.clock.sleep(TICK).await;
    Ok(())
}

fn manifest_error(name: &ModelName) -> Option<String> {
    if name.stem.matches('/').count() == 2 {
        let (host, rest) = name.stem.split_once('/')?;
        return Some(format!(
            "pull model manifest: Get \"https://{host}/v2/{rest}/manifests/{}\": dial tcp {host}: connect: connection refused",
            name.tag
        ));
    }
    name.stem
        .starts_with("missing")
        .then(|| "pull model manifest: file does not exist".to_owned())
}

fn asked_before(x: &Exchange<'_, '_>, name: &str) -> bool {
    x.shared.pulls(name) > 1
}
