int x = 1;
x = 2;
print("hello");
for (int i = 0; i < 3; i++) { }
f(3);
foo;
