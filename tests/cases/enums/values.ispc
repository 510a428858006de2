// Enumerators count from zero, or from the value given.
//~ run: f() result == 0 + 1 * 10 + 5 * 100 + 6 * 1000
enum Color { RED, GREEN, BLUE = 5, GREY };
export uniform int f() { return RED + GREEN * 10 + BLUE * 100 + GREY * 1000; }
