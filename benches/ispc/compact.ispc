// What lies above a limit is packed together; gives how many these are.
export uniform int compact(uniform int n, uniform float limit, const uniform float from[], uniform float to[]) {
    uniform int kept = 0;
    foreach (i = 0 ... n) {
        float x = from[i];
        if (x > limit)
            kept += packed_store_active((uniform int * uniform)&to[kept], intbits(x));
    }
    return kept;
}
