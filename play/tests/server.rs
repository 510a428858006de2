//! The playground over HTTP: who is answered, what is asked, and what no request can do.

mod client;

use client::{Client, Play, request};
use serde_json::{Value as Json, json};
use spmdvm::{Engine, Limits, Module, Options};
use spmdvm_play::Settings;
use spmdvm_play::examples::{EXAMPLES, HEADERS};
use std::time::{Duration, Instant};

/// Only what hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

const ADD: &str = "export uniform int add(uniform int a[], uniform int n) {
    int sum = 0;
    foreach (i = 0 ... n) {
        sum += a[i];
        a[i] = -a[i];
    }
    print(\"%\\n\", sum);
    return reduce_add(sum);
}
";

const ENDLESS: &str = "export void f(uniform int n) {\n    while (true) {\n    }\n}\n";

fn call(source: &str, entry: &str, arguments: &[&str]) -> Json {
    json!({ "id": "run", "source": source, "width": 4, "engine": "auto", "entry": entry, "arguments": arguments })
}

#[test]
fn the_page_is_for_those_who_know_the_token() {
    let play = Play::start(Settings::default());
    let page = play.client.get(&play.client.target());
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<title>spmdvm playground</title>"));
    assert!(page.head.contains("Content-Security-Policy: default-src 'none'"), "{}", page.head);
    for target in ["/", "/?token=", "/?token=00000000000000000000000000000000", "/?other=1", "/favicon.ico"] {
        assert_eq!(play.client.get(target).status, 403, "{target}");
    }
    let more = format!("{}0", play.client.target());
    assert_eq!(play.client.get(&more).status, 403);
    // A link of another page can hold the token only if it knows it, and then still reads nothing.
    let elsewhere = format!("/etc/passwd{}", &play.client.target()[1..]);
    assert_eq!(play.client.get(&elsewhere).status, 404);
}

#[test]
fn a_ticket_opens_the_page_once() {
    let play = Play::start(Settings::default());
    let url = play.ticket_url();
    let target = url.strip_prefix(&format!("http://{}", play.client.host())).expect("an address").to_owned();
    assert!(!url.contains(&play.client.token));
    // It is for the page alone.
    let api = target.replace("/?", "/api/check?");
    assert_eq!(play.client.raw(&request("POST", &api, &play.client.host(), "", b"{}")).status, 403);
    assert_eq!(play.client.get("/?ticket=0").status, 403);
    assert_eq!(play.client.get(&target.replace("/?", "/other?")).status, 403);
    let page = play.client.get(&target);
    assert!(page.status == 200 && page.body.contains(&format!("\"token\":\"{}\"", play.client.token)));
    assert_eq!(play.client.get(&target).status, 403);
    // Whoever knows the token is not told it.
    assert!(play.client.get(&play.client.target()).body.contains("\"token\":null"));
}

#[test]
fn nothing_comes_from_elsewhere() {
    let play = Play::start(Settings::default());
    let page = play.client.get(&play.client.target()).body;
    // Drawings are of a namespace with a name that looks like an address.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for address in ["http://", "https://", "src=\"//", "@import", "url("] {
        assert!(!page.contains(address), "the page names {address}");
    }
}

