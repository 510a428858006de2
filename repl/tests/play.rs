//! `spmdvm play`: that the command serves the page it says. (What the page can ask is tested in `play/`, and the page itself in a
//! browser, in `python/tests/`.)

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A playground, ended with the test.
struct Play(Child);

impl Drop for Play {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it; gives what it says first.
fn start(args: &[&str]) -> (Play, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_spmdvm"))
        .arg("play")
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut said = String::new();
    let out = child.stdout.take().expect("piped");
    BufReader::new(out).read_line(&mut said).expect("it says something");
    (Play(child), said)
}

/// What is answered to a request for an address.
fn get(url: &str) -> String {
    let (host, target) = url.strip_prefix("http://").expect("an address").split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET /{target} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn the_address_leads_to_the_page() {
    let (_play, said) = start(&["--no-open", "--width", "4"]);
    let url = said.trim().rsplit(' ').next().expect("an address");
    assert!(url.starts_with("http://127.0.0.1:"), "{said}");
    let page = get(url);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<title>spmdvm playground</title>"), "{page}");
    assert!(page.contains("\"width\":4"), "the page begins with the width that was asked for");
    assert!(get(&url[..url.len() - 1]).starts_with("HTTP/1.1 403 "));
}

#[test]
fn the_address_as_data() {
    let (_play, said) = start(&["--no-open", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert!(get(said["url"].as_str().expect("an address")).starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn a_port_that_is_taken() {
    let (_play, said) = start(&["--no-open", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let port = said["url"].as_str().and_then(|url| url.split([':', '/']).nth(4)).expect("a port").to_owned();
    let again = Command::new(env!("CARGO_BIN_EXE_spmdvm"))
        .args(["play", "--no-open", "--port", &port])
        .output()
        .expect("it starts");
    assert_eq!(again.status.code(), Some(2));
    let message = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(message.contains(&format!("cannot serve on port {port} of this machine")), "{message}");
}
