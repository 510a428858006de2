// Casts between integers and floats, in range.
export void f(uniform int ints[], uniform float floats[], uniform unsigned int8 bytes[], const uniform float in[], uniform int n) {
    foreach (i = 0 ... n) {
        float scaled = in[i] * 1000;
        ints[i] = (int)scaled;
        floats[i] = (float)(ints[i] * 16777 + 1);
        bytes[i] = (unsigned int8)ints[i];
    }
}
// call: f(ints=zeros:i32:25, floats=zeros:f32:25, bytes=zeros:u8:25, in=random:f32:25:3, n=25)
