// Linear interpolation in a table that the host supplies: `module.globals["table"] = array`.

extern const uniform float table[];
extern const uniform int size;

/// The value of the table at `x`, where 0 is its first entry and 1 its last; beyond them, theirs.
export float lookup(float x) {
    const float at = clamp(x, 0.0f, 1.0f) * (size - 1);
    const int i = min((int)at, size - 2);
    return table[i] + (at - i) * (table[i + 1] - table[i]);
}
