//! TLS, kept out of the way of a server that does not use it.
//!
//! A plain-HTTP client loads no certificates: on a machine without any it must still reach its own server, and
//! reading a system's store takes longer than the whole first request.

use reqwest::ClientBuilder;

use crate::host::Host;

/// Gives an HTTPS client the ring provider and the system's certificates, a plain one nothing.
#[cfg(feature = "tls")]
pub(crate) fn prepare(builder: ClientBuilder, host: &Host) -> ClientBuilder {
    // A provider that is already installed serves as well, so the refusal to install a second is no error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if host.is_secure() {
        builder
    } else {
        builder.tls_certs_only([])
    }
}

/// Without TLS there is nothing to prepare: an HTTPS address fails when it is connected to.
#[cfg(not(feature = "tls"))]
pub(crate) fn prepare(builder: ClientBuilder, _host: &Host) -> ClientBuilder {
    builder
}
