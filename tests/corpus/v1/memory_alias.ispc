// Two arguments are the same memory, one element apart: each turn loads all lanes before it stores.
export void f(uniform int a[], const uniform int b[]) {
    a[programIndex] = b[programIndex] + 1;
}
// call: f(a=iota:i32:40, b=a+1)
