// An index whose byte offset would wrap.
//~ run: f(a=iota, k=0x4000000000000000)
//~   trap: out_of_bounds
export uniform int f(uniform int a[], uniform int64 k) { return a[k]; }
