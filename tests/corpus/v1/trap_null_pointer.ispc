// A null pointer in one lane, and none where that lane is off.
export void f(uniform int out[], uniform int in[], uniform int skip) {
    uniform int * varying p = in + programIndex;
    if (programIndex == 2) p = NULL;
    if (programIndex != skip) out[programIndex] = *p;
}
// call: f(out=zeros:i32:16, in=iota:i32:16, skip=2)
// call: f(out=zeros:i32:16, in=iota:i32:16, skip=1)
