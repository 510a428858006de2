// Members of records that are loaded or stored together: all, some, in another order, several times, to the last element of the array.
//~ run: turn(p=iota:192, n=64) p[i] == (i % 3 == 0 ? i + 1 - 2 : i % 3 == 1 ? i - 1 + 3 : i * 10)
//~ run: turn(p=iota:96, n=32) p[i] == (i % 3 == 0 ? i + 1 - 2 : i % 3 == 1 ? i - 1 + 3 : i * 10)
export void turn(uniform float p[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
        p[3 * i] = y - 2;
        p[3 * i + 1] = x + 3;
        p[3 * i + 2] = z * 10;
    }
}

// Two of four, the last first; what lies between is left alone.
//~ run: two(p=iota:256, n=64) p[i] == (i % 4 == 3 ? i - 2 : i % 4 == 1 ? i + 2 : i)
export void two(uniform int p[], uniform int n) {
    foreach (i = 0 ... n) {
        int d = p[4 * i + 3], b = p[4 * i + 1];
        p[4 * i + 3] = b;
        p[4 * i + 1] = d;
    }
}

// The last stored counts, of two that are to one member.
//~ run: twice(p=iota:128, n=64) p[i] == (i % 2 == 0 ? 3 * i : -i)
export void twice(uniform int p[], uniform int n) {
    foreach (i = 0 ... n) {
        int a = p[2 * i], b = p[2 * i + 1];
        p[2 * i] = b;
        p[2 * i + 1] = -b;
        p[2 * i] = 3 * a;
    }
}

// What is loaded behind a store is what was stored: to the same member, and to the next record's, by another lane.
//~ run: behind(p=iota:130, n=64) p[i] == (i > 127 ? i : i % 2 == 0 ? i + 100 : i / 2 % W == W - 1 ? i + 1 : i + 101)
export void behind(uniform int p[], uniform int n) {
    for (uniform int first = 0; first < n; first += programCount) {
        int i = first + programIndex;
        int a = p[2 * i];
        p[2 * i] = a + 100;
        int next = p[2 * i + 2];
        p[2 * i + 1] = next;
    }
}

// Downwards, by structures of members of different types.
struct Vertex { float x; int id; float y; unsigned int colour; float z; };
//~ run: down(v=iota:64, out=zeros:64, n=64) out[i] == 63 - i; v[i].id == i; v[i].x == 63 - i; v[i].z == -1; v[i].y == i; v[i].colour == i + 7
export void down(uniform Vertex v[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        v[i].id = i;
        v[i].y = i;
        v[i].colour = i + 7;
    }
    foreach (i = 0 ... n) {
        int at = n - 1 - i;
        v[at].x = v[i].id;
        v[at].z = -1;
    }
    foreach (i = 0 ... n)
        out[i] = v[i].x;
}

// Arrays that are one, an element apart: stores of one gang are loaded by the next, and by the same one's later loads.
//~ run: apart(a=iota:130, b=alias(a, 1):129, n=64) a[0] == 0; a[129] == 129
export void apart(uniform int a[], uniform int b[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = a[2 * i], y = a[2 * i + 1];
        b[2 * i] = x + y;
        int z = a[2 * i + 1];
        b[2 * i + 1] = z - 1;
    }
}

// Some lanes only, of some members.
//~ run: some(p=iota:192, q=zeros:192, n=64) q[i] == (i / 3 % 5 == 2 ? 0 : i % 3 == 0 ? i + 1 : i % 3 == 1 ? i - 1 : 7)
export void some(uniform int16 p[], uniform int16 q[], uniform int n) {
    foreach (i = 0 ... n) {
        if (i % 5 != 2) {
            q[3 * i] = p[3 * i + 1];
            q[3 * i + 1] = p[3 * i];
            q[3 * i + 2] = 7;
        }
    }
}

// By pointers to records, which functions are given.
//~ run: given(p=iota:640, n=64) p[i] == (i % 10 < 2 ? i + 2 : i % 10 == 4 ? 5 : i)
void one(uniform double * uniform p) {
    double x = p[10 * programIndex + 2], y = p[10 * programIndex + 3];
    p[10 * programIndex + 1] = y;
    p[10 * programIndex] = x;
    p[10 * programIndex + 4] = 5;
}
export void given(uniform double p[], uniform int n) {
    for (uniform int first = 0; first < n; first += programCount)
        one(&p[10 * first]);
}
