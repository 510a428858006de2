export void f() {
    quaternion q; //~ error: E0104
}
