// Streaming stores and loads are stores and loads.
//~ run: f(a=iota) out[i] == (i < W ? i : 0)
export void f(uniform float a[], uniform float out[]) { streaming_store(out, streaming_load(a)); }
