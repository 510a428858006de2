// The bools of inactive lanes are not shown.
//~ run[W==4]: f()
//~   print[W==4]: [_________,true,_________,true] true
//~ widths: 4
export void f() {
    bool odd = programIndex % 2 == 1;
    if (odd) print("% %\n", odd, true);
}
