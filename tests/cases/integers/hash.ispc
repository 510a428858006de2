// A mixing function: shifts, multiplications and exclusive ors on unsigned words.
//~ run: f() out[i] == u32(u32(u32(i * 2654435761) ^ (u32(i * 2654435761) >> 15)) * 2246822519)
export void f(uniform uint32 out[]) {
    foreach (i = 0 ... 64) {
        uint32 h = i;
        h *= 2654435761u;
        h ^= h >> 15;
        h *= 2246822519u;
        out[i] = h;
    }
}
