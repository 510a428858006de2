//! The page: one document with its style, its scripts and the examples in it.

use crate::examples::EXAMPLES;
use crate::guard;
use crate::http::Response;
use crate::server::{MAX_BODY, Settings};
use serde_json::json;
use spmdvm::{Engine, Fp, Width};

/// The document. What stands in double braces is filled in.
const DOCUMENT: &str = include_str!("../page/page.html");

const STYLE: &str = include_str!("../page/style.css");

/// The scripts, in the order in which they need one another.
const SCRIPTS: &[&str] = &[
    include_str!("../page/dom.js"),
    include_str!("../page/server.js"),
    include_str!("../page/highlight.js"),
    include_str!("../page/editor.js"),
    include_str!("../page/pictures.js"),
    include_str!("../page/stepper.js"),
    include_str!("../page/main.js"),
];

/// The page as it is served, with the token if whoever opened it did not know that.
pub fn response(settings: &Settings, token: Option<&str>) -> Response {
    let Ok(nonce) = guard::secret() else {
        return Response::text(503, "the machine gives no random numbers");
    };
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    Response {
        status: 200,
        content_type: "text/html; charset=utf-8",
        headers: vec![("Content-Security-Policy", policy)],
        body: document(settings, token, &nonce).into_bytes(),
    }
}

fn document(settings: &Settings, token: Option<&str>, nonce: &str) -> String {
    let script = SCRIPTS.concat();
    let data = data(settings, token);
    let parts = [("nonce", nonce), ("style", STYLE), ("data", &data), ("script", &script)];
    let mut pieces = DOCUMENT.split("{{");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let (name, rest) = piece.split_once("}}").unwrap_or_default();
        let part = parts.iter().find(|(known, _)| *known == name).map_or("", |(_, part)| part);
        text + part + rest
    })
}

/// What the scripts are told.
fn data(settings: &Settings, token: Option<&str>) -> String {
    let options = &settings.options;
    let is_here = |engine: &&Engine| {
        matches!(engine, Engine::Auto | Engine::Interp) || spmdvm::jit::available(engine.name()).is_ok()
    };
    let engines: Vec<&str> = Engine::ALL.iter().filter(is_here).map(|engine| engine.name()).collect();
    let widths: Vec<u32> = (0..=6).map(|log| 1 << log).filter(|&lanes| Width::new(lanes).is_some()).collect();
    // Without a wish, each example has its own.
    let width = Some(options.width.lanes()).filter(|_| options.width != Width::default());
    let data = json!({
        "token": token,
        "examples": EXAMPLES,
        "engines": engines,
        "widths": widths,
        "modes": Fp::ALL.iter().map(|mode| mode.name()).collect::<Vec<_>>(),
        "chosen": { "width": width, "engine": options.engine.name(), "fp": options.fp.name() },
        "limits": {
            "fuel": options.limits.fuel,
            "seconds": options.limits.timeout.map(|time| time.as_secs_f64()),
            "memory": options.limits.memory,
            "steps": settings.steps,
            "request": MAX_BODY,
        },
    });
    // Nothing in it may end the element that holds it.
    data.to_string().replace('<', "\\u003c")
}
