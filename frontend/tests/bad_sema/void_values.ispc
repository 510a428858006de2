void g() { }
export void f() {
    float x = g();
    g() + 1;
    float y = (g(), 2);
    if (g()) { }
}
