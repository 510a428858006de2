// saxpy: y = a*x + y, the streaming kernel that everybody measures with.

/// Adds `a` times `x` to `y`, for `n` elements.
export void saxpy(uniform int n, uniform float a, const uniform float x[], uniform float y[])
{
    // `foreach` gives each lane of the gang its own i; the lanes of one gang hold consecutive values, so the accesses
    // below are vector loads and stores. The elements left over at the end run with some lanes off.
    foreach (i = 0 ... n)
        y[i] = a * x[i] + y[i];
}

/// The same for one element: called from Python like a numpy ufunc, on arrays of any shapes that broadcast.
export float axpy(float a, float x, float y)
{
    return a * x + y;
}
