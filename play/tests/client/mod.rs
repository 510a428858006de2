//! A client that sends what it is told to, also what is wrong.

use serde_json::Value as Json;
use spmdvm_play::{Server, Settings};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::time::Duration;

/// A playground. (Its thread ends with the process.)
pub struct Play {
    /// Asks it.
    pub client: Client,
    server: Server,
}

impl Play {
    /// Begins to serve.
    pub fn start(settings: Settings) -> Play {
        let server = Server::start(settings).expect("it serves");
        let token = server.url().rsplit('=').next().expect("a token").to_owned();
        assert_eq!(token.len(), 32, "{}", server.url());
        assert!(server.address().ip().is_loopback());
        let client = Client { port: server.address().port(), token };
        Play { client, server }
    }

    /// The address that shows the page once.
    pub fn ticket_url(&self) -> String {
        self.server.ticket_url().expect("there is one").to_owned()
    }
}

/// Asks a playground.
pub struct Client {
    /// Where it listens.
    pub port: u16,
    /// What it wants to hear.
    pub token: String,
}

/// What is answered.
pub struct Answer {
    /// The status code; 0 if there is no answer.
    pub status: u16,
    /// Status and headers.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// The body as data.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A request as it is sent.
pub fn request(method: &str, target: &str, host: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

impl Client {
    /// The name it is called by.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The path of the page, with the token.
    pub fn target(&self) -> String {
        format!("/?token={}", self.token)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time-out");
        stream
    }

    /// Sends bytes and reads what is answered.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may be refused before all is sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Sends bytes and goes away.
    pub fn abandon(&self, bytes: &[u8]) {
        self.connect().write_all(bytes).expect("it reads");
    }

    /// Gets a page.
    pub fn get(&self, target: &str) -> Answer {
        self.raw(format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host()).as_bytes())
    }

    /// Asks something, in these bytes.
    pub fn post(&self, path: &str, body: &[u8]) -> Answer {
        let token = format!("X-Spmdvm-Token: {}\r\n", self.token);
        self.raw(&request("POST", &format!("/api/{path}"), &self.host(), &token, body))
    }

    /// Asks something that is right.
    pub fn ask(&self, path: &str, question: &Json) -> Json {
        let answer = self.post(path, question.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }
}
