void g() { return 3; }
float h() { return; }
uniform int k(float x) { return x; }
int missing(int x) { if (x < 3) return 1; }
