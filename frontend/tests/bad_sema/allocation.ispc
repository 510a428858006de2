export void f(float x) {
    uniform int * uniform p = new uniform int[4];
    delete x;
    void * uniform q = uniform new void;
}