#[test]
fn questions_need_the_token_and_the_right_names() {
    let play = Play::start(Settings::default());
    let (client, body) = (&play.client, json!({ "source": "" }).to_string());
    let ask = |host: &str, headers: &str| {
        let length = body.len();
        let text =
            format!("POST /api/check HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        client.raw(text.as_bytes()).status
    };
    let (host, token) = (client.host(), format!("X-Spmdvm-Token: {}\r\n", client.token));
    assert_eq!(ask(&host, &token), 200);
    assert_eq!(ask(&host.replace("127.0.0.1", "LOCALHOST"), &token), 200);
    assert_eq!(ask(&host, ""), 403);
    assert_eq!(ask(&host, "X-Spmdvm-Token: 0\r\n"), 403);
    assert_eq!(ask(&host, &format!("{token}{token}")), 403);
    // Names that someone has made to mean this address.
    assert_eq!(ask("evil.example", &token), 421);
    assert_eq!(ask(&format!("evil.example:{}", client.port), &token), 421);
    assert_eq!(ask("127.0.0.1", &token), 421);
    assert_eq!(ask(&host, &format!("{token}Origin: http://{host}\r\n")), 200);
    assert_eq!(ask(&host, &format!("{token}Origin: http://evil.example\r\n")), 403);
    assert_eq!(ask(&host, &format!("{token}Origin: null\r\n")), 403);
    // The token of the address is for the page alone.
    let target = format!("/api/check{}", &client.target()[1..]);
    let text = request("POST", &target, &host, "", body.as_bytes());
    assert_eq!(client.raw(&text).status, 403);
}

#[test]
fn requests_that_are_none() {
    let play = Play::start(Settings::default());
    let client = &play.client;
    let host = client.host();
    let raw = |text: &str| client.raw(text.as_bytes()).status;
    assert_eq!(raw("nonsense\r\n\r\n"), 400);
    assert_eq!(raw("GET / HTTP/9.9\r\n\r\n"), 400);
    assert_eq!(raw("\0\u{1}\u{2}\r\n\r\n"), 400);
    assert_eq!(raw("GET / HTTP/1.1\r\n\r\n"), 421);
    assert_eq!(raw("CONNECT example.org:80 HTTP/1.1\r\n\r\n"), 421);
    assert_eq!(raw(&format!("OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n")), 403);
    let token = format!("Host: {host}\r\nX-Spmdvm-Token: {}\r\n", client.token);
    assert_eq!(raw(&format!("DELETE / HTTP/1.1\r\n{token}\r\n")), 405);
    assert_eq!(raw(&format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "x".repeat(20 << 10))), 431);
    assert_eq!(raw(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(100))), 431);
    let post = |headers: &str| raw(&format!("POST /api/check HTTP/1.1\r\n{token}{headers}\r\n"));
    assert_eq!(post("Content-Length: -1\r\n"), 400);
    assert_eq!(post("Content-Length: 1\r\nContent-Length: 2\r\n"), 400);
    assert_eq!(post("Content-Length: 99999999999999999999999\r\n"), 400);
    assert_eq!(post("Content-Length: 18446744073709551615\r\n"), 413);
    assert_eq!(post("Transfer-Encoding: chunked\r\n"), 501);
    assert_eq!(post(""), 400);
    // What stops in the middle gets no answer, and takes nobody's place.
    client.abandon(format!("POST /api/check HTTP/1.1\r\n{token}Content-Length: 10\r\n\r\nabc").as_bytes());
    client.abandon(b"GET /");
    assert_eq!(client.get(&client.target()).status, 200);
}

#[test]
fn noise() {
    let play = Play::start(Settings::default());
    let mut seed = 1u64;
    let mut byte = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 56) as u8
    };
    let good = request(
        "POST",
        "/api/check",
        &play.client.host(),
        &format!("X-Spmdvm-Token: {}\r\n", play.client.token),
        b"{}",
    );
    for _ in 0..200 {
        let mut text = good.clone();
        for _ in 0..1 + byte() % 4 {
            let at = usize::from(byte()) * 256 + usize::from(byte());
            let at = at % text.len();
            text[at] = byte();
        }
        // It may be taken or refused, but not fail.
        assert_ne!(play.client.raw(&text).status, 500, "{}", String::from_utf8_lossy(&text));
    }
    assert_eq!(play.client.get(&play.client.target()).status, 200);
}

