struct V2 { float x, y; };
V2 operator-(V2 a, V2 b) { V2 r = { a.x - b.x, a.y - b.y }; return r; }
V2 negated(V2 v) {
    return -v;
}
V2 product(V2 v) {
    return v * ~v;
}
