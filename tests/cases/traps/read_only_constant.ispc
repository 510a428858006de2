// A constant cannot be written through a cast pointer.
//~ run: f()
//~   trap: read_only line=here
const uniform int table[2] = { 1, 2 };
export void f() {
    uniform int * uniform p = (uniform int * uniform)&table[0];
    *p = 5; //~ line: here
}
