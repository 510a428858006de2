// The sum up to and including each lane.
//~ run: f() out[i] == (i < W ? (i + 1) * (i + 2) * 0.25 : 0.0)
export void f(uniform float out[]) { out[programIndex] = inclusive_scan_add((programIndex + 1) * 0.5); }
