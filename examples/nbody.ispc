// n bodies under gravity: each lane sums the pull of all bodies on its own one.

/// One step of length dt. Positions and velocities are arrays of x, y, z one after another, each of n numbers; masses are
/// in units of the constant of gravitation. `softening` keeps close encounters finite.
export void nbody_step(uniform int n, uniform float dt, uniform float softening, const uniform float mass[],
                       uniform float position[], uniform float velocity[])
{
    uniform float * uniform x = position;
    uniform float * uniform y = position + n;
    uniform float * uniform z = position + 2 * n;

    // First all velocities, from the positions as they are at the start of the step.
    foreach (i = 0 ... n) {
        float ax = 0, ay = 0, az = 0;
        float xi = x[i], yi = y[i], zi = z[i];
        // The other body is the same for all lanes: uniform loads.
        for (uniform int j = 0; j < n; ++j) {
            float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
            float d2 = dx * dx + dy * dy + dz * dz + softening * softening;
            float pull = mass[j] / (d2 * sqrt(d2));
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        velocity[i] += dt * ax;
        velocity[n + i] += dt * ay;
        velocity[2 * n + i] += dt * az;
    }

    foreach (i = 0 ... 3 * n)
        position[i] += dt * velocity[i];
}

/// The energy of the system: kinetic and potential.
export uniform double energy(uniform int n, uniform float softening, const uniform float mass[],
                             const uniform float position[], const uniform float velocity[])
{
    double sum = 0;
    foreach (i = 0 ... n) {
        double speed2 = 0;
        for (uniform int axis = 0; axis < 3; ++axis) {
            double v = velocity[axis * n + i];
            speed2 += v * v;
        }
        sum += 0.5d * mass[i] * speed2;
        for (uniform int j = 0; j < n; ++j) {
            double d2 = softening * softening;
            for (uniform int axis = 0; axis < 3; ++axis) {
                double d = (double)position[axis * n + j] - position[axis * n + i];
                d2 += d * d;
            }
            // Each pair is met twice; a body does not pull itself.
            if (j != i)
                sum -= 0.5d * mass[i] * mass[j] / sqrt(d2);
        }
    }
    return reduce_add(sum);
}
