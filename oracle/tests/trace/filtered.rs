//! Parts of traces.

use super::{Wanted, narrowed, steps, traced, up_to};
use spmdvm::Value;
use spmdvm_oracle::trace::event::{Event, Reason};
use spmdvm_oracle::trace::{Kept, Last, Sink, Until};

const PROGRAM: &str = "noinline int half(int x) {
    return x / 2;
}
export void f(uniform int a[]) {
    int x = half(programIndex);
    if (programIndex == 3)
        a[programIndex] = x;
    print(\"done\\n\");
}
";

fn kept() -> Kept {
    traced(PROGRAM, &[Value::slice_mut(&mut [0i32; 4])])
}

#[test]
fn functions_go_by_their_name_in_the_source() {
    let (_, events) = narrowed(&kept(), Wanted { function: Some("half".into()), ..Wanted::default() });
    assert!(steps(&events).count() > 0);
    assert!(steps(&events).all(|step| step.site.function.starts_with("half")));
    assert!(events.iter().any(|event| matches!(event, Event::Enter(_))));
    assert!(matches!(events.last(), Some(Event::End(_))));
}

#[test]
fn lines_are_those_of_the_program() {
    let (_, events) = narrowed(&kept(), Wanted { line: Some(2), ..Wanted::default() });
    assert!(steps(&events).count() > 0);
    assert!(steps(&events).all(|step| step.site.span.as_ref().is_some_and(|span| span.line == 2)));
    assert!(!events.iter().any(|event| matches!(event, Event::Enter(_) | Event::Return(_))));
}

#[test]
fn lanes_narrow_values_and_steps() {
    let kept = kept();
    let (header, events) = narrowed(&kept, Wanted { lanes: Some(vec![0, 2]), ..Wanted::default() });
    assert_eq!(header.lanes, [0, 2]);
    assert!(steps(&events).all(|step| step.mask & 0b101 != 0 || step.mask_after.unwrap_or(0) & 0b101 != 0));
    let is_store = |event: &&Event| matches!(event, Event::Step(step) if step.site.op == "store.lane");
    assert_eq!((kept.events.iter().filter(is_store).count(), events.iter().filter(is_store).count()), (1, 0));
    let varying = steps(&events).flat_map(|step| &step.writes).filter(|register| !register.values.is_uniform);
    assert!(varying.map(|register| register.values.words.len()).all(|n| n == 2));
    let iota = steps(&events).find(|step| step.site.op == "iota").expect("the lane's index");
    assert_eq!(iota.writes[0].values.words, [0, 2]);
}

#[test]
fn traces_stop_where_asked() {
    let kept = kept();
    let events = up_to(&kept, "steps=3");
    assert_eq!(steps(&events).count(), 3);
    assert!(matches!(events.last(), Some(Event::End(end)) if end.reason == Reason::Until && end.steps == 3));
    let events = up_to(&kept, "line=7");
    assert!(steps(&events).count() > 3);
    assert!(steps(&events).all(|step| step.site.span.as_ref().is_none_or(|span| span.line != 7)));
    assert_eq!(up_to(&kept, "line=99").len(), kept.events.len());
    for wrong in ["line=0", "line=x", "steps", "7", "", "line"] {
        assert!(wrong.parse::<Until>().is_err(), "{wrong}");
    }
}

#[test]
fn the_last_steps_alone() {
    let kept = kept();
    let mut last = Last::new(2, Kept::default());
    last.begin(kept.header.as_ref().expect("a header")).expect("it begins");
    kept.events.iter().for_each(|event| assert!(last.event(event).expect("it is kept").is_continue()));
    last.finish().expect("it ends");
    let events = last.into_inner().events;
    assert!(matches!(events.first(), Some(Event::Step(_))));
    assert_eq!(steps(&events).count(), 2);
    assert_eq!(events[..], kept.events[kept.events.len() - events.len()..]);
}
