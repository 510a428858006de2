// A picture of spheres: rays, hits and surfaces are structs; lanes hit different spheres.
struct Vec {
    float x, y, z;
};

struct Sphere {
    float x, y, z, radius, shade;
};

static inline float dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline bool meets(Vec from, Vec along, uniform Sphere &ball, float &distance) {
    Vec to;
    to.x = ball.x - from.x;
    to.y = ball.y - from.y;
    to.z = ball.z - from.z;
    float nearest = dot(to, along);
    float inside = ball.radius * ball.radius - (dot(to, to) - nearest * nearest);
    if (inside < 0)
        return false;
    float t = nearest - sqrt(inside);
    if (t < 1e-3f || t >= distance)
        return false;
    distance = t;
    return true;
}

export void spheres(uniform int width, uniform int height, uniform int n, uniform Sphere ball[], uniform float image[]) {
    foreach (row = 0 ... height, column = 0 ... width) {
        Vec eye, ray;
        eye.x = 0;
        eye.y = 0;
        eye.z = 0;
        ray.x = (column + 0.5f) / width - 0.5f;
        ray.y = 0.5f - (row + 0.5f) / height;
        ray.z = 1;
        float scale = 1 / sqrt(dot(ray, ray));
        ray.x *= scale;
        ray.y *= scale;
        ray.z *= scale;
        float distance = 1e30f;
        int hit = -1;
        for (uniform int k = 0; k < n; ++k) {
            if (meets(eye, ray, ball[k], distance))
                hit = k;
        }
        float light = 0.1f;
        if (hit >= 0) {
            float over = 1 / ball[hit].radius;
            float up = (distance * ray.y - ball[hit].y) * over;
            float front = (ball[hit].z - distance * ray.z) * over;
            light = ball[hit].shade * max(0.0f, 0.6f * up + 0.8f * front);
        }
        image[row * width + column] = light;
    }
}
