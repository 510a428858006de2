inline noinline uniform int g() { return 1; } //~ error: E0225
export uniform int f() { return g(); }
