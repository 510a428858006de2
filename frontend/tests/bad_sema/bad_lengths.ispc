uniform float a[-1];
float<0> v;
soa<3> float s;
struct P { float x; };
soa<3> P p[2];
struct Q { uniform float x; };
soa<4> Q q[2];
