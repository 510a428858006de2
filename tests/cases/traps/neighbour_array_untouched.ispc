// An index that would reach another array does not.
//~ run: f(a=zeros:4, b=fill(7):4, k=4) a[i] == 0; b[i] == 7
//~ trap: out_of_bounds
//~ run: f(a=zeros:4, b=fill(7):4, k=1000) a[i] == 0; b[i] == 7
//~ trap: out_of_bounds
export void f(uniform int a[], uniform int b[], uniform int k) { a[k] = 9; }
