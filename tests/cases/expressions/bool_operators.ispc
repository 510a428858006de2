// `&&`, `||`, `!` and `==` on varying booleans.
//~ run: f() out[i] == ((i % 2 == 0 && i % 3 == 0) || !(i % 5 == 0) == (i < 7))
export void f(uniform bool out[]) {
    foreach (i = 0 ... 64) {
        bool two = i % 2 == 0, three = i % 3 == 0, five = i % 5 == 0;
        out[i] = (two && three) || (!five == (i < 7));
    }
}
