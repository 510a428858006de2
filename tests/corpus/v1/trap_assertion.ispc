// An assertion looks at the lanes that are on.
export void f(uniform int out[], uniform int limit) {
    out[programIndex] = programIndex;
    if (programIndex > 0) {
        assert(programIndex < limit);
        out[programIndex] += 100;
    }
}
// call: f(out=zeros:i32:16, limit=20)
// call: f(out=zeros:i32:16, limit=3)
