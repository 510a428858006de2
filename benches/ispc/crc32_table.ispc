// The same CRC-32 by a table of 256 entries: a gather per byte.
export void crc32_table(uniform int n, uniform int length, const uniform uint32 table[], const uniform uint8 message[],
                        uniform uint32 crc[]) {
    foreach (i = 0 ... n) {
        uint32 state = 0xffffffffu;
        for (uniform int k = 0; k < length; ++k)
            state = (state >> 8) ^ table[(state ^ message[k * n + i]) & 255];
        crc[i] = ~state;
    }
}
