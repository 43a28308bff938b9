//! Where the server is: `OLLAMA_HOST` read as Ollama itself reads it, with every oddity, and turned into a URL.
//!
//! Ollama's own parser never refuses; it falls back to its default port and warns. A client that does so talks to
//! another server than the one that was named, so what cannot be a server is refused here with a sentence instead.

use std::fmt;
use std::net::IpAddr;

use thiserror::Error;

/// The port Ollama listens on when nobody says otherwise.
pub const DEFAULT_PORT: u16 = 11434;

/// A server's address: `scheme://name:port/base`, always with a port, never with a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    secure: bool,
    name: String,
    port: u16,
    base: String,
}

/// Text that cannot be a server's address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// A scheme that is neither `http` nor `https`.
    #[error("cannot talk to an ollama server over {scheme:?}, only over http or https")]
    Scheme {
        /// What stood before `://`, lower-cased.
        scheme: String,
    },
    /// `user:password@host`. The text is not repeated: it may hold a password.
    #[error("an ollama server's address cannot hold a user name or a password")]
    Credentials,
    /// A name no URL can hold (spaces, several colons, a stray bracket).
    #[error("{name:?} is not the name or the IP address of a server")]
    Name {
        /// The name as it was understood.
        name: String,
    },
    /// A port that is no number from 1 to 65535.
    #[error("{port:?} is no port: a port is a number from 1 to 65535")]
    Port {
        /// What stood after the colon.
        port: String,
    },
    /// A base path with a query, a fragment or spaces.
    #[error("the path {path:?} of an ollama server's address cannot hold spaces, '?' or '#'")]
    Path {
        /// The path as it was given.
        path: String,
    },
    /// A path of Ollama's own API or of its OpenAI-compatible one, which wisp adds itself or does not use.
    #[error("{path:?} in an ollama server's address is a path of its API: name the server alone, without it")]
    ApiPath {
        /// The path as it was given.
        path: String,
    },
}

impl Default for Host {
    fn default() -> Self {
        Self {
            secure: false,
            name: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            base: String::new(),
        }
    }
}

impl Host {
    /// Reads `OLLAMA_HOST`'s forms: a URL, `host`, `host:port`, `:port`, an IP address with or without brackets, a
    /// base path behind any of them, quotes and spaces around it. Empty text is the default server.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let text = text.trim().trim_matches(['"', '\'']).trim();
        let (secure, default_port, rest) = split_scheme(text)?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') {
            return Err(HostError::Credentials);
        }
        let query = authority.find(['?', '#']).map(|at| authority.split_at(at).1);
        if let Some(query) = query {
            return Err(HostError::Path {
                path: query.to_owned(),
            });
        }
        if path.contains(|c: char| "?#".contains(c) || c.is_whitespace() || c.is_control()) {
            return Err(HostError::Path {
                path: path.to_owned(),
            });
        }
        if is_api(path) {
            return Err(HostError::ApiPath {
                path: format!("/{}", path.trim_matches('/')),
            });
        }
        let (name, port) = split_port(authority);
        let name = connectable(&name)?;
        let port = match port {
            None | Some("") => default_port,
            Some(port) => read_port(port)?,
        };
        Ok(Self {
            secure,
            name,
            port,
            base: base_path(path),
        })
    }

    /// The address of one route: `path` begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// The name or the bare IP address (an IPv6 one without brackets).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The port that is connected to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the connection is TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Whether the server is on this machine, by its address alone.
    pub fn is_loopback(&self) -> bool {
        match self.ip() {
            Some(ip) => ip.to_canonical().is_loopback(),
            None => self.name == "localhost" || self.name.ends_with(".localhost"),
        }
    }

    /// Whether the server is on this machine or on a network of one's own (private and link-local addresses, names
    /// without a dot, `.local`, `.internal`): a proxy is never asked for these.
    pub fn is_private(&self) -> bool {
        match self.ip().map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            Some(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
            None => self.is_loopback() || is_local_name(&self.name),
        }
    }

    /// Whether prompts and file contents travel unencrypted to another machine; worth one warning.
    pub fn sends_in_clear(&self) -> bool {
        !self.secure && !self.is_loopback()
    }

    fn ip(&self) -> Option<IpAddr> {
        self.name.parse().ok()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        if self.name.contains(':') {
            write!(f, "{scheme}://[{}]:{}{}", self.name, self.port, self.base)
        } else {
            write!(f, "{scheme}://{}:{}{}", self.name, self.port, self.base)
        }
    }
}

