// Enumerations count on from what is given.
enum Colour { Red, Green = 5, Blue, None = -1 };
export void f(uniform int out[], const uniform int in[]) {
    Colour c = Red;
    if (in[programIndex] > 2) c = Blue;
    else if (in[programIndex] == 2) c = Green;
    out[programIndex] = c * 10 + (c == Blue ? 1 : 0) + None;
}
// call: f(out=zeros:i32:16, in=[0, 1, 2, 3, 4, 2, 2, 9, 0, 0, 1, 2, 3, 2, 1, 0])
