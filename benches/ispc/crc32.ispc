// The CRC-32 of many messages of equal length, one per lane, bit by bit.
export void crc32(uniform int n, uniform int length, const uniform uint8 message[], uniform uint32 crc[]) {
    foreach (i = 0 ... n) {
        uint32 state = 0xffffffffu;
        for (uniform int k = 0; k < length; ++k) {
            state ^= message[k * n + i];
            for (uniform int bit = 0; bit < 8; ++bit)
                state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb88320u : 0);
        }
        crc[i] = ~state;
    }
}
