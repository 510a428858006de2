// What is too large becomes infinite.
//~ run: f(x=3e38) result == inf
export uniform float f(uniform float x) { return x * 10; }
