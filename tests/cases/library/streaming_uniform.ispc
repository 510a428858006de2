// A streaming load of one uniform value.
//~ run: f(a=[7, 8]) result == 7
export uniform int f(uniform int a[]) { return streaming_load_uniform(a); }
