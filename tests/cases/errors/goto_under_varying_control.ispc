export void f() {
    if (programIndex == 0)
        goto end; //~ error: E0220
end:
    ;
}
