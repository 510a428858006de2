void a(float x) { }
void a(int x) { }
typedef void (*Fn)(double);
export void f() {
    uniform Fn p = a;
    uniform int i = a;
    a;
}
