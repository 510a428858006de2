// Deep nesting of parentheses is no problem.
//~ run: f(x=4) result == 5
export uniform int f(uniform int x) {
    return ((((((((((((((((((((((((((((((((((((((((x)))))))))))))))))))))))))))))))))))))))) + 1;
}
