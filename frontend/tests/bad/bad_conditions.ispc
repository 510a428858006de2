void f(int x) {
    if x > 1 { x = 2; }
    while (int y = x) { }
    do { x++; } until (x > 3);
    switch { case 1: }
    for (int i = 0, i < 3, i++) { }
    if (x = 1) then x = 2;
}
