// Ambient occlusion: how much of the sky each point of a scene of three spheres on a plane sees.
//
// Lanes are neighbouring pixels. Each casts a ray; where it hits something, it casts many more in random directions and
// counts those that escape. Rays of different lanes hit different things: the `if`s and the random directions diverge.

struct Vec {
    float x, y, z;
};

struct Hit {
    float t;            // distance along the ray; huge if nothing was hit
    Vec point;
    Vec normal;
};

static inline Vec make(float x, float y, float z)
{
    Vec v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

static inline Vec add_scaled(Vec a, float k, Vec b)
{
    return make(a.x + k * b.x, a.y + k * b.y, a.z + k * b.z);
}

static inline float dot(Vec a, Vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vec cross(Vec a, Vec b)
{
    return make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline Vec normalized(Vec a)
{
    float k = 1 / sqrt(dot(a, a));
    return make(k * a.x, k * a.y, k * a.z);
}

static void hit_sphere(Hit &hit, Vec origin, Vec direction, float x, float y, float z, float radius)
{
    Vec center = make(x, y, z);
    Vec offset = add_scaled(origin, -1, center);
    float b = dot(offset, direction);
    float c = dot(offset, offset) - radius * radius;
    float discriminant = b * b - c;
    if (discriminant > 0) {
        float t = -b - sqrt(discriminant);
        if (t > 0 && t < hit.t) {
            hit.t = t;
            hit.point = add_scaled(origin, t, direction);
            hit.normal = normalized(add_scaled(hit.point, -1, center));
        }
    }
}

static void hit_floor(Hit &hit, Vec origin, Vec direction, float height)
{
    if (direction.y < -1e-6f) {
        float t = (height - origin.y) / direction.y;
        if (t > 0 && t < hit.t) {
            hit.t = t;
            hit.point = add_scaled(origin, t, direction);
            hit.normal = make(0, 1, 0);
        }
    }
}

static void trace(Hit &hit, Vec origin, Vec direction)
{
    hit.t = 1e30f;
    hit_floor(hit, origin, direction, -0.5f);
    hit_sphere(hit, origin, direction, -1.05f, 0.0f, -2.2f, 0.5f);
    hit_sphere(hit, origin, direction, 0.0f, 0.0f, -3.0f, 0.5f);
    hit_sphere(hit, origin, direction, 1.05f, 0.0f, -2.2f, 0.5f);
}

// A number from 0 up to 1 from a counter: a hash with good mixing, so that every pixel and sample has its own.
static inline float random_from(unsigned int counter)
{
    unsigned int h = counter;
    h = (h ^ (h >> 16)) * 0x7feb352d;
    h = (h ^ (h >> 15)) * 0x846ca68b;
    h = h ^ (h >> 16);
    return (h >> 8) * (1.0f / 16777216.0f);
}

// The fraction of `samples` random directions, cosine-weighted around the normal, that see the sky.
static float sky_seen(Hit &hit, uniform int samples, unsigned int seed)
{
    // Two directions at right angles to the normal and to each other.
    Vec other = make(0, 1, 0);
    if (abs(hit.normal.y) > 0.6f)
        other = make(1, 0, 0);
    Vec u = normalized(cross(other, hit.normal));
    Vec v = cross(hit.normal, u);
    // A little off the surface, so that it does not hit itself.
    Vec origin = add_scaled(hit.point, 1e-4f, hit.normal);

    int escaped = 0;
    for (uniform int k = 0; k < samples; ++k) {
        float radius2 = random_from(seed + 2 * k);
        float angle = 6.2831853f * random_from(seed + 2 * k + 1);
        float radius = sqrt(radius2);
        Vec direction = add_scaled(make(0, 0, 0), radius * cos(angle), u);
        direction = add_scaled(direction, radius * sin(angle), v);
        direction = add_scaled(direction, sqrt(1 - radius2), hit.normal);
        Hit second;
        trace(second, origin, direction);
        if (second.t > 1e20f)
            ++escaped;
    }
    return (float)escaped / samples;
}

/// Renders the scene into `image`, height rows of width numbers from 0 (black) to 1, with `samples` rays per pixel.
export void ao(uniform int width, uniform int height, uniform int samples, uniform float image[])
{
    foreach (y = 0 ... height, x = 0 ... width) {
        float px = (x + 0.5f - width * 0.5f) / (height * 0.5f);
        float py = (height * 0.5f - y - 0.5f) / (height * 0.5f);
        Vec direction = normalized(make(px, py - 0.1f, -1.8f));
        Hit hit;
        trace(hit, make(0, 0.1f, 0), direction);
        float shade = 0.5f - 0.8f * direction.y;    // the sky, darker upwards
        if (hit.t < 1e20f)
            shade = sky_seen(hit, samples, (unsigned int)(y * width + x) * 2 * samples);
        image[y * width + x] = shade;
    }
}
