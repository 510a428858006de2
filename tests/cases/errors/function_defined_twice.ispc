static uniform int g() { return 1; }
static uniform int g() { return 2; } //~ error: E0201
export uniform int f() { return g(); }