#[test]
fn bodies_that_are_wrong() {
    let play = Play::start(Settings::default());
    let wrong = |path: &str, body: &[u8]| {
        let answer = play.client.post(path, body);
        assert_eq!(answer.status, 400, "{path}: {}", answer.body);
        answer.json()["error"].as_str().expect("a message").to_owned()
    };
    for path in ["check", "run", "stop", "step/open", "step/show", "step/why", "step/close"] {
        for body in ["", "{", "[]", "null", "{\"source\": 3}", "{\"session\": -1}", "\u{0}"] {
            assert!(wrong(path, body.as_bytes()).starts_with("the request is wrong: "), "{path} {body}");
        }
        wrong(path, &[0xff, 0xfe]);
        wrong(path, "[".repeat(100_000).as_bytes());
    }
    let width = json!({ "source": "", "width": 5 }).to_string();
    assert_eq!(wrong("check", width.as_bytes()), "the width is one of 1, 2, 4, 8, 16, 32, 64");
    let engine = json!({ "source": "", "engine": "steam" }).to_string();
    assert!(wrong("check", engine.as_bytes()).starts_with("there is no engine `steam`"));
    let session = json!({ "session": 77, "at": 0 }).to_string();
    assert_eq!(wrong("step/show", session.as_bytes()), "this call is not recorded any more: step again");
    assert_eq!(play.client.post("nothing", b"{}").status, 404);
    let long = vec![b' '; spmdvm_play::MAX_BODY + 1];
    assert_eq!(play.client.post("check", &long).status, 413);
}

#[test]
fn what_is_wrong_with_a_program_is_data() {
    let play = Play::start(Settings::default());
    let source = "// ü 😀\nexport void f(uniform int n) {\n    int x = y + z;\n    int unused = 1;\n}\n";
    let answer = play.client.ask("check", &json!({ "source": source }));
    let all = answer["diagnostics"].as_array().expect("a list");
    let first = &all[0];
    assert_eq!((&first["severity"], &first["code"]), (&json!("error"), &json!("E0200")));
    assert_eq!(first["message"], "there is no `y` here");
    assert_eq!(first["labels"][0]["line"], 3);
    // Counted in UTF-16, as the page does.
    let units: Vec<u16> = source.encode_utf16().collect();
    let range: Vec<usize> = serde_json::from_value(first["labels"][0]["range"].clone()).expect("a range");
    assert_eq!(String::from_utf16(&units[range[0]..range[1]]).expect("text"), "y");
    assert!(answer["functions"].is_null());
    // A run of it says the same.
    let run = play.client.ask("run", &call(source, "f", &["n=1"]));
    assert_eq!(run["diagnostics"], answer["diagnostics"]);
    assert!(run["run_ms"].is_null());
}

#[test]
fn functions_come_with_words_that_fit() {
    let play = Play::start(Settings::default());
    let source = "struct P { float x; int8 tag; };
        export void f(uniform float a[], const uniform int8 b[], uniform float m[][3], uniform P p[], uniform bool c[], uniform int n,
                      uniform float k, uniform bool on) { }
        export float g(float x, int y, bool z) { return z ? x : y; }
        export void h(uniform int n = 7) { }";
    let functions = play.client.ask("check", &json!({ "source": source }))["functions"].clone();
    let functions = functions.as_array().expect("a list");
    assert_eq!(functions.len(), 3);
    assert_eq!(functions[0]["params"][0], json!({ "name": "a", "type": "array of f32", "word": "iota:f32:16" }));
    assert_eq!(functions[2]["params"][0]["word"], "7");
    for function in functions {
        let params = function["params"].as_array().expect("a list");
        let text = |json: &Json| json.as_str().expect("text").to_owned();
        let words: Vec<String> = params.iter().map(|p| format!("{}={}", text(&p["name"]), text(&p["word"]))).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = play.client.ask("run", &call(source, &text(&function["name"]), &words));
        assert!(answer["trap"].is_null() && answer["run_ms"].is_number(), "{answer}");
    }
}

