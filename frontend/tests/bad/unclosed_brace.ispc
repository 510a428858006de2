export void first(uniform int n) {
    if (n > 0) {
        n = 1;
    
}

export void second(uniform int n) {
    n = 2;
}
