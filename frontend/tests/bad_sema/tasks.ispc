task void work(uniform float a[]) { }
void plain() { }
task int bad() { return 1; }
export void f(uniform float a[], int n) {
    work(a);
    launch plain();
    launch[n] work(a);
    uniform int i = taskIndex;
}
