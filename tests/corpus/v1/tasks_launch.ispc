// Tasks write what is theirs; the launching function waits for them.
task void square(uniform int out[], uniform int n) {
    uniform int from = taskIndex * n;
    foreach (i = from ... from + n) out[i] = i * i + taskIndex * 10000;
}
export void f(uniform int out[], uniform int n) {
    launch[4] square(out, n);
    sync;
    out[4 * n] = out[0] + out[4 * n - 1];
}
// call: f(out=zeros:i32:37, n=9)
