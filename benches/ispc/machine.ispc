// A small machine per lane, with a program of its own: a switch on what differs from lane to lane.
export void machine(uniform int n, uniform int length, const uniform uint8 code[], uniform uint32 result[]) {
    foreach (i = 0 ... n) {
        uint32 a = i, b = 1;
        for (uniform int k = 0; k < length; ++k) {
            int op = code[k * n + i];
            switch (op) {
            case 0: a += b; break;
            case 1: b ^= a; break;
            case 2: a = (a << 3) - b; break;
            case 3: b = (b >> 1) + 7; break;
            default: a = a * 5 + 1; break;
            }
        }
        result[i] = a ^ b;
    }
}
