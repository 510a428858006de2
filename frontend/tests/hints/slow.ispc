struct Body { float x, y, mass; };

// Every line has one hint at most: the worst.
export void lines(uniform float out[], const uniform float from[], const uniform int at[], uniform Body bodies[],
                  uniform int n) {
    foreach (i = 0 ... n) {
        float a = from[at[i]];
        out[at[i]] = a;
        out[at[i]] += from[at[i + 1]];
        float b = bodies[i].x + bodies[i].mass;
        bodies[i].y = b;
        out[4 * i] = from[i * n];
        int k = at[i] / (i + 1), r = at[i] % k;
        out[i] = r;
    }
}

// A loop of which lanes leave one by one, with an index for each of them.
export void sums(uniform float out[], const uniform float from[], const uniform int ends[], uniform int n) {
    foreach (i = 0 ... n) {
        float sum = 0;
        for (int k = 0; k < ends[i]; k++)
            sum += from[k];
        out[i] = sum;
    }
}

// An array of vectors, one for every lane.
export void own(uniform int out[], uniform int n) {
    int seen[8];
    for (uniform int k = 0; k < n; ++k)
        seen[(programIndex + k) & 7] += 1;
    out[programIndex] = seen[programIndex & 7];
}

// Steps below the gang's width, and others of which nothing can be asked.
export void steps(uniform float x[], uniform float out[], const uniform int by[], uniform int n) {
    foreach (i = 0 ... n) {
        out[i] = x[i / 2] + by[i & 1];
        out[i] += x[i ^ 1];
        out[i] += x[i % by[i]];
        out[i * 16 / 8] = x[i];
    }
}
