// Precedence, casts, and all forms of expressions.
struct T { int a; };
typedef uniform float *uniform pointer;
void f(int a, int b, int c, T *uniform p, T t, uniform float v[]) {
    a = b + c * a - b / c % a;
    a = b << c + 1 >> 2 < a == b != c & a ^ b | c && a || b;
    a = b ? c : a ? b : c;
    a += b -= c *= a /= b %= c <<= a >>= b &= c ^= a |= b;
    a = -b + +c - ~a * !b;
    ++a; --b; a++; b--; -a++;
    a = *&b + *p->x.y[3].z++;
    a = (int)b + (uniform int)c + (varying float)(a) + (const uniform int *)p + (pointer)v;
    a = (float<3>)b + (T *uniform)p + (void (*)(int))p + (int[3])b;
    a = sizeof(int) + sizeof(T) + sizeof a + sizeof(a) + sizeof(uniform float *) + sizeof v[0];
    a = (b, c), b = 2;
    a = f(1, 2, 3)(4).member->other[5];
    p = new T; p = uniform new uniform T(1, 2); p = varying new float<3>[a + 1]; p = new int *uniform[3];
    delete p; delete[] p;
    a = crev f(a, b) + 1;
    a = alloca(16) + __alloca(a);
    a = t.xyz + t.r + v[(a, b)];
    a = true ? NULL : false;
    a = @llvm.sqrt.f32(1.0f);
    a = "one" " two\n" == "x";
    p = new T({1, 2}, {{3}, 4}, 5);
    a = b < c > a;
    int T = 3;
    a = T * b + (T) - c;
    struct T again = {T};
    f(-1, a ? (b) : (c), (a));
}
