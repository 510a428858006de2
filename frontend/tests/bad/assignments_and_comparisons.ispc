void f(int a) {
    int b == a;
    a =< 3;
    a => 3;
    a === 3;
    a <> 3;
    a = b c;
    a b = 3;
}
