// Empty statements and empty blocks do nothing.
//~ run: f() result == 1
export uniform int f() {
    ;
    {}
    if (programIndex == 0) ;
    else {}
    for (uniform int i = 0; i < 3; ++i) ;
    return 1;
}
