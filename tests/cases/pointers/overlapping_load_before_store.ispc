// A vector store happens after all lanes have loaded.
//~ widths: 4
//~ run: f(a=iota:5, b=alias(a, 1):4) a[i] == (i == 0 ? 0 : i - 1)
export void f(uniform int a[], uniform int b[]) { b[programIndex] = a[programIndex]; }
