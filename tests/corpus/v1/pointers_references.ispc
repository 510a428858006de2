// References to variables, elements and members.
struct Pair { int a, b; };
void swap(int &x, int &y) {
    int t = x;
    x = y;
    y = t;
}
void add(uniform int &total, uniform int by) { total += by; }
export void f(uniform int out[]) {
    Pair p = { programIndex, programIndex * 10 };
    if (programIndex & 1) swap(p.a, p.b);
    uniform int total = 5;
    add(total, 7);
    out[programIndex] = p.a * 1000 + p.b + total;
}
// call: f(out=zeros:i32:16)
