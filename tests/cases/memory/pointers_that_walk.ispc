// Pointers that loops advance are in bounds just where they would be if each round were looked at by itself.

//~ run: gangs(to=fill(7):200, from=iota:200, rounds=3) to[i] == (i < 3 * W ? 2 * i + 1 : 7)
//~ run: gangs(to=fill(7):1000, from=iota:1000, rounds=15) to[i] == (i < 15 * W ? 2 * i + 1 : 7)
//~ run: gangs(to=fill(7):1000, from=iota:1000, rounds=1001) to[i] == (i < 1000 / W * W ? 2 * i + 1 : 7)
//~   trap: out_of_bounds line=both
export void gangs(uniform float to[], const uniform float from[], uniform int rounds) {
    const uniform float * uniform p = from;
    uniform float * uniform q = to;
    for (uniform int k = 0; k < rounds; ++k) {
        q[programIndex] = p[programIndex] * 2 + 1; //~ line: both
        p += programCount;
        q += programCount;
    }
}

// Both ends, and what lies between them.
//~ run: both_ends(a=iota:100, n=50) a[i] == 99 - i
//~ run: both_ends(a=iota:100, n=100) a[i] == i
//~ run: both_ends(a=iota:100, n=101) a[i] == i
//~   trap: out_of_bounds line=ends
export void both_ends(uniform int a[], uniform int n) {
    uniform int * uniform left = a;
    uniform int * uniform right = a + 99;
    for (uniform int k = 0; k < n; ++k) {
        uniform int t = *left; //~ line: ends
        *left++ = *right;
        *right-- = t;
    }
}

// Steps of several lengths, forwards only; what is read ahead may lie beyond the end.
//~ run: steps(a=iota:100, n=40) result == 3160
//~ run: steps(a=fill(-1):121, n=40) result == -40
//~ run: steps(a=fill(-1):119, n=40) result == 0
//~   trap: out_of_bounds line=back
export uniform int steps(const uniform int a[], uniform int n) {
    const uniform int * uniform p = a;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        if (*p >= 0) {
            sum += p[0] + p[1];
            p += 2;
        } else {
            sum += p[2]; //~ line: back
            p += 3;
        }
    }
    return sum;
}

// Pointers of an outer loop go on in inner ones, and rows begin where the outer loop says.
//~ run: rows(a=iota:100, n=10, m=10) result == 4950
//~ run: rows(a=iota:100, n=20, m=5) result == 4950
//~ run: rows(a=iota:100, n=9, m=12) result == 0
//~   trap: out_of_bounds line=row
export uniform int rows(const uniform int a[], uniform int n, uniform int m) {
    const uniform int * uniform p = a;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        const uniform int * uniform q = p;
        for (uniform int j = 0; j < m; ++j) {
            sum += *p++; //~ line: row
            sum += *q - p[-1];
            ++q;
        }
    }
    return sum;
}

// Forwards and backwards, and back to the beginning.
//~ run: to_and_fro(a=iota:64, n=100) result == 127
//~ run: to_and_fro(a=iota:3, n=100) result == 0
//~   trap: out_of_bounds
export uniform int to_and_fro(const uniform int a[], uniform int n) {
    const uniform int * uniform p = a;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        sum += *p;
        if (k % 7 < 3) ++p;
        else if (k % 7 < 6) --p;
        else p = a;
    }
    return sum;
}

// A pointer that is none any more stays so, however far it is led.
//~ run: far(a=iota:100, away=549755813888, n=50) result == 0
//~   trap: out_of_bounds line=read
//~ run: far(a=iota:100, away=-549755813888, n=50) result == 0
//~   trap: out_of_bounds line=read
//~ run: far(a=iota:100, away=100, n=50) result == 1225
export uniform int far(const uniform int8 a[], uniform int64 away, uniform int n) {
    const uniform int8 * uniform begin = a + away;
    uniform int64 back = -away;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        sum += *(begin + back); //~ line: read
        ++back;
    }
    return sum;
}

//~ run: from_nowhere(a=iota:100, away=549755813888, n=5) result == 0
//~   trap: out_of_bounds
//~ run: from_nowhere(a=iota:100, away=30, n=70) result == 4515
//~ run: from_nowhere(a=iota:100, away=-1, n=5) result == 0
//~   trap: out_of_bounds
export uniform int from_nowhere(const uniform int8 a[], uniform int64 away, uniform int n) {
    const uniform int8 * uniform p = a + away;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        sum += *p++;
    }
    return sum;
}