/// Whether TLS is used, the port when none is given, and what follows the scheme.
fn split_scheme(text: &str) -> Result<(bool, u16, &str), HostError> {
    if text == "ollama.com" {
        return Ok((true, 443, text));
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok((false, DEFAULT_PORT, text));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Ok((false, 80, rest)),
        "https" => Ok((true, 443, rest)),
        other => Err(HostError::Scheme {
            scheme: other.to_owned(),
        }),
    }
}

/// Splits `host:port` as Go's `net.SplitHostPort` does; where that refuses, the whole is the host.
fn split_port(authority: &str) -> (String, Option<&str>) {
    if let Some(rest) = authority.strip_prefix('[')
        && let Some((inside, port)) = rest.split_once("]:")
        && !port.contains([':', ']'])
    {
        return (inside.to_owned(), Some(port));
    }
    match authority.split_once(':') {
        Some((name, port)) if !port.contains(':') && !authority.contains(['[', ']']) => {
            (name.to_owned(), Some(port))
        }
        _ => (authority.trim_matches(['[', ']']).to_owned(), None),
    }
}

/// A port that can be connected to, 1 to 65535.
fn read_port(text: &str) -> Result<u16, HostError> {
    match text.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(HostError::Port {
            port: text.to_owned(),
        }),
    }
}

/// Whether a path begins or ends with a part of the API (`/v1`, `/api`, `/api/chat`, `/proxy/v1`). A server behind a path
/// that happens to be called so cannot be told from the usual mistake of pasting another program's base URL.
fn is_api(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let of_api = |part: &str| part.eq_ignore_ascii_case("v1") || part.eq_ignore_ascii_case("api");
    let first = parts.next();
    first.is_some_and(of_api) || parts.next_back().is_some_and(of_api)
}

/// The name to connect to: nothing and the unspecified addresses mean this machine.
fn connectable(name: &str) -> Result<String, HostError> {
    if name.is_empty() {
        return Ok("127.0.0.1".to_owned());
    }
    if let Ok(ip) = name.parse::<IpAddr>() {
        let rewritten = match ip {
            IpAddr::V4(v4) if v4.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V6(v6) if v6.is_unspecified() => "::1".to_owned(),
            other => other.to_string(),
        };
        return Ok(rewritten);
    }
    let fits = name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b) || !b.is_ascii());
    if fits && reqwest::Url::parse(&format!("http://{name}/")).is_ok() {
        Ok(name.to_ascii_lowercase())
    } else {
        Err(HostError::Name {
            name: name.to_owned(),
        })
    }
}

/// A base path with one leading slash and no trailing ones, or nothing.
fn base_path(path: &str) -> String {
    match path.trim_matches('/') {
        "" => String::new(),
        inner => format!("/{inner}"),
    }
}

fn is_local_name(name: &str) -> bool {
    let last = name.rsplit('.').next();
    !name.contains('.') || last == Some("local") || last == Some("internal")
}

#[cfg(test)]
mod tests {
    use super::{Host, HostError};

    fn url(text: &str) -> String {
        Host::parse(text).expect(text).to_string()
    }