#[test]
fn a_run_tells_what_it_has_done() {
    let play = Play::start(Settings::default());
    for engine in ["auto", "interp"] {
        let mut question = call(ADD, "add", &["[1, 2, 3, 4, 5]", "n=5"]);
        question["engine"] = engine.into();
        let answer = play.client.ask("run", &question);
        assert_eq!(answer["result"], "15");
        assert_eq!(answer["printed"], "[6,2,3,4]\n");
        let array = &answer["arrays"][0];
        assert_eq!((&array["name"], &array["type"], &array["changed"]), (&json!("a"), &json!("i32"), &json!(true)));
        assert_eq!(array["numbers"], json!([-1, -2, -3, -4, -5]));
        assert!(answer["explain"].is_null());
    }
    let mut question = call(ADD, "add", &["a=iota:i32:4000", "n=4000"]);
    (question["explain"], question["engine"]) = (true.into(), "clif".into());
    let answer = play.client.ask("run", &question);
    let lines = answer["explain"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["line"] == 4).expect("line 4");
    assert!(line["facts"].to_string().contains("compiled in the loop at program.ispc:3"), "{line}");
}

#[test]
fn traps_have_a_place() {
    let play = Play::start(Settings::default());
    let answer = play.client.ask("run", &call(ADD, "add", &["a=zeros:i32:3", "n=5"]));
    let trap = &answer["trap"];
    assert_eq!((&trap["kind"], &trap["line"], &trap["lane"]), (&json!("out_of_bounds"), &json!(4), &json!(3)));
    let range: Vec<usize> = serde_json::from_value(trap["range"].clone()).expect("a range");
    assert_eq!(&ADD[range[0]..range[1]], "a[i]");
    assert!(trap["rendered"].as_str().expect("text").contains("[out_of_bounds] Trap"));
}

#[test]
fn nothing_that_is_sent_names_a_file() {
    let play = Play::start(Settings::default());
    let file = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
    for word in [format!("a=@{file}"), "a=@Cargo.toml".into(), "a=@x.npz:y".into()] {
        let answer = play.client.post("run", call(ADD, "add", &[&word, "n=1"]).to_string().as_bytes());
        assert_eq!(answer.json()["error"], "`a`: the playground reads no files");
    }
    for name in [file.as_str(), "Cargo.toml", "../play/Cargo.toml", "/etc/passwd", "//etc/passwd"] {
        for include in [format!("#include \"{name}\"\n"), format!("#include <{name}>\n")] {
            let answer = play.client.ask("check", &json!({ "source": include + ADD }));
            assert_eq!(answer["diagnostics"][0]["severity"], "error", "{name}: {answer}");
            assert!(!answer.to_string().contains("spmdvm-play"), "{answer}");
        }
    }
    // What examples include is there.
    let answer = play.client.ask("check", &json!({ "source": format!("#include \"{}\"\n", HEADERS[0].0) }));
    assert_eq!(answer["diagnostics"], json!([]));
}

fn limited(limits: Limits) -> Play {
    let options = Options { limits, ..Options::default() };
    Play::start(Settings { options, steps: 5000, ..Settings::default() })
}

#[test]
fn programs_have_limits() {
    let limits = Limits { fuel: Some(100_000), timeout: None, memory: Some(1 << 20) };
    let play = limited(limits);
    let answer = play.client.ask("run", &call(ENDLESS, "f", &["n=1"]));
    assert_eq!((&answer["trap"]["kind"], &answer["trap"]["line"]), (&json!("out_of_fuel"), &json!(2)));
    let hungry = "export void f(uniform int n) { uniform int * uniform p = uniform new uniform int[n]; p[0] = 1; }";
    let answer = play.client.ask("run", &call(hungry, "f", &["n=100000000"]));
    assert_eq!(answer["trap"]["kind"], "out_of_memory");
    let answer = play.client.post("run", call(ADD, "add", &["a=zeros:i32:1000000", "n=1"]).to_string().as_bytes());
    assert_eq!(answer.json()["error"], "`a`: arrays of so many bytes are beyond the memory limit");
    let answer = play.client.post("run", call(ADD, "add", &["a=zeros:i32:60000000000", "n=1"]).to_string().as_bytes());
    assert_eq!(answer.status, 400);
    let limits = Limits { timeout: Some(Duration::from_millis(50)), ..Limits::default() };
    let answer = limited(limits).client.ask("run", &call(ENDLESS, "f", &["n=1"]));
    assert_eq!(answer["trap"]["kind"], "timeout");
}

