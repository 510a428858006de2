// The last turn of a foreach has fewer lanes; what is behind the end stays.
export void f(uniform int out[], uniform int from, uniform int to) {
    foreach (i = from ... to) out[i] = i * i;
}
// call: f(out=ones:i32:40, from=0, to=37)
// call: f(out=ones:i32:40, from=5, to=6)
// call: f(out=ones:i32:40, from=9, to=3)
