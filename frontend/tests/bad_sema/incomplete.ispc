struct Later;
Later x;
void y;
float open[];
export void f(Later * uniform p) {
    p->x = 1;
    uniform int s = sizeof(Later);
    p++;
    void * uniform v = p;
    v++;
    *v = 1;
}
