// Shades by material, each with its own uniform constants: one round per distinct material of a gang.
export void materials(uniform int n, const uniform int material[], const uniform float gloss[],
                      const uniform float colour[], const uniform float cosine[], uniform float shade[]) {
    foreach (i = 0 ... n) {
        int which = material[i];
        float c = cosine[i], light = 0;
        foreach_unique (m in which) {
            uniform float g = gloss[m], k = colour[m];
            light = k * c + (1 - k) * pow(c, g);
        }
        shade[i] = light;
    }
}
