// Labels may stand in blocks inside the switch, as in C: control enters there, falls out of the block, and names keep to
// their block.
//~ run: f(a=iota, n=20) v[i] == (i >= 20 ? 0 : i == 0 ? 1111 : i == 1 ? 1110 : i == 2 ? 1100 : i == 3 ? 1000 : i == 4 ? 7 : 0)
//~ also: u[i] == (i >= 20 ? 0 : i == 0 ? 1111 : i == 1 ? 1110 : i == 2 ? 1100 : i == 3 ? 1000 : i == 4 ? 7 : 0)
int varying_one(int x) {
    int sum = 0;
    switch (x) {
    case 0: {
        int step = 1;
        sum += step;
    case 1:
        step = 10;
        sum += step;
        {
        case 2:
            sum += 100;
        }
    }
    case 3:
        sum += 1000;
        break;
    {
    case 4:
        sum = 7;
        break;
    }
    }
    return sum;
}
uniform int uniform_one(uniform int x) {
    uniform int sum = 0;
    switch (x) {
    case 0: {
        uniform int step = 1;
        sum += step;
    case 1:
        step = 10;
        sum += step;
        {
        case 2:
            sum += 100;
        }
    }
    case 3:
        sum += 1000;
        break;
    {
    case 4:
        sum = 7;
        break;
    }
    }
    return sum;
}
export void f(uniform int a[], uniform int n, uniform int v[], uniform int u[]) {
    foreach (i = 0 ... n) v[i] = varying_one(a[i]);
    for (uniform int i = 0; i < n; ++i) u[i] = uniform_one(a[i]);
}
