// Members are gathered and scattered, whole structs are copied.
struct Particle { float x; float v; int age; };
export void f(uniform float memory[], uniform int n) {
    uniform Particle particles[20];
    for (uniform int i = 0; i < n; ++i) {
        particles[i].x = i * 0.5f;
        particles[i].v = n - i;
        particles[i].age = i % 3;
    }
    foreach (i = 0 ... n) {
        Particle p = particles[i];
        if (p.age > 0) {
            p.x += p.v;
            p.age -= 1;
        }
        particles[n - 1 - i].v = p.x;
        memory[i] = p.x * 10 + p.age;
    }
    foreach (i = 0 ... n) memory[n + i] = particles[i].v;
}
// call: f(memory=zeros:f32:40, n=20)
