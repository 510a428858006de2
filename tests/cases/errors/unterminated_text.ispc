export void f() {
    print("no end);
//~^ error: E0003
}
