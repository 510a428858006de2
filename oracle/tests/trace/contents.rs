//! What events say.

use super::{record_to, steps, traced};
use spmdvm_oracle::number::Number;
use spmdvm_oracle::trace::event::{Access, Effect, Event, How, Reason, Region};
use spmdvm_oracle::trace::{Kept, Sink};
use std::ops::ControlFlow;

/// The accesses to an array or variable, in order.
fn accesses<'t>(kept: &'t Kept, array: &str) -> Vec<&'t Effect> {
    let effects = steps(&kept.events).flat_map(|step| &step.memory);
    effects.filter(|effect| effect.at.iter().any(|at| at.array.as_deref() == Some(array))).collect()
}

const SCATTER: &str = "export void f(uniform int a[], uniform int n) {
    int at = programIndex * 2;
    if (programIndex > 1)
        a[at] = a[at] + 5;
}
";

#[test]
fn a_scatter_tells_lanes_elements_and_values() {
    let mut a: Vec<i32> = (10..18).collect();
    let kept = traced(SCATTER, &[spmdvm::Value::slice_mut(&mut a), 8.into()]);
    let [read, written] = accesses(&kept, "a")[..] else { panic!("a load and a store") };
    assert_eq!((read.access, written.access), (Access::Read, Access::Write));
    let lanes: Vec<_> = written.at.iter().map(|at| (at.lane, at.index[0], at.offset, at.old, at.new)).collect();
    let number = |n: u64| Some(Number(spmdvm::Ty::I32, n));
    assert_eq!(lanes, [(Some(2), 4, 16, number(14), number(19)), (Some(3), 6, 24, number(16), number(21))]);
    assert!(read.at.iter().all(|at| at.old.is_none() && at.new.is_none() && at.region == Region::Host));
    let store = steps(&kept.events).find(|step| step.site.op == "store").expect("a store");
    assert_eq!((store.mask, store.mask_depth), (0b1100, 1));
    let span = store.site.span.as_ref().expect("a span");
    assert_eq!((&*span.file, span.line, span.column, span.end_line, span.end_column), ("t.ispc", 4, 9, 4, 14));
}

#[test]
fn arrays_of_several_dimensions_globals_and_locals_have_names() {
    let text = "uniform float g[3][4];
        export void f(uniform int k) {
            uniform int local[6];
            local[k] = 7;
            g[2][programIndex] = local[k];
            atomic_add_global((uniform int * uniform)&local[k], 1);
        }";
    let kept = traced(text, &[3.into()]);
    let stored = accesses(&kept, "g");
    let indices: Vec<_> = stored[0].at.iter().map(|at| at.index.clone()).collect();
    assert_eq!(indices, [[2, 0], [2, 1], [2, 2], [2, 3]]);
    assert!(stored[0].at.iter().all(|at| at.region == Region::Global));
    let local = accesses(&kept, "local");
    assert_eq!((local[0].ty, local[0].at[0].bytes), (None, Some(24)), "memory of variables is filled with zeros");
    let local = &local[1..];
    assert!(local.iter().all(|effect| effect.at[0].index == [3] && effect.at[0].region == Region::Frame), "{local:?}");
    let atomic = local.iter().find(|effect| effect.access == Access::Atomic).expect("an atomic addition");
    let value = |number: Option<Number>| number.expect("a value").1;
    assert!(value(atomic.at[0].old) < value(atomic.at[0].new));
}

#[test]
fn changed_lanes_are_those_whose_value_is_another() {
    let text = "export void f(uniform int r[]) {
        int x = 5;
        if (programIndex >= 2) x = programIndex + 3;
        r[programIndex] = x;
    }";
    let kept = traced(text, &[spmdvm::Value::slice_mut(&mut [0i32; 4])]);
    let writes = steps(&kept.events).flat_map(|step| &step.writes);
    let of_x: Vec<_> = writes.filter(|r| r.variable.as_deref() == Some("x")).collect();
    // Lane 2 gets the 5 it has.
    assert_eq!(of_x.last().map(|r| (r.changed, r.values.words.clone())), Some((Some(0b1000), vec![5, 5, 5, 6])));
    assert_eq!(of_x[0].changed, Some(0b1111));
}

