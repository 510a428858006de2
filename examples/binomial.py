"""Prices of options by binomial trees."""

import numpy as np
from black_scholes import options
from example import Case, compile_example, main

STEPS = 64


def with_numpy(stock, strike, years, rate, volatility) -> np.ndarray:
    """Walk all trees level by level, in double precision."""
    stock, strike, years, rate, volatility = (a.astype(np.float64) for a in (stock, strike, years, rate, volatility))
    dt = years / STEPS
    up = np.exp(volatility * np.sqrt(dt))
    discount = np.exp(-rate * dt)
    p_up = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    powers = np.arange(-STEPS, STEPS + 1, 2)[:, np.newaxis]
    value = np.maximum(stock * up**powers - strike, 0)
    for _ in range(STEPS):
        value = discount * (p_up * value[1:] + (1 - p_up) * value[:-1])
    return value[0]


def case(n: int = 16_384) -> Case:
    """Call options, each with a tree of its own."""
    module = compile_example("binomial", defines={"STEPS": STEPS})
    data = options(n)
    price = np.full(n, np.nan, np.float32)

    def ours() -> np.ndarray:
        module.binomial(n, *data, price)
        return price

    return Case("binomial", f"{n:,} options, {STEPS} steps", ours, lambda: with_numpy(*data), 1e-3)


if __name__ == "__main__":
    main(case)
