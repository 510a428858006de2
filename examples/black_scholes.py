"""Prices of options by the Black-Scholes formula."""

import numpy as np
from example import Case, compile_example, main


def options(n: int) -> list[np.ndarray]:
    """Make up options: stock and strike price, years, rate, volatility."""
    rng = np.random.default_rng(3)
    ranges = [(50, 150), (50, 150), (0.25, 3), (0.01, 0.06), (0.1, 0.5)]
    return [rng.uniform(low, high, n).astype(np.float32) for low, high in ranges]


def cdf(x: np.ndarray) -> np.ndarray:
    """The normal distribution, by the approximation 26.2.17 of Abramowitz and Stegun, good to 7.5e-8."""
    k = 1 / (1 + 0.2316419 * np.abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = poly * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    return np.where(x > 0, 1 - tail, tail)


def with_numpy(stock, strike, years, rate, volatility) -> np.ndarray:
    """The formula in double precision."""
    stock, strike, years, rate, volatility = (a.astype(np.float64) for a in (stock, strike, years, rate, volatility))
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(stock / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    return stock * cdf(d1) - strike * np.exp(-rate * years) * cdf(d1 - deviation)


def case(n: int = 500_000) -> Case:
    """Call options, over arrays."""
    module = compile_example("black_scholes")
    data = options(n)
    price = np.full(n, np.nan, np.float32)

    def ours() -> np.ndarray:
        module.black_scholes_arrays(n, *data, price)
        return price

    return Case("black_scholes", f"{n:,} options", ours, lambda: with_numpy(*data), 1e-4)


def ufunc_case(n: int = 300) -> Case:
    """The exported function over a grid: prices by strike and volatility, through broadcasting."""
    module = compile_example("black_scholes")
    strike = np.linspace(50, 150, n, dtype=np.float32)[:, np.newaxis]
    volatility = np.linspace(0.1, 0.5, n, dtype=np.float32)

    def ours() -> np.ndarray:
        return module.black_scholes(100.0, strike, 1.0, 0.03, volatility)

    def reference() -> np.ndarray:
        return with_numpy(*np.broadcast_arrays(np.float32(100), strike, np.float32(1), np.float32(0.03), volatility))

    return Case("black_scholes as ufunc", f"{n} x {n} grid", ours, reference, 1e-4)


if __name__ == "__main__":
    main(case, ufunc_case)