    #[test]
    fn reads_what_ollama_reads() {
        let rows = [
            ("", "http://127.0.0.1:11434"),
            ("1.2.3.4", "http://1.2.3.4:11434"),
            (":1234", "http://127.0.0.1:1234"),
            ("example.com", "http://example.com:11434"),
            ("http://1.2.3.4", "http://1.2.3.4:80"),
            ("https://1.2.3.4", "https://1.2.3.4:443"),
            ("https://example.com/ollama", "https://example.com:443/ollama"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("[::1]:1337", "http://[::1]:1337"),
            ("\" 1.2.3.4 \"", "http://1.2.3.4:11434"),
            ("'1.2.3.4'", "http://1.2.3.4:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:9", "http://127.0.0.1:9"),
            ("[::]", "http://[::1]:11434"),
            ("https://0.0.0.0:4321", "https://127.0.0.1:4321"),
            ("ollama.com", "https://ollama.com:443"),
            ("https://ollama.com", "https://ollama.com:443"),
            ("example.com:", "http://example.com:11434"),
            ("example.com:65535", "http://example.com:65535"),
            ("http://h:8080/a/b//", "http://h:8080/a/b"),
            ("h:1/", "http://h:1"),
            ("HTTPS://Example.COM", "https://example.com:443"),
        ];
        for (text, expected) in rows {
            assert_eq!(url(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_port_that_is_none_is_refused_and_never_replaced() {
        for (text, port) in [
            (":66000", "66000"),
            ("127.0.0.1:99999", "99999"),
            ("http://127.0.0.1:abc", "abc"),
            ("h:http", "http"),
            ("h:-1", "-1"),
            ("h:0", "0"),
            ("[::1]:x", "x"),
            ("h:80 80", "80 80"),
        ] {
            assert_eq!(
                Host::parse(text),
                Err(HostError::Port { port: port.into() }),
                "{text}"
            );
        }
        assert_eq!(
            HostError::Port { port: "abc".into() }.to_string(),
            r#""abc" is no port: a port is a number from 1 to 65535"#
        );
    }

    #[test]
    fn a_path_of_the_api_is_named_as_the_fault() {
        for (text, path) in [
            ("http://h:1/v1", "/v1"),
            ("http://h:1/v1/", "/v1"),
            ("h:1/api", "/api"),
            ("h:1/api/chat", "/api/chat"),
            ("https://h/V1/chat/completions", "/V1/chat/completions"),
            ("https://h/ollama/v1", "/ollama/v1"),
        ] {
            assert_eq!(
                Host::parse(text),
                Err(HostError::ApiPath { path: path.into() }),
                "{text}"
            );
        }
        assert_eq!(url("https://h/apiary"), "https://h:443/apiary");
    }

    #[test]
    fn a_query_does_not_change_the_port() {
        for text in ["http://h:5000?x=1", "h:5000?x=1", "h#frag", "http://h:5000/?x=1"] {
            assert!(matches!(Host::parse(text), Err(HostError::Path { .. })), "{text}");
        }
    }

    #[test]
    fn refuses_what_cannot_be_a_server() {
        assert_eq!(
            Host::parse("ftp://h"),
            Err(HostError::Scheme { scheme: "ftp".into() })
        );
        assert_eq!(Host::parse("http://me:secret@h"), Err(HostError::Credentials));
        assert!(matches!(Host::parse("a b"), Err(HostError::Name { .. })));
        assert!(matches!(Host::parse("a:b:c"), Err(HostError::Name { .. })));
        assert!(matches!(Host::parse("h/x?y=1"), Err(HostError::Path { .. })));
        assert!(matches!(Host::parse("h/x y"), Err(HostError::Path { .. })));
    }

    #[test]
    fn a_route_never_has_two_slashes() {
        let host = Host::parse("http://h:1/base/").expect("parses");
        assert_eq!(host.url("/api/chat"), "http://h:1/base/api/chat");
    }

    #[test]
    fn knows_its_neighbourhood() {
        for (text, loopback, private, clear) in [
            ("127.0.0.1", true, true, false),
            ("[::1]", true, true, false),
            ("localhost", true, true, false),
            ("x.localhost", true, true, false),
            ("192.168.1.9", false, true, true),
            ("169.254.1.1", false, true, true),
            ("fe80::1", false, true, true),
            ("fd00::1", false, true, true),
            ("gpu", false, true, true),
            ("gpu.local", false, true, true),
            ("8.8.8.8", false, false, true),
            ("example.com", false, false, true),
            ("https://example.com", false, false, false),
        ] {
            let host = Host::parse(text).expect(text);
            let found = (host.is_loopback(), host.is_private(), host.sends_in_clear());
            assert_eq!(found, (loopback, private, clear), "{text}");
        }
    }
}
