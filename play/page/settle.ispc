// Halves what is large, takes one from what is small.
// Press “Step” and move the slider: lanes take different
// branches, and leave the loop one after another.

export void settle(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i];
        int rounds = 0;
        while (x > 1) {
            if (x > 10)
                x = x / 2;
            else
                x -= 1;
            rounds++;
        }
        print("rounds: %\n", rounds);
        a[i] = x + rounds;
    }
}
