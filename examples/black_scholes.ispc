// Prices of European call options by the formula of Black and Scholes (1973).

// The distribution function of the normal distribution.
static inline float normal_cdf(float x)
{
    return 0.5f * (1 + erf(x * 0.70710678f));
}

/// The price of a call option: stock price, strike price, years to expiry, interest rate, volatility.
/// Called from Python like a numpy ufunc.
export float black_scholes(float stock, float strike, float years, float rate, float volatility)
{
    float deviation = volatility * sqrt(years);
    float d1 = (log(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
    float d2 = d1 - deviation;
    return stock * normal_cdf(d1) - strike * exp(-rate * years) * normal_cdf(d2);
}

/// The same over arrays, for `n` options.
export void black_scholes_arrays(uniform int n, const uniform float stock[], const uniform float strike[],
                                 const uniform float years[], const uniform float rate[],
                                 const uniform float volatility[], uniform float price[])
{
    foreach (i = 0 ... n)
        price[i] = black_scholes(stock[i], strike[i], years[i], rate[i], volatility[i]);
}
