//--- auto
export void f(uniform float a[]) { auto x = a[0]; a[1] = x; }
//--- std::
export void f(uniform float a[]) { a[0] = std::max(a[1], a[2]); }
//--- std::vector
export void f(uniform int n) { std::vector<float> v(n); }
//--- a range-based for
export void f(uniform float a[]) { for (auto x : a) x = 1; }
//--- a C++ header
#include <vector>
#include <cmath>
export void f(uniform float a[]) { }
//--- static_cast
export uniform int f(uniform float x) { return static_cast<int>(x); }
//--- a lambda
export void f(uniform float a[]) { float x = [](float y) { return y; }(a[0]); }
//--- nullptr
export void f(uniform float a[]) { if (a == nullptr) return; }
//--- cout
export void f(uniform float a[]) { std::cout << a[0]; }
//--- a constructor call
struct P { float x, y; };
export void f(uniform float a[]) { P p = P(1, 2); a[0] = 1; }
//--- long, char and size_t
export void f(uniform char text[], uniform long n) { for (size_t i = 0; i < n; ++i) text[i] = 0; }
//--- malloc
export void f(uniform int n) { uniform float * uniform p = malloc(n * 4); free(p); }
//--- template <class T> struct
template <class T> struct Pair { T a, b; };
//--- #pragma omp
export void f(uniform float a[], uniform int n) {
    #pragma omp simd
    for (uniform int i = 0; i < n; ++i) a[i] = 0;
}
//--- threadIdx
export void f(uniform float a[]) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = 1; }
//--- __global__
__global__ void f(float *a) { a[0] = 1; }
//--- __device__
__device__ float g(float x) { return x * 2; }
//--- __syncthreads and __shared__
export void f(uniform float a[]) {
    __shared__ float tile[64];
    __syncthreads();
}
//--- a kernel launch
task void work(uniform float a[]) { }
export void f(uniform float a[]) { work<<<4, 64>>>(a); }
//--- float3 and float4
export void f(uniform float a[]) { float3 v = make_float3(1, 2, 3); float4 w; }
//--- OpenCL
__kernel void f(__global float *a) { int i = get_global_id(0); a[i] = 1; }
//--- GLSL
vec3 g(vec3 v) { return normalize(v); }
//--- a Python function
def f(a, n):
    return a[n]
//--- a Python loop
export void f(uniform float a[], uniform int n) {
    for i in range(n):
        a[i] = 0;
}
//--- and, or, not, True, None
export uniform bool f(uniform bool a, uniform bool b) { return a and not b or True; }
//--- a Python power and floor division
export uniform float f(uniform float x) { return x ** 2; }
//--- a Python comment
# doubles everything
export void f(uniform float a[]) { a[programIndex] *= 2; }
//--- elif
export void f(uniform int n) { if (n > 1) { } elif (n > 2) { } }
//--- single-quoted text
export void f(uniform int n) { print('hello\n'); }
//--- a Rust function
fn f(a: &mut [f32]) -> f32 { let x = 1.0; x }
//--- a Rust range
export void f(uniform float a[], uniform int n) { for i in 0..n { a[i] = 0; } }
//--- try and throw
export void f(uniform int n) { try { if (n > 1) throw n; } catch (...) { } }
