enum Color { Red, Green };
enum Shape { Round };
export void f(Color c) {
    Color d = 1;
    Shape s = c;
    c = Round;
    int i = Gren;
}
