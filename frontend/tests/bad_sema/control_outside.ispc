export void f() {
    break;
    continue;
    if (programIndex < 3) { break; }
    for (int i = 0; i < 3; ++i) { unmasked { break; } }
}
