//! Listens on the loopback interface and has each request answered on a thread of its own.

use crate::api::Api;
use crate::guard::{Guard, Known, Refusal};
use crate::http::{Request, Response, Unreadable};
use crate::page;
use spmdvm::Options;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The longest body of a request: a program and its call.
pub const MAX_BODY: usize = 1 << 20;

/// Most requests that are answered at a time.
const MAX_CONNECTIONS: usize = 64;

/// What a playground is to be like.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port; 0: any that is free.
    pub port: u16,
    /// How programs are compiled and run, if the page does not choose; and their limits. Folders for `#include` and functions
    /// of the host are not used.
    pub options: Options,
    /// Most instructions of a call that are recorded for stepping.
    pub steps: u64,
    /// Bytes of a recording that are kept.
    pub keep: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { port: 0, options: Options::default(), steps: 1_000_000, keep: 256 << 20 }
    }
}

/// A playground that is being served.
pub struct Server {
    address: SocketAddr,
    url: String,
    ticket_url: Option<String>,
    listener: JoinHandle<()>,
}

/// What all connections share.
struct Shared {
    guard: Guard,
    api: Api,
    connections: AtomicUsize,
}

impl Server {
    /// Begins to serve.
    pub fn start(settings: Settings) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        let address = listener.local_addr()?;
        let guard = Guard::new(address)?;
        let (url, ticket_url) = (guard.url(), guard.ticket_url());
        // The first program shall not wait for the library. (The thread ends by itself.)
        let options = settings.options.clone();
        thread::spawn(move || options.prepare_library());
        let shared = Shared { guard, api: Api::new(settings), connections: AtomicUsize::new(0) };
        let listener = thread::Builder::new()
            .name("spmdvm playground".into())
            .spawn(move || listen(&listener, &Arc::new(shared)))?;
        Ok(Server { address, url, ticket_url, listener })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page, with the token without which nothing is answered.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// An address that shows the page once: for the arguments of a browser, which other users of the machine can see.
    pub fn ticket_url(&self) -> Option<&str> {
        self.ticket_url.as_deref()
    }

    /// Serves until the process ends.
    pub fn wait(self) {
        // It does not end.
        let _ = self.listener.join();
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of file descriptors, most likely: some will be closed.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let connection = Connection::new(shared);
        if connection.is_one_too_many() {
            Response::text(503, "too many requests at a time").send_at_once(stream);
            continue;
        }
        let name = "spmdvm playground request".into();
        // If there can be no thread, the connection is closed.
        let _ = thread::Builder::new().name(name).spawn(move || connection.serve(stream));
    }
}

/// A connection, which counts as long as it lasts.
struct Connection(Arc<Shared>, usize);

impl Connection {
    fn new(shared: &Arc<Shared>) -> Connection {
        let others = shared.connections.fetch_add(1, Ordering::Relaxed);
        Connection(Arc::clone(shared), others)
    }

    fn is_one_too_many(&self) -> bool {
        self.1 >= MAX_CONNECTIONS
    }

    fn serve(&self, mut stream: TcpStream) {
        // Answers are written at once.
        let _ = stream.set_nodelay(true);
        let response = match Request::read(&mut stream, MAX_BODY) {
            Ok(request) => self.respond(&request),
            Err(Unreadable::Refused(response)) => response,
            Err(Unreadable::Gone) => return,
        };
        response.send(stream);
    }

    fn respond(&self, request: &Request) -> Response {
        // A mistake of ours is told, and the next request answered.
        let answer = catch_unwind(AssertUnwindSafe(|| self.0.respond(request)));
        answer.unwrap_or_else(|_| {
            let error = serde_json::json!({ "error": "the playground failed at this; please report it" });
            Response::json(500, &error)
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn respond(&self, request: &Request) -> Response {
        match self.guard.check(request) {
            Err(Refusal { status, why }) => Response::text(status, why),
            Ok(known) => match (request.method.as_str(), request.path()) {
                ("GET", "/") => {
                    let token = (known == Known::ByTicket).then(|| self.guard.token());
                    page::response(self.api.settings(), token)
                }
                ("POST", path) => self.api.answer(path, &request.body),
                ("GET", _) => Response::text(404, "there is nothing here"),
                _ => Response {
                    headers: vec![("Allow", "GET, POST".into())],
                    ..Response::text(405, "only GET and POST")
                },
            },
        }
    }
}