#[test]
fn what_is_printed_is_bounded() {
    let play = limited(Limits::default());
    let source = "export void f(uniform int n) { for (uniform int i = 0; i < n; ++i) print(\"line %\\n\", i); }";
    let printed =
        play.client.ask("run", &call(source, "f", &["n=100000"]))["printed"].as_str().expect("text").to_owned();
    assert!(printed.starts_with("line 0\nline 1\n") && printed.len() < 300_000, "{}", printed.len());
    assert!(printed.ends_with(" more bytes\n"), "{}", &printed[printed.len() - 60..]);
}

/// Stops a run of this name, once it has begun.
fn stop(client: &Client, name: &str) {
    let start = Instant::now();
    while client.ask("stop", &json!({ "id": name }))["stopped"] != true {
        assert!(start.elapsed() < PATIENCE, "there is no run `{name}`");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_endless_program_is_stopped() {
    let play = Play::start(Settings::default());
    for engine in ["interp", "auto"] {
        let mut question = call(ENDLESS, "f", &["n=1"]);
        question["engine"] = engine.into();
        let mut wait = Duration::ZERO;
        let answer = loop {
            let answer = std::thread::scope(|scope| {
                let run = scope.spawn(|| play.client.ask("run", &question));
                std::thread::sleep(wait);
                stop(&play.client, "run");
                run.join().expect("it ends")
            });
            // It may have been stopped while it was compiled.
            if !answer["trap"].is_null() {
                break answer;
            }
            assert!(wait < PATIENCE, "{answer}");
            wait = wait * 2 + Duration::from_millis(20);
        };
        assert_eq!((&answer["trap"]["kind"], &answer["trap"]["line"]), (&json!("interrupted"), &json!(2)));
    }
    assert_eq!(play.client.ask("stop", &json!({ "id": "run" }))["stopped"], false);
}

#[test]
fn only_so_many_programs_run_at_a_time() {
    let play = Play::start(Settings::default());
    std::thread::scope(|scope| {
        let name = |n: usize| format!("run {n}");
        for n in 0..8 {
            let mut question = call(ENDLESS, "f", &["n=1"]);
            question["id"] = name(n).into();
            let client = &play.client;
            // The program below may have taken its place.
            scope.spawn(move || while client.post("run", question.to_string().as_bytes()).status == 400 {});
        }
        let mut question = call(ADD, "add", &["a=[1]", "n=1"]);
        question["id"] = "another".into();
        let start = Instant::now();
        // Until all of them have begun, there is room.
        let refused = loop {
            let answer = play.client.post("run", question.to_string().as_bytes());
            if answer.status == 400 {
                break answer.json()["error"].clone();
            }
            assert!(start.elapsed() < PATIENCE);
        };
        assert_eq!(refused, "8 programs are running: stop one first");
        (0..8).for_each(|n| stop(&play.client, &name(n)));
    });
    assert_eq!(play.client.ask("run", &call(ADD, "add", &["a=[1]", "n=1"]))["result"], "1");
}

/// The values of a variable in a state.
fn values(state: &Json, name: &str) -> Json {
    let variables = state["variables"].as_array().expect("variables");
    variables.iter().find(|variable| variable["name"] == name).map_or(Json::Null, |variable| variable["values"].clone())
}

const SETTLE: &str = "export void settle(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i];
        int rounds = 0;
        while (x > 1) {
            if (x > 10)
                x = x / 2;
            else
                x -= 1;
            rounds++;
        }
        a[i] = x + rounds;
    }
}
";

