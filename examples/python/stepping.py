"""A kernel that is stepped through, line by line of Python, forwards and backwards.

    python examples/python/stepping.py

Newton's method finds square roots; in one lane it never ends well. The stepper shows which lanes are active at each
line, stops where a condition holds in some lane, goes back, and tells where a value comes from.
(`newton.stepper(x).interact()` is a prompt at the terminal.)
"""

from __future__ import annotations

import numpy as np
import spmdvm


def better(x, guess):
    """Take the mean of a guess and what x is divided by it."""
    other = x / guess
    return (guess + other) / 2


@spmdvm.kernel(width=4)
def newton(x):
    """Give the square root."""
    guess = 1.0
    rounds = 0
    while abs(guess * guess - x) > 1e-9 * abs(x) and rounds < 50:
        guess = better(x, guess)
        rounds += 1
    return guess


def main() -> None:
    """Step, stop, go back, and ask why."""
    x = np.array([2.0, 81.0, -1.0, 1.0])
    with newton.stepper(x) as stepper:
        print("1. Where the call is, and the next two lines")
        print(stepper.here)
        print(stepper.next(2))

        print("\n2. Into the function that the loop calls")
        stepper.break_at("better")
        step = stepper.resume()
        for call in step.calls:
            print(f"   {call.function}, line {call.line}")
        assert step.active.tolist() == [True, True, True, False], "the root of 1 is found already"

        print("\n3. On to where a guess is negative in some lane")
        stepper.delete()
        stepper.out()
        line = next(call.line for call in step.calls if call.function == "newton")
        stepper.break_at(line + 1, "guess < 0")
        step = stepper.resume()
        print(f"   {step.source.strip()}: guess = {step['guess'].tolist()}, rounds = {step['rounds'].tolist()}")
        lane = int(np.flatnonzero(step["guess"] < 0)[0])
        assert x[lane] == -1, "a negative number has no square root"

        print("\n4. A line back, where that guess was not made yet")
        step = stepper.back()
        print(f"   {step.source.strip()}: guess = {step['guess'].tolist()}")
        assert step["guess"][lane] >= 0
        stepper.next()

        print("\n5. Why the lane has that value")
        print(stepper.do(f"why guess[{lane}] 4"))

        print("\n6. The result of the call")
        result = stepper.finish()
        print(f"   {result}")
        assert np.array_equal(result, newton(x))


if __name__ == "__main__":
    main()
