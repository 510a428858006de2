// Points as x, y, z after one another are turned and put back, by the library's transposing loads and stores.
export void aos_soa(uniform int n, uniform float cosine, uniform float sine, uniform float point[]) {
    for (uniform int first = 0; first < n; first += programCount) {
        float x, y, z;
        aos_to_soa3(&point[3 * first], &x, &y, &z);
        float u = cosine * x - sine * y;
        float v = sine * x + cosine * y;
        soa_to_aos3(u, v, z + 1, &point[3 * first]);
    }
}
