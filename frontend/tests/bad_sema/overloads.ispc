struct A { int i; };
void draw(A a) { }
void draw(float<3> v) { }
void draw(float x, float y) { }
export void f() { draw("text"); float * p; float r = sqrt(p); }
