//! Reading traces back: errors that say what is wrong, and never a panic.

use super::{lines, module, reader};
use spmdvm::Value;
use spmdvm_oracle::trace::event::Event;
use spmdvm_oracle::trace::{JsonLines, ReadErrorKind, Reader, Shown, Table, TraceFile, open};
use std::io::Write as _;

const PROGRAM: &str = "export void f(uniform float a[]) {
    foreach (i = 0 ... 6) a[i] = a[i] * 2;
}
";

fn trace() -> Vec<u8> {
    lines(&module(PROGRAM, 4), &[Value::slice_mut(&mut [1.5f32; 6])])
}

fn failure(bytes: &[u8]) -> String {
    match Reader::new(bytes) {
        Err(error) => error.to_string(),
        Ok(reader) => reader.map(Result::err).find_map(|error| error).map_or("none".into(), |error| error.to_string()),
    }
}

#[test]
fn errors_name_the_line() {
    let whole = trace();
    let text = String::from_utf8(whole.clone()).expect("text");
    let n = text.lines().count();
    assert_eq!(failure(&whole), "none");
    assert_eq!(failure(b""), "this is no trace: its first line is not the header of one");
    assert_eq!(failure(b"{\"a\":1}\n"), "this is no trace: its first line is not the header of one");
    assert_eq!(failure(&[0xff, 0xfe, 0, 1, 2]), "this is no trace: its first line is not the header of one");
    assert_eq!(
        failure(text.replacen("\"version\":1", "\"version\":7", 1).as_bytes()),
        "the trace has version 7 of the schema, and this program reads version 1"
    );
    assert!(failure(text.replacen("\"width\":4", "\"width\":5", 1).as_bytes()).ends_with("5 is no width of a gang"));
    let cut = &whole[..whole.len() - 20];
    assert_eq!(failure(cut), format!("line {n}: the trace is cut off here: its last event should be `end` or `trap`"));
    let without_end: String = text.lines().take(n - 1).map(|line| line.to_owned() + "\n").collect();
    assert!(failure(without_end.as_bytes()).contains("cut off"));
    assert_eq!(
        failure((text.clone() + "{}\n").as_bytes()),
        format!("line {}: there is more behind the end of the trace", n + 1)
    );
    let mut broken: Vec<&str> = text.lines().collect();
    broken[3] = r#"{"event":"jump"}"#;
    assert!(failure((broken.join("\n") + "\n").as_bytes()).starts_with("line 4: unknown variant `jump`"));
    broken[3] = r#"{"event":"return","function":"f","depth":0,"mask":1,"results":[{"register":"v1","type":"i32","value":[1]}]}"#;
    assert_eq!(
        failure((broken.join("\n") + "\n").as_bytes()),
        "line 4: register v1 has 1 values, and the trace has 4 lanes"
    );
}

/// Whatever is done to a trace, reading it ends, and what was read can be shown.
#[test]
fn damaged_traces_harm_nothing() {
    let whole = trace();
    let mut seed = 7u64;
    let mut draw = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    let mut failed = 0;
    for _ in 0..1500 {
        let mut bytes = whole.clone();
        for _ in 0..=draw(3) {
            let at = draw(bytes.len());
            match draw(4) {
                0 => bytes.truncate(at + 1),
                1 => bytes[at] = b"0123456789-.,:{}[]\"en\n"[draw(22)],
                2 => drop(bytes.drain(at..(at + 1 + draw(40)).min(bytes.len()))),
                _ => bytes[at] ^= 1 << draw(8),
            }
            if bytes.is_empty() {
                bytes.push(b'{');
            }
        }
        let Ok(reader) = Reader::new(&bytes[..]) else {
            failed += 1;
            continue;
        };
        let mut table = Table::new(Shown { rows: 1000, all_files: true, included: true }, Vec::new());
        failed += reader.play(&mut table).is_err() as usize;
    }
    assert!(failed > 500, "{failed}");
}

#[test]
fn files_may_be_compressed() {
    let whole = trace();
    let folder = std::env::temp_dir().join(format!("spmdvm-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (plain, packed) = (folder.join("t.jsonl"), folder.join("t.jsonl.gz"));
    for path in [&plain, &packed] {
        let mut file = TraceFile::create(path).expect("a file");
        file.write_all(&whole).expect("it can be written");
        file.flush().expect("it can be completed");
    }
    let events = |path: &std::path::Path| -> Vec<Event> {
        let reader = Reader::new(open(path).expect("a file")).expect("a trace");
        reader.map(|event| event.expect("an event")).collect()
    };
    assert_eq!(events(&packed), events(&plain));
    assert_eq!(events(&plain), reader(&whole).map(|e| e.expect("an event")).collect::<Vec<_>>());
    let bytes = std::fs::read(&packed).expect("a file");
    assert!(bytes.len() < whole.len() / 3, "{} of {}", bytes.len(), whole.len());
    std::fs::write(&packed, &bytes[..bytes.len() - 30]).expect("it can be written");
    let last = Reader::new(open(&packed).expect("a file")).expect("a trace").last();
    assert!(matches!(last, Some(Err(error)) if matches!(error.kind, ReadErrorKind::CutOff)));
    let refused = TraceFile::create(&folder.join("t.jsonl.zst")).err().map(|e| e.to_string());
    assert!(refused.is_some_and(|why| why.contains(".gz")));
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn writing_to_what_is_full_is_an_error() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let module = module(PROGRAM, 4);
    let mut a = [1.5f32; 6];
    let args = [Value::slice_mut(&mut a)];
    let mut sink = JsonLines::new(Full(2000));
    let call = (&module.exports()[0], &args[..], u64::MAX);
    let recorded =
        spmdvm_oracle::trace::record(&module, spmdvm::Run::new(&module), call, Default::default(), &mut sink);
    assert_eq!(recorded.written.map_err(|e| e.kind()), Err(std::io::ErrorKind::StorageFull));
}
