//! The console as people use it: scripts of commands, mistakes included, and what it says to them.

mod common;

use common::session;
use spmdvm::Value;

const KERNEL: &str = "\
// Halves what is large, and counts.
noinline static float halved(float v) {
    float h = v / 2;
    return h;
}

export void settle(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i];
        int rounds = 0;
        while (x > 1) {
            if (x > 10)
                x = halved(x);
            else
                x -= 1;
            rounds++;
            if (rounds > 4)
                break;
        }
        a[i] = x + rounds;
    }
}
";

/// Answers to a script for `KERNEL`.
fn settle(script: &str) -> String {
    let mut a = [1.5f32, 20.0, 3.0, 0.5, 7.0, 9.0];
    session(KERNEL, &[Value::slice_mut(&mut a), 6i32.into()], script)
}

#[test]
fn lines_go_by_forwards_and_backwards() {
    insta::assert_snapshot!(settle(
        "next
         n
         in
         next 3
         in
         back
         back 2
         back-in
         goto start
         back
         goto +40
         goto -7
         run
         back
         quit"
    ));
}

#[test]
fn masks_are_strips_and_values_are_rows() {
    insta::assert_snapshot!(settle(
        ":break 15
         :continue
         :masks
         :vars
         :vars all
         :print x * 2 + a[i]
         :print x > 2 && rounds == 0
         :print a[1] / 3
         :print a
         :print programIndex % 2
         :lanes 1,3
         :vars
         :lanes 0-2
         :masks
         :lanes all
         :where
         :list
         :code
         :state"
    ));
}

#[test]
fn stops_are_at_lines_and_at_changes() {
    insta::assert_snapshot!(settle(
        "break 16 if rounds >= 3
         break 1
         break
         c
         c
         rc
         delete 1
         watch rounds[1]
         c
         c
         rc
         delete
         watch a[2]
         c
         break settle
         rc
         delete
         c"
    ));
}

#[test]
fn calls_are_gone_into_and_out_of() {
    insta::assert_snapshot!(settle(
        "break 13
         c
         in
         where
         vars
         out
         back-in
         back-out
         over
         back-over
         instr
         instr 2
         back-instr
         back-instr 1000"
    ));
}

#[test]
fn mistakes_are_answered() {
    insta::assert_snapshot!(settle(
        "nxet
         back-
         next many
         next 0
         out 3
         goto somewhere
         goto -x
         break 99
         break nowhere
         break nofile.ispc:3
         break 12 if
         break 12 if x >
         watch
         watch nothing
         watch x[9]
         watch 3 + 4
         delete 7
         delete it
         lanes 4
         lanes 2-1
         lanes 3-9
         lanes x
         print
         print y
         print a[100]
         print n[0]
         print (x
         print n.x
         print 1.5 & 2
         vars some
         list nowhere
         why
         why y
         why n[1]
         why a
         help nothing
         masks please
         # a remark
         run
         print n * 2
         why a[1] 3
         vars
         watch n
         quit now
         quit"
    ));
}

#[test]
fn help_is_the_table() {
    insta::assert_snapshot!(settle("help\nhelp back\nhelp :c\nstate"));
}

#[test]
fn the_last_motion_is_repeated_by_an_empty_line() {
    let all = settle("instr\nvars\nn\nn");
    assert!(all.contains("(1) vars"), "{all}");
    let source = "export uniform int f(uniform int n) { return n * (n + 1) - n / 3; }";
    let module = common::module(source);
    let export = &module.exports()[0];
    let args = [7i32.into()];
    let call = (&module, export, &args[..]);
    let positions = spmdvm_debug::open(
        call,
        Default::default(),
        |_| (),
        |session| {
            let mut console = spmdvm_debug::Console::new(session, false);
            let mut position = |line: &str| {
                let answer = console.execute(line);
                (console.session().recording.position(), answer.failed)
            };
            ["", "instr", "", "vars", "", "back-instr", ""].map(&mut position)
        },
    );
    let expected = [0, 1, 2, 2, 2, 1, 0].map(|position| (position, false));
    assert_eq!(positions.ok(), Some(expected));
}

#[test]
fn a_trap_stops_before_the_instruction() {
    let source = "\
export void divide(uniform int a[], uniform int n) {
    foreach (i = 0 ... n) {
        int d = i - 2;
        if (a[i] > 0)
            a[i] = 100 / d;
    }
}
";
    let mut a = [1i32, 0, 5, 2];
    insta::assert_snapshot!(session(
        source,
        &[Value::slice_mut(&mut a), 4i32.into()],
        "continue
         print d
         code
         instr
         next
         back
         why d[2]
         c
         rc
         c"
    ));
    assert_eq!(a, [1, 0, 5, 2], "a run that trapped leaves no traces");
}

#[test]
fn all_masks_have_their_strips() {
    let source = "\
int pick(int x) {
    switch (x) {
    case 0:
        return 10;
    case 1:
        x = 5;
        break;
    default:
        x = x * 2;
    }
    for (int i = 0; i < 8; i++) {
        if (i == x)
            break;
        if (i % 2 == programIndex % 2)
            continue;
        x++;
    }
    return x;
}

export void f(uniform int a[]) {
    a[programIndex] = pick(programIndex);
    unmasked { a[0] += 1; }
    foreach_active (l) { print(\"%\\n\", l); }
}
";
    let mut a = [0i32; 4];
    insta::assert_snapshot!(session(
        source,
        &[Value::slice_mut(&mut a)],
        "break 6
         break 9
         break 16
         c
         masks
         c
         masks
         c
         masks
         c
         delete
         out
         next
         next
         next
         masks
         back
         next"
    ));
    assert_eq!(a[0], 11);
}

#[test]
fn structs_arrays_and_globals_are_seen() {
    let source = "\
struct Point { float x; uniform int tag; };
struct Point3 { float x, y, z; };
uniform int calls = 3;
uniform float table[4] = { 1, 2, 3, 4 };
export uniform float f(const uniform Point3 p[], uniform int n) {
    uniform float sum = 0;
    Point own = { programIndex, 7 };
    float<3> v = { 1, 2, programIndex };
    float history[2];
    history[calls & 1] = own.x;
    for (uniform int k = 0; k < n; k++) {
        sum += p[k].y;
        calls++;
    }
    own.x += v.z;
    return sum + reduce_add(own.x + history[0]);
}
";
    let points: Vec<f32> = (0..6).map(|i| i as f32).collect();
    insta::assert_snapshot!(session(
        source,
        &[Value::bytes_of(&points), 2i32.into()],
        "break 12
         c
         vars all
         print p[1].y + sum
         print p[k]
         print own.x * own.tag
         print v[2]
         print history[1]
         print history
         print table[k + 1]
         watch calls
         c
         delete
         next
         next
         next
         next
         vars
         run"
    ));
}

#[test]
fn tasks_are_stepped_into() {
    let source = "\
task void work(uniform int a[], uniform int base) {
    int x = base + taskIndex;
    if (programIndex == 1)
        a[taskIndex] = extract(x, 1) * 2;
}
export void f(uniform int a[]) {
    launch[3] work(a, 10);
    sync;
    a[3] = a[0];
}
";
    let mut a = [0i32; 4];
    insta::assert_snapshot!(session(
        source,
        &[Value::slice_mut(&mut a)],
        "in
         next
         where
         vars
         break 4 if taskIndex == 2
         c
         why x
         back
         delete
         out
         why a[1]
         back 2
         back-in
         run"
    ));
    assert_eq!(a, [20, 22, 24, 20]);
}
