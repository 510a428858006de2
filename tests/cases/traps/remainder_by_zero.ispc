// So does a remainder.
//~ run: f(d=0)
//~   trap: division_by_zero line=here
export uniform int f(uniform int d) {
    return 7 % d; //~ line: here
}
