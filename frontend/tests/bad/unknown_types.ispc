struct Vector { float x, y; };
Vectr a;
void f(Matrix *uniform m, Vector v) {
    Quaternion q;
    uniform Color c = {1, 2};
    float y = (Unknown)v.x;
    Texture *t = NULL;
    y = (uniform Colour)v.x + sizeof(uniform Unknown2 *);
}
void g(a, float);
