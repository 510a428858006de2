// A struct that is named and never defined has no size; only pointers to it can be declared.
struct Sphere { float radius; };
export void f(uniform float a[]) {
    struct Sphree * uniform p = NULL;
    uniform float r = p->radius; //~ error: E0216
    struct Never n; //~ error: E0216
}
