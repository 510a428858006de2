struct S { int a; };
S operator.(S a, S b) { return a; }
S operator new(S a) { return a; }
operator+(S a, S b) { return a; }
