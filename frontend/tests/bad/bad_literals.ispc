void f() {
    print("no end);
    print('%\n', 1);
    print("bad \q escape");
    print(“typographic”);
    int8 c = '';
    int x = 3 $ 4;
}
/* never closed
