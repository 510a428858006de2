// Lanes that are off compute nothing that could trap.
//~ run: f(x=lane % 2 == 0 ? lane + 1 : 0) result == (lane % 2 == 0 ? 100 / (lane + 1) : 0)
//~   mask: lane % 2 == 0
export int f(int x) { return 100 / x; }
