// Three nested calls in all lanes make W⁴ tasks of the innermost function's lanes; their number is what example 3.6 counts.
//~ widths: 1,2,4,8
//~ run: f() tasks[i] == (i == 0 ? W : i == 1 ? W * W : i == 2 ? W * W * W : i == 3 ? W * W * W * W : 0)
static void count(uniform int tasks[], uniform int depth) { tasks[depth] += reduce_add((varying int)1); }
static void baz(uniform int tasks[], uniform int x) { count(tasks, 3); }
static void bar(uniform int tasks[], uniform int x) {
    count(tasks, 2);
    crev baz(tasks, programIndex);
}
static void foo(uniform int tasks[], uniform int x) {
    count(tasks, 1);
    crev bar(tasks, programIndex);
}
export void f(uniform int tasks[]) {
    count(tasks, 0);
    crev foo(tasks, programIndex);
}
