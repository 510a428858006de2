// `#` makes a text, `##` joins names.
//~ run: f()
//~   print: value_one = 7
#define SHOW(name, n) print(#name "_" #n " = %\n", name##_##n)
export void f() {
    uniform int value_one = 7;
    SHOW(value, one);
}
