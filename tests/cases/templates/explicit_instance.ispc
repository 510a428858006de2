// An instance asked for by name.
//~ run: f() result == 10
template <typename T> T doubled(T x) { return x + x; }
template uniform int doubled<uniform int>(uniform int);
export uniform int f() { return doubled<uniform int>(5); }
