struct S { int x : 3; int x; void v; S inner; };
