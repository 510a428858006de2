template <typename T, 3> void f(T x);
template <typename> void g();
template <int N> int h = N;
template void k<int>(int) { }
void use() { f<int, >(3); }
