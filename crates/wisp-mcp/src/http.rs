//! Servers that are reached by an address: streamable HTTP with the workspace's own client.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use wisp_host::Env;

use crate::launch::expanded;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// The most redirects that are followed, each to the same host.
const REDIRECTS: usize = 3;

/// The way to a server. The error says what is wrong with the configuration.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    env: &Env,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let url = expanded(url, env)?;
    // A provider that is already installed serves as well, so the refusal to install a second is no error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let same_host = Policy::custom(|attempt| {
        let from = attempt.previous().first().map(reqwest::Url::origin);
        if attempt.previous().len() > REDIRECTS || from != Some(attempt.url().origin()) {
            attempt.stop()
        } else {
            attempt.follow()
        }
    });
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(0)
        .redirect(same_host)
        .user_agent(concat!("wisp/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http://") {
        // Certificates need not be read for it.
        builder = builder.tls_certs_only([]);
    }
    let client = builder.build().map_err(|e| e.to_string())?;
    let mut given = HashMap::new();
    for (name, value) in headers {
        let value = expanded(value, env)?;
        let header =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name} is no header's name"))?;
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| format!("the header {name} has a value that cannot be sent"))?;
        value.set_sensitive(true);
        given.insert(header, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(given);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
