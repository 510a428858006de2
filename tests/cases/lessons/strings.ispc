// Strings are literals for print and assert, and values of type `const uniform int8 *` that can be chosen, passed, stored
// and printed.
//~ run: f(bad=0) result == 101
//~ print: even width {W}
//~ print: 5 is odd
//~ run: f(bad=1)
//~ trap: assertion message=the sum of the parts
//~ print: even width {W}
//~ print: 5 is odd
typedef const uniform int8 * uniform text;
text name(uniform int n) { return n % 2 == 0 ? "even" : "odd"; }
export uniform int f(uniform int bad) {
    text names[2] = { name(4), name(5) };
    print("% width %\n", names[0], programCount);
    print("% is %\n", (uniform int)5, names[1]);
    assert(bad == 0, "the sum of the parts");
    return names[0][0];
}
