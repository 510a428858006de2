// c = a*b for square matrices in tiles of 16 by 16; a tile of sums lies in a local array meanwhile.
export void sgemm_tiled(uniform int n, const uniform float a[], const uniform float b[], uniform float c[]) {
    for (uniform int top = 0; top < n; top += 16) {
        for (uniform int left = 0; left < n; left += 16) {
            uniform float tile[256];
            foreach (i = 0 ... 256)
                tile[i] = 0;
            for (uniform int k = 0; k < n; ++k) {
                for (uniform int row = 0; row < 16; ++row) {
                    uniform float factor = a[(top + row) * n + k];
                    foreach (column = 0 ... 16)
                        tile[row * 16 + column] += factor * b[k * n + left + column];
                }
            }
            for (uniform int row = 0; row < 16; ++row) {
                foreach (column = 0 ... 16)
                    c[(top + row) * n + left + column] = tile[row * 16 + column];
            }
        }
    }
}
