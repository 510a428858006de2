//! Who is answered: only the page that was served to whoever knows the token.
//!
//! Other pages in the browser, and names of the network that someone points at this address (DNS rebinding), do not know it, and
//! are not called by the names that are accepted here. Other users of the machine do not know it either.

use crate::http::Request;
use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// The header that the page sends the token in.
const HEADER: &str = "x-spmdvm-token";

/// Knows the token and its own names.
pub struct Guard {
    token: String,
    /// Opens the page once, in place of the token: for addresses that others can see, such as those in the arguments of a browser.
    ticket: Mutex<Option<String>>,
    hosts: [String; 2],
}

/// How whoever is answered is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// By the token.
    ByToken,
    /// By the ticket; the page is to be told the token.
    ByTicket,
}

/// Why a request is not answered.
#[derive(Debug)]
pub struct Refusal {
    /// The status code.
    pub status: u16,
    /// A sentence.
    pub why: &'static str,
}

impl Guard {
    /// With a new token and a ticket.
    pub fn new(address: SocketAddr) -> io::Result<Guard> {
        let port = address.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Ok(Guard { token: secret()?, ticket: Mutex::new(Some(secret()?)), hosts })
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The address that shows the page once; `None` if it has.
    pub fn ticket_url(&self) -> Option<String> {
        let ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        ticket.as_ref().map(|ticket| format!("http://{}/?ticket={ticket}", self.hosts[0]))
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.hosts[0], self.token)
    }

    /// Fails if a request does not come from the page.
    pub fn check(&self, request: &Request) -> Result<Known, Refusal> {
        let is_own = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        if !request.header("host").is_some_and(is_own) {
            return Err(Refusal { status: 421, why: "this is not the playground's address" });
        }
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(is_own);
        if request.has("origin") && !request.header("origin").is_some_and(is_own) {
            return Err(Refusal { status: 403, why: "other pages may not use the playground" });
        }
        // Links and forms of other pages can send queries, but no headers.
        let token = if request.method == "GET" { request.query("token") } else { request.header(HEADER) };
        if token.is_some_and(|token| is_same(token, &self.token)) {
            return Ok(Known::ByToken);
        }
        if request.method == "GET" && request.path() == "/" && self.takes(request.query("ticket")) {
            return Ok(Known::ByTicket);
        }
        let why = "the token is missing or wrong: open the address that `spmdvm play` has printed";
        Err(Refusal { status: 403, why })
    }

    /// Returns whether this is the ticket, which then is one no more.
    fn takes(&self, given: Option<&str>) -> bool {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        given.is_some_and(|given| ticket.take_if(|ticket| is_same(given, ticket)).is_some())
    }
}

/// Random letters that nobody guesses.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Compares in a time that does not tell how much is right.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differences == 0
}
