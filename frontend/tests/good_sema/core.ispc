struct Point { float x, y, z; };
typedef float<3> float3;
enum Color { Red, Green = 5, Blue };
static const uniform int N = 16;
uniform float table[N] = { 1, 2, 3 };
const float lanes = 3.5f;
static uniform int counter = 0;
uniform float * uniform where = &table[2];

static inline float lerp(float t, float a, float b) { return (1.f - t) * a + t * b; }

float operator_like(Point p) { return p.x + p.y * p.z; }

Point operator+(Point a, Point b) { Point r = { a.x + b.x, a.y + b.y, a.z + b.z }; return r; }

export void saxpy(uniform float x[], uniform float y[], uniform float a, uniform int n) {
    foreach (i = 0 ... n) {
        y[i] = a * x[i] + y[i];
    }
}

export uniform float total(const uniform float x[], uniform int n) {
    float sum = 0;
    foreach (i = 0 ... n) {
        if (x[i] < 0)
            continue;
        sum += x[i];
    }
    return reduce_add(sum);
}

export float shade(float x, float y) {
    Point p = { x, y }, q = p;
    Point s = p + q;
    float3 v = { x, y, 1 };
    v.x += 2;
    float3 w = v.zyx * 2;
    int k = (int)x & 7;
    switch (k) {
    case 0:
    case 1: s.x = 1; break;
    case Green: s.y = 2;
    default: s.z = w.y;
    }
    while (any(s.x < 10)) { s.x++; if (s.x > 5) break; }
    float a[4] = { 0 };
    a[k & 3] = x;
    return lerp(s.x, a[k & 3], v[1]) + operator_like(s);
}

task void work(uniform float out[]) { out[taskIndex] = taskCount; }
export void go(uniform float out[]) { launch[4] work(out); sync; }

void swap(uniform float & a, uniform float & b) { uniform float t = a; a = b; b = t; }

export void nested(uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float sum = i;
        foreach (j = 0 ... n) {
            float part = j * 2;
            sum += reduce_add(part);
        }
        out[i] = sum;
    }
}
template <typename T> T twice(T x) { return x + x; }
template <typename T, int K> T times(T x) { return x * K; }
export void generic(uniform float out[]) {
    out[0] = twice(out[1]);
    out[programIndex] = twice<float>(2) + times<float, 3>(1.5f);
    uniform float * uniform p = out + 3;
    *p = 1; p[2] = 3; p++;
    float * q = &out[programIndex];
    *q = 4;
    swap(out[0], out[1]);
    print("value % and %\n", out[0], programIndex);
    assert(out[0] < 5);
}
typedef float (*Fn)(float);
static float one(float x) { return 1; }
static float two(float x) { return 2; }
export float apply(float x) {
    uniform Fn f = one;
    Fn g = x < 0 ? one : two;
    return f(x) + g(x);
}
export void memory(uniform int n) {
    uniform int * uniform p = uniform new uniform int[n];
    int * q = new int[4];
    q[0] = 3;
    delete[] p;
    delete q;
    Point * r = new Point(1, 2, 3);
    r->x = 4;
    delete r;
}
uniform floating square(uniform floating x) { return x * x; }
export uniform double poly(uniform double d) { return square(d) + square((uniform float)d); }
soa<8> Point cloud[10];
export void soas() {
    foreach (i = 0 ... 80) { cloud[i].x = i; }
    uniform Point p = cloud[3];
    soa<8> Point * uniform q = &cloud[4];
    cloud[5] = p;
    q->y = 2;
    q[1].z = 3;
}