#[test]
fn calls_and_tasks_nest() {
    let text = "task void work(uniform int a[]) { a[taskIndex] = taskIndex; }
        noinline int twice(int x) { return x + x; }
        export void f(uniform int a[]) {
            launch[3] work(a);
            sync;
            a[programIndex + 3] = twice(programIndex);
        }";
    let kept = traced(text, &[spmdvm::Value::slice_mut(&mut [0i32; 8])]);
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    for event in &kept.events {
        match event {
            Event::Enter(enter) => {
                assert_eq!(enter.depth as usize, open.len());
                seen.push((enter.function.split('.').next().unwrap_or_default().to_owned(), enter.how, enter.task));
                open.push(enter.function.to_string());
            }
            Event::Return(left) => {
                assert_eq!(open.pop().as_deref(), Some(&*left.function));
                assert_eq!(left.depth as usize, open.len());
            }
            Event::Step(step) => {
                assert_eq!(open.last().map(String::as_str), Some(&*step.site.function));
                assert_eq!(step.depth as usize + 1, open.len());
            }
            Event::Print(_) | Event::Trap(_) | Event::End(_) => {}
        }
    }
    assert!(open.is_empty());
    let expected = [("f", How::Host, None), ("work", How::Task, Some(0)), ("work", How::Task, Some(1))];
    assert_eq!(seen[..3], expected.map(|(name, how, task)| (name.to_owned(), how, task)));
    assert_eq!(seen[3].2, Some(2));
    let call = kept.events.iter().find_map(|event| match event {
        Event::Return(left) if left.function.starts_with("twice") => Some(left),
        _ => None,
    });
    let call = call.expect("a call");
    assert_eq!((call.results[0].values.words.clone(), call.into.len()), (vec![0, 2, 4, 6], 1));
}

#[test]
fn the_trap_is_the_last_event() {
    let text = "export void f(uniform int a[]) {\n    print(\"before\\n\");\n    a[programIndex * 3] = 1;\n}\n";
    let kept = traced(text, &[spmdvm::Value::slice_mut(&mut [0i32; 8])]);
    let Some(Event::Trap(trap)) = kept.events.last() else { panic!("no trap at the end") };
    assert_eq!((trap.kind.as_str(), trap.lane), ("out_of_bounds", Some(3)));
    assert_eq!(trap.calls[0].span.as_ref().map(|span| span.line), Some(3));
    let store = steps(&kept.events).last().expect("a step");
    assert_eq!(store.site.op, "store");
    // What did not happen has no outcome.
    let at = &store.memory[0].at[3];
    assert_eq!((at.index.as_slice(), at.old, at.new), (&[9][..], None, None));
    let printed = kept.events.iter().filter(|event| matches!(event, Event::Print(print) if print.text == "before\n"));
    assert_eq!(printed.count(), 1);
}

#[test]
fn a_run_without_lanes_has_a_header_and_an_end() {
    let mut kept = Kept::default();
    let module = super::module(SCATTER, 4);
    let run = spmdvm::Run::new(&module).mask(0);
    let stop = Default::default();
    let mut a = [0i32; 8];
    let args = [spmdvm::Value::slice_mut(&mut a), 8.into()];
    let _ = spmdvm_oracle::trace::record(&module, run, (&module.exports()[0], &args, 0), stop, &mut kept);
    assert_eq!(kept.header.map(|header| header.mask), Some(0));
    assert!(matches!(kept.events[..], [Event::End(ref end)] if end.reason == Reason::Returned && end.steps == 0));
}

/// Asks for no more after so many events.
struct Enough(usize);

impl Sink for Enough {
    fn begin(&mut self, _: &spmdvm_oracle::trace::Header) -> std::io::Result<()> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> std::io::Result<ControlFlow<()>> {
        self.0 = self.0.checked_sub(1).expect("events come after the break");
        Ok(if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

#[test]
fn a_sink_that_has_enough_ends_an_endless_run() {
    let module = super::module("export void f() { while (true) { } }", 4);
    assert!(!record_to(&module, &[], &mut Enough(1000)));
}
