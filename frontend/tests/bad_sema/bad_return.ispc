void g() { return 3; }
float h() { return; }
uniform int k(float x) { return x; }
