// Decimal, hexadecimal and binary literals.
//~ run: f() result == 255 + 0xBEEF + 10
export uniform int f() { return 255 + 0xBEEF + 0b1010; }
