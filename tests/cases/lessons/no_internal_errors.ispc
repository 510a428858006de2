// What made other compilers contradict themselves is an ordinary error here: values that cannot be printed, wrong
// operands, wrong arguments.
struct S { int a; float b[3]; };
void takes(S *s, uniform int n) { }
void f(S s, void *p, uniform int n) {
    print("%\n", s);                     //~ error: E0227
    print("%\n", s.c);                   //~ error: E0210
    int x = s + 1;                       //~ error: E0206
    s();                                 //~ error: E0209
    foreach (i = 0 ... s) { }            //~ error: E0221
    takes(p, programIndex);              //~ error: E0207
    switch (s) { case 1: break; }        //~ error: E0219
    n = s;                               //~ error: E0202
    float<3> v = s;                      //~ error: E0202
    *p = 3;                              //~ error: E0212
    return s;                            //~ error: E0218
}
