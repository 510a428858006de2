//! Just enough of HTTP/1.1 for a page on the loopback interface: one request per connection, whole bodies of bounded size.
//!
//! Heads are parsed by `httparse`. Whatever a request says, it is answered or the connection is closed; nothing here panics.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The longest head: request line and headers.
const MAX_HEAD: usize = 16 << 10;

/// Most headers.
const MAX_HEADERS: usize = 64;

/// How long a request may take to arrive, and its answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much of a body that is not wanted is read, so that the answer gets through.
const MAX_DRAINED: usize = 8 << 20;

/// A request that has arrived.
#[derive(Debug)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    /// Names in lower case, and values.
    headers: Vec<(String, Vec<u8>)>,
    /// What came with it.
    pub body: Vec<u8>,
}

/// What is answered.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// Further headers: names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug)]
pub enum Unreadable {
    /// It is answered with this.
    Refused(Response),
    /// The connection is gone, or too slow.
    Gone,
}

impl Request {
    /// The value of a header that is there once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then(|| std::str::from_utf8(value).ok())?
    }

    /// Returns whether there is a header of this name.
    pub fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// The path.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A value of the query. (Those that are asked for need no escapes.)
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Reads a request whose body has up to so many bytes.
    pub fn read(stream: &mut TcpStream, max_body: usize) -> Result<Request, Unreadable> {
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        let (mut request, length, head) = loop {
            if let Some(parsed) = parse(&bytes)? {
                break parsed;
            }
            if bytes.len() >= MAX_HEAD {
                return Err(refuse(431, "the head of the request is too long"));
            }
            receive(stream, &mut bytes, deadline, MAX_HEAD)?;
        };
        if length > max_body as u64 {
            return Err(refuse(413, &format!("a request may have {max_body} bytes, not {length}")));
        }
        let end = head + length as usize;
        if bytes.len() < end && request.header("expect").is_some_and(|what| what.eq_ignore_ascii_case("100-continue")) {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").map_err(|_| Unreadable::Gone)?;
        }
        while bytes.len() < end {
            receive(stream, &mut bytes, deadline, end)?;
        }
        request.body = bytes[head..end].to_vec();
        Ok(request)
    }
}

/// A request without its body, the body's length, and where it begins; `None` if more must come.
fn parse(bytes: &[u8]) -> Result<Option<(Request, u64, usize)>, Unreadable> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(refuse(431, "there are too many headers")),
        Err(error) => return Err(refuse(400, &format!("this is no request: {error}"))),
    };
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        headers: parsed.headers.iter().map(|h| (h.name.to_ascii_lowercase(), h.value.to_vec())).collect(),
        body: Vec::new(),
    };
    if request.has("transfer-encoding") {
        return Err(refuse(501, "a body is sent whole, with its length"));
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let length = match (request.has("content-length"), request.header("content-length").and_then(digits)) {
        (false, _) => 0,
        (true, Some(length)) => length,
        (true, None) => return Err(refuse(400, "the length of the body is no number")),
    };
    Ok(Some((request, length, head)))
}

/// Reads what comes next, up to a total of so many bytes.
fn receive(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant, total: usize) -> Result<(), Unreadable> {
    let left = deadline.saturating_duration_since(Instant::now());
    // No time-out can be zero.
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(Unreadable::Gone);
    }
    let mut buffer = [0; 16 << 10];
    let room = buffer.len().min(total.saturating_sub(bytes.len()));
    match stream.read(&mut buffer[..room]) {
        Ok(0) => Err(Unreadable::Gone),
        Ok(n) => {
            bytes.extend_from_slice(&buffer[..n]);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(_) => Err(Unreadable::Gone),
    }
}

fn refuse(status: u16, why: &str) -> Unreadable {
    Unreadable::Refused(Response::text(status, why))
}

impl Response {
    /// A sentence.
    pub fn text(status: u16, text: &str) -> Response {
        let body = format!("{text}\n").into_bytes();
        Response { status, content_type: "text/plain; charset=utf-8", headers: Vec::new(), body }
    }

    /// Data.
    pub fn json(status: u16, value: &serde_json::Value) -> Response {
        let body = value.to_string().into_bytes();
        Response { status, content_type: "application/json", headers: Vec::new(), body }
    }

    /// Sends it and ends the connection.
    pub fn send(&self, mut stream: TcpStream) {
        // A browser that has gone away misses nothing.
        let _ = self.write(&mut stream).and_then(|()| stream.shutdown(Shutdown::Write));
        drain(&mut stream);
    }

    /// Sends it, without regard for what the other side still sends.
    pub fn send_at_once(&self, mut stream: TcpStream) {
        let _ = self.write(&mut stream);
    }

    fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        let length = self.body.len().to_string();
        let fixed = [
            ("Content-Type", self.content_type),
            ("Content-Length", &length),
            ("Connection", "close"),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ];
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in fixed.into_iter().chain(own) {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)
    }
}

/// Reads what still comes: a connection that is closed before that is reset, and the answer lost.
fn drain(stream: &mut TcpStream) {
    let deadline = Instant::now() + Duration::from_secs(2);
    let (mut rest, mut total) = (Vec::new(), 0);
    while total < MAX_DRAINED && receive(stream, &mut rest, deadline, usize::MAX).is_ok() {
        total += rest.len();
        rest.clear();
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Unknown",
    }
}
