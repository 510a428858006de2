struct S { uniform int x; };
export void f(uniform S s[]) {
    uniform S * uniform p = &s[0];
    p.x = 1;
    s[0]->x = 2;
    uniform int i;
    i->x = 1;
    *i = 3;
}
