struct Sphere { float radius; };
void misspelled(struct Sphree * uniform p) {
    p->radius = 1;
}
void unknown() {
    struct Zebra z;
}
struct Late make();
void too_early() {
    make();
}
struct Wrong none() { }
