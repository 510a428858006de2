// A program's own test of an index, and what its arrays hold: whichever is smaller, each element is accessed just where the program
// says so, and what is beyond an array traps.

//~ run: count(bins=zeros:10, m=10, at=iota:100, n=100, begin=0) bins[i] == 1
//~ run: count(bins=zeros:10, m=4, at=iota:100, n=100, begin=0) bins[i] == (i < 4)
//~ run: count(bins=zeros:10, m=4, at=iota:100, n=100, begin=5) bins[i] == (i >= 5 && i < 9)
//~ run: count(bins=zeros:10, m=0, at=iota:100, n=100, begin=3) bins[i] == 0
//~ run: count(bins=zeros:10, m=100, at=iota:100, n=7, begin=3) bins[i] == (i >= 3)
//~ run: count(bins=zeros:10, m=100, at=iota:100, n=100, begin=3) bins[i] == (i >= 3)
//~   trap: out_of_bounds line=counted
//~ run: count(bins=zeros:10, m=-1, at=iota:100, n=100, begin=0) bins[i] == 1
//~   trap: out_of_bounds line=counted
export void count(uniform int bins[], uniform int64 m, const uniform int at[], uniform int n, uniform int begin) {
    uniform int * uniform here = bins + begin;
    for (uniform int j = 0; j < n; ++j) {
        uniform int64 k = at[j];
        if ((uniform unsigned int64)k < (uniform unsigned int64)m)
            here[k] += 1; //~ line: counted
    }
}

// Tests that say no, and go on; two arrays, of which either may be the smaller one.
//~ run: both(a=fill(1):8, b=iota:12, m=8, at=iota:50, n=50) result == 8 + 28
//~ run: both(a=fill(1):12, b=iota:8, m=8, at=iota:50, n=50) result == 8 + 28
//~ run: both(a=fill(1):8, b=iota:12, m=9, at=iota:50, n=50) result == 0
//~   trap: out_of_bounds line=both
//~ run: both(a=fill(1):12, b=iota:8, m=9, at=iota:50, n=50) result == 0
//~   trap: out_of_bounds line=both
//~ run: both(a=fill(1):8, b=iota:12, m=9, at=iota:50, n=8) result == 8 + 28
export uniform int both(const uniform int a[], const uniform int b[], uniform unsigned int m, const uniform int at[], uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j) {
        uniform unsigned int k = at[j];
        if (k >= m)
            continue;
        sum += a[k] + b[k]; //~ line: both
    }
    return sum;
}

// Indices that come back from below 0.
//~ run: below(a=iota:10, at=iota:30, n=30, less=4) result == 45
//~ run: below(a=iota:10, at=iota:30, n=30, less=40) result == 0
export uniform int below(const uniform int a[], const uniform int at[], uniform int n, uniform int less) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j) {
        uniform int k = at[j] - less;
        if ((uniform unsigned int)k < 10u)
            sum += a[k];
    }
    return sum;
}
