// Prices of European call options by the binomial tree of Cox, Ross and Rubinstein (1979): each lane walks its own tree.

#ifndef STEPS
#define STEPS 64
#endif

// The price of one option per lane.
static float binomial_price(float stock, float strike, float years, float rate, float volatility)
{
    // The value at each node of the level that is being worked on, for each lane: an array of vectors.
    float value[STEPS + 1];

    float dt = years / STEPS;
    float up = exp(volatility * sqrt(dt));
    float down = 1 / up;
    float discount = exp(-rate * dt);
    float p_up = (exp(rate * dt) - down) / (up - down);

    // At expiry an option is worth what it pays. From node to node the stock differs by up*up.
    float price = stock * pow(down, (float)STEPS);
    for (uniform int i = 0; i <= STEPS; ++i) {
        value[i] = max(price - strike, 0.0f);
        price *= up * up;
    }

    // Level by level towards today, each node is worth the discounted mean of its two successors.
    for (uniform int level = STEPS; level > 0; --level)
        for (uniform int i = 0; i < level; ++i)
            value[i] = discount * (p_up * value[i + 1] + (1 - p_up) * value[i]);
    return value[0];
}

/// Prices `n` call options into `price`.
export void binomial(uniform int n, const uniform float stock[], const uniform float strike[],
                     const uniform float years[], const uniform float rate[],
                     const uniform float volatility[], uniform float price[])
{
    foreach (i = 0 ... n)
        price[i] = binomial_price(stock[i], strike[i], years[i], rate[i], volatility[i]);
}
