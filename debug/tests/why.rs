//! Where values come from: slices of small programs, held against what one finds by hand.

mod common;

use common::{module, session};
use spmdvm::Value;
use spmdvm_debug::why::{Key, Role, Slice, why};
use spmdvm_debug::{Settings, open};

/// Lines of the causes of a register's lane at the end of a function, in their order in the run, each once.
fn lines(slice: &Slice, role: Role) -> Vec<u32> {
    let mut causes: Vec<_> = slice.causes.iter().filter(|cause| cause.role == role).collect();
    causes.sort_by_key(|cause| cause.position);
    let mut lines: Vec<u32> = causes.iter().filter_map(|cause| Some(cause.place?.line)).collect();
    lines.dedup();
    lines
}

/// The causes of element `index` of the first argument where the program is at its last instruction.
fn causes_of(source: &str, a: &mut [i32], index: usize, most: usize) -> Slice {
    let module = module(source);
    let export = module.exports()[0].clone();
    let args = [Value::slice_mut(a)];
    let slice = open(
        (&module, &export, &args),
        Settings::default(),
        |_| (),
        |session| {
            session.go_to(u64::MAX).expect("it ends");
            let last = session.recording.position() - 1;
            session.go_to(last).expect("it has been there");
            let view = session.view().expect("not the end");
            let pointer = view.register(spmdvm::vm::Reg(0)).words[0];
            let key = Key::Memory { address: pointer + 4 * index as u64, bytes: 4, ty: spmdvm::Ty::I32 };
            why(session, key, most).expect("nobody interrupts")
        },
    );
    slice.expect("it does not trap")
}

const BRANCHES: &str = "\
export void f(uniform int a[]) {
    int x = programIndex * 3;
    int unrelated = a[programIndex] + 1;
    int y = 1;
    if (x > 4)
        y = x + 100;
    else
        y = -1;
    if (unrelated == 77)
        y = 0;
    a[programIndex] = y;
}
";

#[test]
fn only_what_made_the_value_counts() {
    for (lane, made) in [(1, vec![8, 11]), (2, vec![2, 6, 11])] {
        let slice = causes_of(BRANCHES, &mut [0; 4], lane, 50);
        let mut values: Vec<u32> = lines(&slice, Role::Made).into_iter().filter(|line| *line != 5).collect();
        // The condition's own causes are among them.
        values.retain(|line| made.contains(line));
        assert_eq!(values, made, "lane {lane}");
        assert_eq!(lines(&slice, Role::Decided), [5], "lane {lane}");
        let all: Vec<u32> = slice.causes.iter().filter_map(|cause| Some(cause.place?.line)).collect();
        assert!(!all.contains(&10) && !all.contains(&3), "lane {lane}: {all:?}");
        assert!(!slice.is_cut);
    }
}

#[test]
fn masks_of_causes_are_those_of_the_run() {
    let slice = causes_of(BRANCHES, &mut [0; 4], 1, 50);
    let at = |line: u32| slice.causes.iter().find(|cause| cause.place.is_some_and(|place| place.line == line));
    assert_eq!(at(8).map(|cause| (cause.mask, cause.value.as_str())), Some((0b0011, "-1")));
    assert_eq!(at(11).map(|cause| cause.mask), Some(0b1111));
    assert_eq!(slice.roots.len(), 1);
}

#[test]
fn values_go_through_memory_calls_and_lanes() {
    let source = "\
int twice(int v) {
    return v * 2;
}
export void f(uniform int a[]) {
    int x = a[3 - programIndex];
    uniform int box[2];
    box[0] = 5;
    box[1] = extract(x, 1);
    int y = twice(broadcast(x, 2)) + box[1];
    a[programIndex] = y;
}
";
    let source = source.replace("export void f", "export noinline void f");
    let slice = causes_of(&source.replace("noinline ", ""), &mut [1, 20, 300, 4000], 0, 80);
    let given: Vec<&str> = slice.causes.iter().filter(|c| c.role == Role::Given).map(|c| c.text.as_str()).collect();
    assert!(given.contains(&"a[1], as it was at the start"), "{given:?}");
    assert!(given.contains(&"a[2], as it was at the start"), "{given:?}");
    assert!(!given.iter().any(|text| text.contains("a[3]") || text.contains("a[0]")), "{given:?}");
    let made = lines(&slice, Role::Made);
    assert!(made.contains(&8) && !made.contains(&7), "{made:?}");
}

#[test]
fn loops_are_followed_as_far_as_asked() {
    let source = "\
export void f(uniform int a[]) {
    int x = 0;
    for (uniform int k = 0; k < 1000; k++)
        x += k;
    a[programIndex] = x;
}
";
    let few = causes_of(source, &mut [0; 4], 1, 10);
    assert!(few.is_cut && few.causes.len() <= 13, "{}", few.causes.len());
    let more = causes_of(source, &mut [0; 4], 1, 60);
    assert!(more.causes.len() >= 60);
    assert_eq!(
        more.causes[..10],
        few.causes[..10].iter().zip(&more.causes).map(|(_, cause)| cause.clone()).collect::<Vec<_>>()
    );
}

#[test]
fn answers_are_trees_with_lines_and_masks() {
    let mut a = [0i32; 4];
    insta::assert_snapshot!(session(
        BRANCHES,
        &[Value::slice_mut(&mut a)],
        "goto end
         back
         why y[1]
         why y[2]
         why y[2] 2
         why x[3]
         why y
         next
         why a[2]"
    ));
}
