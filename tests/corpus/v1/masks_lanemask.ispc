// What lanemask, any, all, none and packmask say under control flow.
export void f(uniform int64 out[]) {
    out[0] = lanemask();
    if (programIndex != 1) {
        out[1] = lanemask();
        out[2] = any(programIndex == 1) ? 1 : 0;
        out[3] = all(programIndex != 1) ? 1 : 0;
        out[4] = none(programIndex > programCount) ? 1 : 0;
        out[5] = packmask(programIndex >= 1);
    }
}
// call: f(out=zeros:i64:8)
// call: f(out=zeros:i64:8) mask=0b110
