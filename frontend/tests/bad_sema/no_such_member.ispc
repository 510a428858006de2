struct Particle { float position, velocity; };
export void f() {
    Particle p;
    p.postion = 1;
    float<3> v;
    v.w = 2;
    v.foo = 1;
    float x;
    x.y = 1;
}