#[test]
fn steps_go_both_ways() {
    let play = Play::start(Settings::default());
    let opened = play.client.ask("step/open", &call(SETTLE, "settle", &["a=[1.5, 20, 3, 0.5]", "n=4"]));
    let (session, stops) = (&opened["session"], opened["stops"].as_u64().expect("a number"));
    assert_eq!(opened["ended"], "the function returns after 140 instructions");
    assert_eq!((&opened["last"], &opened["lanes"]), (&json!(140), &json!(4)));
    let show = |at: u64, instructions: bool| {
        play.client.ask("step/show", &json!({ "session": session, "at": at, "instructions": instructions }))
    };
    let forwards: Vec<Json> = (0..stops).map(|at| show(at, false)).collect();
    let lines: Vec<&Json> = forwards.iter().take(8).map(|state| &state["line"]).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 9]);
    // The same on the way back, and from anywhere.
    for at in (0..stops).rev().chain([5, stops - 1, 0, stops / 2]) {
        assert_eq!(show(at, false), forwards[at as usize], "stop {at}");
    }
    let halved = &forwards[6];
    assert_eq!((&halved["line"], &halved["mask"]), (&json!(7), &json!([0b0010, 0])));
    assert_eq!(values(halved, "x"), json!(["1.5", "20", "3", "0.5"]));
    let taken = &forwards[7];
    assert_eq!((&taken["line"], &taken["mask"]), (&json!(9), &json!([0b0101, 0])));
    let x = taken["variables"].as_array().expect("variables").iter().find(|v| v["name"] == "x").expect("x").clone();
    assert_eq!((&x["values"], &x["changed"]), (&json!(["1.5", "10", "3", "0.5"]), &json!([0b0010, 0])));
    let outer =
        taken["strips"].as_array().expect("strips").iter().find(|strip| strip["name"] == "if").expect("an if").clone();
    assert_eq!((&outer["mask"], &outer["line"]), (&json!([0b0111, 0]), &json!(6)));
    // The end, where the array has been written.
    let end = &forwards[stops as usize - 1];
    assert_eq!((&end["position"], &end["returned"]), (&json!(140), &json!([])));
    let written = forwards.iter().find(|state| state["written"] != json!([])).expect("it writes");
    assert_eq!(written["written"][1], json!({ "place": "a[1]", "lane": 1, "values": ["20", "11"], "bytes": 4 }));
    // By instructions.
    let state = show(17, true);
    assert_eq!((&state["position"], &state["line"]), (&json!(17), &json!(7)));
    assert_eq!(show(16, true)["position"], 16);
    assert_eq!(show(1_000_000, true)["position"], 140);
    // Positions between two lines belong to the one that has begun.
    assert_eq!(show(18, true)["stop"], 6);
    let why = play.client.ask("step/why", &json!({ "session": session, "position": 140, "what": "a[1]" }));
    assert!(why["text"].as_str().expect("text").contains("line 12 `a[i] = x + rounds;`"), "{why}");
    let why = play.client.ask("step/why", &json!({ "session": session, "position": 20, "what": "nothing" }));
    assert!(why["error"].as_str().expect("text").contains("nothing"), "{why}");
    play.client.ask("step/close", &json!({ "session": session }));
    let gone = play.client.post("step/show", json!({ "session": session, "at": 0 }).to_string().as_bytes());
    assert_eq!(gone.status, 400);
}

#[test]
fn steps_to_a_trap() {
    let play = Play::start(Settings::default());
    let opened = play.client.ask("step/open", &call(SETTLE, "settle", &["a=[1.5, 20]", "n=4"]));
    assert_eq!((&opened["trap"]["kind"], &opened["trap"]["line"]), (&json!("out_of_bounds"), &json!(3)));
    let last = opened["stops"].as_u64().expect("a number") - 1;
    let state = play.client.ask("step/show", &json!({ "session": opened["session"], "at": last }));
    assert_eq!((&state["line"], &state["trap"]["kind"]), (&json!(3), &json!("out_of_bounds")));
    let state = play.client.ask("step/show", &json!({ "session": opened["session"], "at": last - 1 }));
    assert!(state["trap"].is_null() && state["line"].is_number(), "{state}");
    // What does not compile, and what cannot be called.
    let wrong = play.client.ask("step/open", &call("export void f() { x; }", "f", &[]));
    assert_eq!(wrong["diagnostics"][0]["code"], "E0200");
    let wrong = play.client.post("step/open", call(SETTLE, "f", &[]).to_string().as_bytes());
    assert_eq!(wrong.status, 400);
    assert!(wrong.json()["error"].as_str().expect("text").contains("exports no function `f`"));
}

