// Of the last gang of an array only some lanes are within it, in a row or with holes between them. What the first and the last of them read and
// write is there, and nothing else is.
//~ run: in_a_row(bytes=fill(i):7, shorts=fill(300 + i):7, words=fill(i):7, doubles=fill(i):7, n=7)
//~ also: bytes[i] == 2 * i + 1; shorts[i] == 2 * i + 601; words[i] == 2 * i + 1; doubles[i] == 2 * i + 1
//~ run: with_holes(bytes=fill(i):7, shorts=fill(300 + i):7, words=fill(i):7, doubles=fill(i):7, n=7)
//~ also: bytes[i] == (i % 2 == 1 ? 7 : i); shorts[i] == (i % 2 == 1 ? 300 + 2 * i : 300 + i)
//~ also: words[i] == (i % 3 != 0 ? 3 * i : i); doubles[i] == (i == 5 ? 10 : i)
//~ run: in_a_row(bytes=fill(i):7, shorts=fill(300 + i):7, words=fill(i):6, doubles=fill(i):7, n=7)
//~   trap: out_of_bounds
//~ run: with_holes(bytes=fill(i):7, shorts=fill(300 + i):7, words=fill(i):5, doubles=fill(i):7, n=7)
//~   trap: out_of_bounds
export void in_a_row(uniform int8 bytes[], uniform int16 shorts[], uniform int words[], uniform double doubles[],
                     uniform int n) {
    foreach (i = 0 ... n) {
        bytes[i] += i + 1;
        shorts[i] += 301 + i;
        words[i] += i + 1;
        doubles[i] += i + 1;
    }
}

export void with_holes(uniform int8 bytes[], uniform int16 shorts[], uniform int words[], uniform double doubles[],
                       uniform int n) {
    foreach (i = 0 ... n) {
        if (i % 2 == 1) {
            bytes[i] = 7;
            shorts[i] += i;
        }
        if (i % 3 != 0) words[i] += 2 * i;
        if (i == 5) doubles[i] += i;
    }
}
