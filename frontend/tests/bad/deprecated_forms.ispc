void f(int x) {
    while (x > 0) { cbreak; }
    for (;;) { ccontinue; }
    creturn;
}
