//! The playground over HTTP.
use spmdvm_play::{Server, Settings};
#[test]
fn starts() { let s = Server::start(Settings::default()).unwrap(); assert!(s.url().contains("token=")); }