#[test]
fn recordings_have_limits() {
    let play = limited(Limits { timeout: Some(Duration::from_secs(20)), ..Limits::default() });
    let opened = play.client.ask("step/open", &call(ENDLESS, "f", &["n=1"]));
    assert_eq!((&opened["last"], &opened["trap"]), (&json!(5000), &Json::Null));
    let state =
        play.client.ask("step/show", &json!({ "session": opened["session"], "at": 4000, "instructions": true }));
    assert_eq!((&state["position"], &state["line"]), (&json!(4000), &json!(2)));
    // Only the last few are kept; what could not be recorded takes nobody's place.
    for _ in 0..3 {
        play.client.ask("step/open", &call("export void f() { x; }", "f", &[]));
        play.client.post("step/open", call(SETTLE, "f", &[]).to_string().as_bytes());
    }
    let state = play.client.ask("step/show", &json!({ "session": opened["session"], "at": 1 }));
    assert_eq!(state["position"], 1);
    for _ in 0..3 {
        play.client.ask("step/open", &call(SETTLE, "settle", &["a=[1.5, 20]", "n=2"]));
    }
    let gone = play.client.post("step/show", json!({ "session": opened["session"], "at": 0 }).to_string().as_bytes());
    assert_eq!(gone.json()["error"], "this call is not recorded any more: step again");
}

#[test]
fn an_endless_recording_is_stopped() {
    let play = Play::start(Settings { steps: u64::MAX, ..Settings::default() });
    let mut question = call(ENDLESS, "f", &["n=1"]);
    question["id"] = "recording".into();
    let mut wait = Duration::from_millis(100);
    // It is to be stopped while it records: not while it is compiled, nor when the recording is full. How long either takes differs
    // from machine to machine.
    for _ in 0..40 {
        let opened = std::thread::scope(|scope| {
            let open = scope.spawn(|| play.client.ask("step/open", &question));
            std::thread::sleep(wait);
            play.client.ask("stop", &json!({ "id": "recording" }));
            open.join().expect("it ends")
        });
        if !opened["stopped"].is_null() {
            wait = wait * 3 / 2;
        } else if opened["ended"].as_str().expect("text").starts_with("stopped: the first ") {
            let state = play.client.ask("step/show", &json!({ "session": opened["session"], "at": 0 }));
            assert_eq!(state["position"], 0);
            return;
        } else {
            wait = wait * 2 / 3;
        }
    }
    panic!("it was never stopped while it recorded");
}

#[test]
fn the_examples_run() {
    for example in EXAMPLES {
        let play = Play::start(Settings::default());
        let question = json!({
            "id": "run", "source": example.source, "width": example.width, "engine": "auto", "entry": example.entry,
            "arguments": example.arguments,
        });
        let answer = play.client.ask("run", &question);
        assert_eq!(answer["trap"], Json::Null, "{}", example.name);
        let arrays = answer["arrays"].as_array().unwrap_or_else(|| panic!("{}: {answer}", example.name));
        assert!(arrays.iter().any(|array| array["changed"] == true), "{} changes nothing", example.name);
        let errors = answer["diagnostics"].as_array().expect("a list").iter().filter(|d| d["severity"] != "hint");
        assert_eq!(errors.count(), 0, "{}", example.name);
    }
}

#[test]
fn all_examples_that_need_no_host_are_there() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    // These need functions or arrays of the host, or are called element by element.
    let others = ["relax.ispc", "lookup.ispc", "black_scholes.ispc", "binomial.ispc"];
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if !name.ends_with(".ispc") || others.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(EXAMPLES.iter().any(|example| example.source == text), "{name} is not on the page");
        let options = Options { engine: Engine::Interp, ..Options::default() };
        assert!(Module::compile(&name, &text, &options).is_ok(), "{name}");
    }
}
