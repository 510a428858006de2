// Whole exponents of float up to 64 give the product in double, rounded once, whatever the shape of the exponent and
// whatever the exponents of other lanes.
//~ run: rounded(out=zeros:129) out[i] == 1
//~ run: shapes(out=zeros:516) out[i] == 1
//~ run: specials(x=[0.0, -0.0, -0.0, -0.0, inf, -inf, -inf, nan, nan, -2.0, -2.0, 1e-20, 1e20, -1e20, -1e-20, 1e-20], y=[0.0, -1.0, -2.0, 3.0, -3.0, -3.0, 2.0, 0.0, 1.0, 3.0, 4.0, -64.0, -64.0, 63.0, -63.0, 2.5], out=zeros:16) out[0] == 1.0; out[1] == -inf; out[2] == inf; out[3] == -0.0; out[4] == 0.0; out[5] == -0.0; out[6] == inf; out[7] == 1.0; out[8] == nan; out[9] == -8.0; out[10] == 16.0; out[11] == inf; out[12] == 0.0; out[13] == -inf; out[14] == -inf; out[15] == 0.0
export void rounded(uniform int out[]) {
    foreach (i = 0 ... 129) {
        int n = i - 64;
        // At most 53 bits in the product for n <= 33; beyond, its roundings are far from the middle of two floats.
        double exact = 1;
        for (int k = 0; k < abs(n); ++k) exact *= 3;
        if (n < 0) exact = 1 / exact;
        out[i] = pow(3.0f, (float)n) == (float)exact;
    }
}

// Each lane against the uniform function, between lanes with fractions and large exponents; results to the subnormals.
export void shapes(uniform int out[]) {
    foreach (i = 0 ... 516) {
        float x = (i & 1 ? -1 : 1) * (0.3f + 0.01f * (i / 4)), y = (i % 130 - 65) * (i % 3 == 0 ? 0.75f : 1.0f);
        float mixed = pow(x, y);
        int same = 1;
        foreach_active (lane) {
            uniform float ux = extract(x, lane), uy = extract(y, lane);
            float broadcast = pow(x, uy);
            uniform int expected = intbits(pow(ux, uy));
            // The bits of NaN are unspecified.
            uniform bool undefined = ux < 0 && uy != floor(uy);
            if (intbits(extract(mixed, lane)) != expected && !undefined) same = 0;
            if (intbits(extract(broadcast, lane)) != expected && !undefined) same = 0;
        }
        out[i] = same;
    }
}

export void specials(uniform float x[], uniform float y[], uniform float out[]) {
    foreach (i = 0 ... 16) out[i] = pow(x[i], y[i]);
}
