// An exported function may take and give varying values.
//~ run: f(x=lane * 2, y=5) result == lane * 2 + 5
export int f(int x, int y) { return x + y; }
