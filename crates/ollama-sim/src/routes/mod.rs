//! The routes, one row each, and what every request passes first.

mod account;
mod chat;
mod check;
mod create;
mod embed;
mod generate;
mod line;
mod list;
mod manage;
mod play;
mod pull;
mod refuse;
mod show;

use std::sync::Arc;

use crate::answer::{Answer, CHUNKED_FROM};
use crate::http::Request;
use crate::profile::Profile;
use crate::server::Shared;
use crate::wire::{Closed, Wire};

/// One request being answered.
pub(crate) struct Exchange<'a, 'c> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) request: &'a Request,
    pub(crate) wire: &'a mut Wire<'c>,
    /// Its place in the log.
    pub(crate) record: usize,
}

impl Exchange<'_, '_> {
    pub(crate) fn profile(&self) -> &Profile {
        &self.shared.profile
    }

    /// Sends a whole answer.
    pub(crate) async fn send(&mut self, answer: Answer) -> Result<(), Closed> {
        let body = answer.body.as_bytes();
        match answer.content_type {
            Some(kind) if body.len() > CHUNKED_FROM => {
                self.wire.start(answer.status, kind).await?;
                self.wire.raw(body).await?;
                self.wire.end().await
            }
            kind => self.wire.whole(answer.status, kind, body).await,
        }
    }
}

/// What answers a route.
#[derive(Clone, Copy)]
enum Handler {
    /// At once, from what the server knows.
    Now(fn(&Exchange<'_, '_>) -> Answer),
    /// Over time.
    Slow(Slow),
}

#[derive(Clone, Copy)]
enum Slow {
    Chat,
    Generate,
    Ps,
    Pull,
    Create,
    Embed,
}

struct Route {
    method: &'static str,
    path: &'static str,
    /// Whether `HEAD` is answered too.
    head: bool,
    /// Whether this release has it.
    exists: fn(&Profile) -> bool,
    handler: Handler,
}

const fn always(_: &Profile) -> bool {
    true
}

fn account_routes(profile: &Profile) -> bool {
    profile.account_routes
}

const fn route(method: &'static str, path: &'static str, handler: Handler) -> Route {
    Route {
        method,
        path,
        head: false,
        exists: always,
        handler,
    }
}

const fn with_head(path: &'static str, handler: Handler) -> Route {
    Route {
        method: "GET",
        path,
        head: true,
        exists: always,
        handler,
    }
}

const fn account(method: &'static str, path: &'static str, handler: Handler) -> Route {
    Route {
        method,
        path,
        head: false,
        exists: account_routes,
        handler,
    }
}

static ROUTES: [Route; 15] = [
    with_head("/", Handler::Now(list::root)),
    with_head("/api/version", Handler::Now(list::version)),
    with_head("/api/tags", Handler::Now(list::tags)),
    route("GET", "/api/ps", Handler::Slow(Slow::Ps)),
    route("POST", "/api/show", Handler::Now(show::show)),
    route("POST", "/api/chat", Handler::Slow(Slow::Chat)),
    route("POST", "/api/generate", Handler::Slow(Slow::Generate)),
    route("POST", "/api/pull", Handler::Slow(Slow::Pull)),
    route("DELETE", "/api/delete", Handler::Now(manage::delete)),
    route("POST", "/api/copy", Handler::Now(manage::copy)),
    route("POST", "/api/create", Handler::Slow(Slow::Create)),
    route("POST", "/api/embed", Handler::Slow(Slow::Embed)),
    account("POST", "/api/me", Handler::Now(account::me)),
    account("GET", "/api/status", Handler::Now(account::status)),
    route("GET", "/v1/models", Handler::Now(list::openai_models)),
];

/// Answers one request.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    request: &Request,
    wire: &mut Wire<'_>,
    record: usize,
) -> Result<(), Closed> {
    let mut exchange = Exchange {
        shared,
        request,
        wire,
        record,
    };
    if !host_allowed(request) || !origin_allowed(request) {
        return exchange.send(Answer::empty(403)).await;
    }
    let here = |r: &&Route| r.path == request.path && (r.exists)(&shared.profile);
    let fits = |r: &&Route| r.method == request.method || (r.head && request.method == "HEAD");
    let Some(route) = ROUTES.iter().filter(here).find(fits) else {
        exchange.wire.allow = ROUTES.iter().find(here).map(|r| r.method);
        let answer = match exchange.wire.allow {
            Some(_) => Answer::text(405, "405 method not allowed"),
            None => Answer::text(404, "404 page not found"),
        };
        return exchange.send(answer).await;
    };
    match route.handler {
        Handler::Now(handler) => {
            let answer = handler(&exchange);
            exchange.send(answer).await
        }
        Handler::Slow(Slow::Chat) => chat::chat(&mut exchange).await,
        Handler::Slow(Slow::Generate) => generate::generate(&mut exchange).await,
        Handler::Slow(Slow::Ps) => list::ps(&mut exchange).await,
        Handler::Slow(Slow::Pull) => pull::pull(&mut exchange).await,
        Handler::Slow(Slow::Create) => create::create(&mut exchange).await,
        Handler::Slow(Slow::Embed) => embed::embed(&mut exchange).await,
    }
}

/// Whether the `Host` header is one a server bound to loopback answers.
fn host_allowed(request: &Request) -> bool {
    let Some(host) = request.header("host") else {
        return true;
    };
    let name = host_name(host);
    let local = |ip: std::net::IpAddr| match ip {
        std::net::IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_unspecified(),
        std::net::IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified(),
    };
    let suffixes = [".localhost", ".local", ".internal"];
    name.is_empty()
        || name == "localhost"
        || name.parse().is_ok_and(|ip| local(ip) || is_own(ip))
        || suffixes.iter().any(|suffix| name.ends_with(suffix))
}

/// Whether an address is one of this machine's own: only such can be bound to.
fn is_own(ip: std::net::IpAddr) -> bool {
    std::net::UdpSocket::bind((ip, 0)).is_ok()
}

/// The host of a `Host` header, without brackets and port, in lower case.
fn host_name(host: &str) -> String {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.to_ascii_lowercase()
}

/// Whether the `Origin` header, if any, is one the server answers.
fn origin_allowed(request: &Request) -> bool {
    let Some(origin) = request.header("origin") else {
        return true;
    };
    let Some((scheme, rest)) = origin.split_once("://") else {
        return false;
    };
    let local = ["localhost", "127.0.0.1", "0.0.0.0"];
    let apps = ["app", "file", "tauri", "vscode-webview", "vscode-file"];
    apps.contains(&scheme) || local.contains(&host_name(rest).as_str())
}
