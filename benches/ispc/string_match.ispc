// How often a short text occurs in a long one: lanes stand at neighbouring places and give up at the first wrong letter.
export uniform int string_match(uniform int n, uniform int length, const uniform int8 text[], const uniform int8 word[]) {
    int found = 0;
    foreach (i = 0 ... n - length + 1) {
        int same = 0;
        while (same < length && text[i + same] == word[same])
            ++same;
        if (same == length)
            ++found;
    }
    return (uniform int)reduce_add(found);
}
