// A varying loop in a varying loop; `break` leaves the inner one.
export void f(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int count = 0;
        for (int a = 0; a < i % 5; ++a) {
            for (int b = 0; b < 10; ++b) {
                if (b > a + i % 3) break;
                count += a * 10 + b;
            }
            ++count;
        }
        out[i] = count;
    }
}
// call: f(out=zeros:i32:30, n=30)
