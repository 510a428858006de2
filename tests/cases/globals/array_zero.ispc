// Without an initialiser it is zero; what is written stays.
//~ run: f(k=3) result == 0
//~ run: f(k=3) result == 1
uniform int seen[8];
export uniform int f(uniform int k) { return seen[k]++; }
