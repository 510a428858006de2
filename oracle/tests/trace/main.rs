//! Traces: what they say, that they follow their schema, and what becomes of them when they are read.

mod compared;
mod contents;
mod filtered;
mod read;
mod schema;

use spmdvm::{Module, Options, Run, Value, Width};
use spmdvm_oracle::trace::event::{Event, Step};
use spmdvm_oracle::trace::{Filter, Header, JsonLines, Kept, Reader, Sink, UpTo, Wanted, record};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A program at a width.
fn module(text: &str, width: u32) -> Module {
    let options = Options { width: Width::new(width).expect("a width"), ..Options::default() };
    Module::compile("t.ispc", text, &options).expect("the program compiles")
}

/// Calls the only export and hands what happens to a sink; returns whether the run went to its end.
fn record_to(module: &Module, args: &[Value<'_>], sink: &mut dyn Sink) -> bool {
    let export = &module.exports()[0];
    let recorded = record(module, Run::new(module), (export, args, u64::MAX), Arc::new(AtomicBool::new(false)), sink);
    recorded.written.expect("the sink takes it");
    recorded.result.is_some()
}

/// The trace of a call at width 4.
fn traced(text: &str, args: &[Value<'_>]) -> Kept {
    let mut kept = Kept::default();
    record_to(&module(text, 4), args, &mut kept);
    kept
}

/// The same as lines of JSON.
fn lines(module: &Module, args: &[Value<'_>]) -> Vec<u8> {
    let mut sink = JsonLines::new(Vec::new());
    record_to(module, args, &mut sink);
    sink.into_inner()
}

fn reader(lines: &[u8]) -> Reader<&[u8]> {
    Reader::new(lines).expect("a trace")
}

fn steps(events: &[Event]) -> impl Iterator<Item = &Step> {
    events.iter().filter_map(|event| if let Event::Step(step) = event { Some(step) } else { None })
}

/// The header and what a filter leaves of a trace.
fn narrowed(kept: &Kept, wanted: Wanted) -> (Header, Vec<Event>) {
    let mut filter = Filter::new(wanted, Kept::default());
    filter.begin(kept.header.as_ref().expect("a header")).expect("the lanes are there");
    for event in &kept.events {
        assert!(filter.event(event).expect("it is kept").is_continue());
    }
    let kept = filter.into_inner();
    (kept.header.expect("a header"), kept.events)
}

/// What comes before a trace is stopped.
fn up_to(kept: &Kept, until: &str) -> Vec<Event> {
    let mut sink = UpTo::new(until.parse().expect("a place to stop"), Kept::default());
    sink.begin(kept.header.as_ref().expect("a header")).expect("it begins");
    for event in &kept.events {
        if sink.event(event).expect("it is kept").is_break() {
            break;
        }
    }
    sink.into_inner().events
}
