// The edit distance of a word to many others of the same length, one per lane: the last row lies in an array of vectors.
export void edit_distance(uniform int n, uniform int length, const uniform int8 word[], const uniform int8 others[],
                          uniform int distance[]) {
    foreach (i = 0 ... n) {
        int row[33];
        for (uniform int k = 0; k <= length; ++k)
            row[k] = k;
        for (uniform int j = 0; j < length; ++j) {
            int8 letter = others[j * n + i];
            int diagonal = row[0];
            row[0] = j + 1;
            for (uniform int k = 1; k <= length; ++k) {
                int above = row[k];
                int changed = diagonal + (word[k - 1] == letter ? 0 : 1);
                row[k] = min(changed, min(above, row[k - 1]) + 1);
                diagonal = above;
            }
        }
        distance[i] = row[length];
    }
}
