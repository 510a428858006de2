export void f() { }
#endif //~ error: E0007
