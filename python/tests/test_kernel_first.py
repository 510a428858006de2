"""Programs as people write them in their first hour, who know numpy or Numba and none of our limits.

Each is called as a kernel and as the Python function that it is, with copies of the same arguments.
"""

import copy
import itertools
import math
import types

import numpy as np
import numpy.typing as npt
import pytest
import spmdvm

PROGRAMS = []
rng = np.random.default_rng(0)


def prog(*arguments):
    """Note a program, with what it is called with."""

    def note(function):
        PROGRAMS.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return note


@prog(rng.random((30, 20)))
def sum2d(arr):
    M, N = arr.shape
    result = 0.0
    for i in range(M):
        for j in range(N):
            result += arr[i, j]
    return result


@prog(rng.random((10, 10)))
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@prog((rng.random((20, 30)) < 0.4).astype(np.uint8))
def life(grid):
    h, w = grid.shape
    new = np.zeros_like(grid)
    for i in range(h):
        for j in range(w):
            n = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    n += grid[(i + di) % h, (j + dj) % w]
            if (grid[i, j] == 1 and (n == 2 or n == 3)) or (grid[i, j] == 0 and n == 3):
                new[i, j] = 1
    return new


@prog(rng.random(30))
def bubble(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


@prog(100)
def sieve(n):
    is_prime = np.ones(n + 1, dtype=np.bool_)
    is_prime[0] = False
    is_prime[1] = False
    i = 2
    while i * i <= n:
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
        i += 1
    return is_prime


@prog(np.frombuffer(b"kitten sitting", np.uint8).copy(), np.frombuffer(b"sitting kittens", np.uint8).copy())
def levenshtein(s, t):
    m, n = len(s), len(t)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(m + 1):
        d[i, 0] = i
    for j in range(n + 1):
        d[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


@prog(np.array([1, 3, 4, 5]), np.array([1, 4, 5, 7]), 7)
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[capacity]


def graph(n=12):
    adj = (rng.random((n, n)) < 0.2).astype(np.int8)
    return adj


@prog(graph(), 0)
def bfs(adj, start):
    n = adj.shape[0]
    dist = np.full(n, -1)
    queue = np.empty(n, dtype=np.int64)
    head = 0
    tail = 0
    queue[tail] = start
    tail += 1
    dist[start] = 0
    while head < tail:
        u = queue[head]
        head += 1
        for v in range(n):
            if adj[u, v] and dist[v] == -1:
                dist[v] = dist[u] + 1
                queue[tail] = v
                tail += 1
    return dist


@prog(rng.random((50, 2)), rng.random((3, 2)), 5)
def kmeans(points, centers, iterations):
    n, d = points.shape
    k = centers.shape[0]
    labels = np.zeros(n, dtype=np.int32)
    centers = centers.copy()
    for _ in range(iterations):
        for i in range(n):
            best = np.inf
            for c in range(k):
                dist = 0.0
                for j in range(d):
                    dist += (points[i, j] - centers[c, j]) ** 2
                if dist < best:
                    best = dist
                    labels[i] = c
        counts = np.zeros(k)
        sums = np.zeros((k, d))
        for i in range(n):
            counts[labels[i]] += 1
            for j in range(d):
                sums[labels[i], j] += points[i, j]
        for c in range(k):
            if counts[c] > 0:
                centers[c] = sums[c] / counts[c]
    return labels, centers


@prog(rng.random(16), rng.random(16))
def fft(re, im):
    n = len(re)
    re = re.copy()
    im = im.copy()
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    length = 2
    while length <= n:
        ang = -2 * math.pi / length
        for i in range(0, n, length):
            for k in range(length // 2):
                wr = math.cos(ang * k)
                wi = math.sin(ang * k)
                ur = re[i + k]
                ui = im[i + k]
                vr = re[i + k + length // 2] * wr - im[i + k + length // 2] * wi
                vi = re[i + k + length // 2] * wi + im[i + k + length // 2] * wr
                re[i + k] = ur + vr
                im[i + k] = ui + vi
                re[i + k + length // 2] = ur - vr
                im[i + k + length // 2] = ui - vi
        length <<= 1
    return re, im


@prog(rng.random((7, 5)), rng.random((5, 6)))
def matmul(A, B):
    C = np.zeros((A.shape[0], B.shape[1]))
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            tmp = 0.0
            for k in range(A.shape[1]):
                tmp += A[i, k] * B[k, j]
            C[i, j] = tmp
    return C


@prog(rng.random((5, 5)) + np.eye(5), rng.random(5))
def solve(A, b):
    n = len(b)
    A = A.copy()
    x = b.copy()
    for i in range(n):
        p = i
        for r in range(i + 1, n):
            if abs(A[r, i]) > abs(A[p, i]):
                p = r
        if p != i:
            for c in range(n):
                A[i, c], A[p, c] = A[p, c], A[i, c]
            x[i], x[p] = x[p], x[i]
        for r in range(i + 1, n):
            f = A[r, i] / A[i, i]
            A[r, i:] -= f * A[i, i:]
            x[r] -= f * x[i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.dot(A[i, i + 1 :], x[i + 1 :])) / A[i, i]
    return x


@prog(np.array([1, 1, 1, 2, 2, 3, 1, 1]))
def rle(a):
    n = len(a)
    values = np.empty(n, a.dtype)
    counts = np.empty(n, np.int64)
    k = 0
    i = 0
    while i < n:
        j = i
        while j < n and a[j] == a[i]:
            j += 1
        values[k] = a[i]
        counts[k] = j - i
        k += 1
        i = j
    return values[:k], counts[:k]


@prog(np.sort(rng.integers(0, 100, 40)), 50)
def bisect(a, x):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


@prog(np.linspace(1, 10, 20))
def newton(x):
    guess = x / 2
    for _ in range(20):
        guess = 0.5 * (guess + x / guess)
    return guess


@prog(rng.random(30), 5)
def moving(a, w):
    n = len(a) - w + 1
    out = np.empty(n)
    s = a[:w].sum()
    out[0] = s / w
    for i in range(1, n):
        s += a[i + w - 1] - a[i - 1]
        out[i] = s / w
    return out


@prog(rng.random(100), 10)
def hist(x, bins):
    lo, hi = x.min(), x.max()
    h = np.zeros(bins, dtype=np.intp)
    for v in x.flat:
        b = int((v - lo) / (hi - lo) * bins)
        if b == bins:
            b -= 1
        h[b] += 1
    return h


@prog(rng.random((6, 4)))
def zscore(X):
    mu = X.mean(axis=0)
    sd = X.std(axis=0)
    return (X - mu) / sd


@prog(rng.random((8, 3)))
def pairwise(X):
    M = X.shape[0]
    N = X.shape[1]
    D = np.empty((M, M), dtype=np.float64)
    for i in range(M):
        for j in range(M):
            d = 0.0
            for k in range(N):
                tmp = X[i, k] - X[j, k]
                d += tmp * tmp
            D[i, j] = np.sqrt(d)
    return D


@prog(np.where(rng.random(20) < 0.5, 1.0, -1.0), rng.random((20, 3)), rng.random(3), 4)
def logistic(Y, X, w, iterations):
    for _ in range(iterations):
        w = w - np.dot(((1.0 / (1.0 + np.exp(-Y * np.dot(X, w))) - 1.0) * Y), X)
    return w


@prog(rng.random((12, 15)))
def sobel(img):
    h, w = img.shape
    out = np.zeros_like(img)
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    ky = kx.T
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            gx = 0.0
            gy = 0.0
            for i in range(3):
                for j in range(3):
                    p = img[y + i - 1, x + j - 1]
                    gx += kx[i, j] * p
                    gy += ky[i, j] * p
            out[y, x] = math.sqrt(gx**2 + gy**2)
    return out


@prog(rng.random((10, 11)))
def median3(img):
    h, w = img.shape
    out = img.copy()
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            win = img[y - 1 : y + 2, x - 1 : x + 2].flatten()
            win.sort()
            out[y, x] = win[4]
    return out


@prog(rng.random((8, 8)))
def floyd(d):
    d = d.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


@prog(300)
def collatz(limit):
    best = 0
    length = 0
    for start in range(1, limit):
        n = start
        c = 1
        while n != 1:
            if n % 2:
                n = 3 * n + 1
            else:
                n //= 2
            c += 1
        if c > length:
            best, length = start, c
    return best, length


@prog(np.frombuffer(b"Hello, World", np.uint8).copy(), 3)
def caesar(text, shift):
    out = np.empty_like(text)
    for i in range(len(text)):
        c = text[i]
        if ord("a") <= c <= ord("z"):
            out[i] = (c - ord("a") + shift) % 26 + ord("a")
        elif ord("A") <= c <= ord("Z"):
            out[i] = (c - ord("A") + shift) % 26 + ord("A")
        else:
            out[i] = c
    return out


@prog(np.frombuffer(b"the quick  brown fox", np.uint8).copy())
def words(text):
    count = 0
    inside = False
    for c in text:
        if c == 32 or c == 10:
            inside = False
        elif not inside:
            inside = True
            count += 1
    return count


particle = np.dtype([("x", "f8"), ("v", "f8"), ("m", "f8")], align=True)
P = np.zeros(10, particle)
P["x"] = rng.random(10)
P["v"] = rng.random(10)
P["m"] = 1
P = P.view(np.recarray)


@prog(P, 0.1)
def step(p, dt):
    for i in range(len(p)):
        p[i].x += p[i].v * dt
        if p[i].x > 1.0:
            p[i].x = 2.0 - p[i].x
            p[i].v = -p[i].v


@prog(0.0, 2.0, 20)
def simpson(a, b, n):
    def f(x):
        return math.exp(-(x**2))

    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s += f(a + i * h) * (4 if i % 2 else 2)
    return s * h / 3


@prog(np.array([1.0, 1.0, 1.0]), 0.01, 50)
def lorenz(state, dt, n):
    out = np.empty((n, 3))
    x, y, z = state
    for i in range(n):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 8.0 / 3.0 * z
        x += dx * dt
        y += dy * dt
        z += dz * dt
        out[i] = x, y, z
    return out


@prog(graph(10).astype(float), 0.85, 20)
def pagerank(A, d, iters):
    n = A.shape[0]
    r = np.ones(n) / n
    for _ in range(iters):
        new = np.full(n, (1 - d) / n)
        for i in range(n):
            deg = A[i].sum()
            if deg > 0:
                for j in range(n):
                    new[j] += d * r[i] * A[i, j] / deg
            else:
                new += d * r[i] / n
        r = new
    return r


@prog(rng.random(30), 0.1, 20)
def heat(u, alpha, steps):
    for _ in range(steps):
        un = u.copy()
        u[1:-1] = un[1:-1] + alpha * (un[2:] - 2 * un[1:-1] + un[:-2])
    return u


def cnd(d):
    return 0.5 * (1 + math.erf(d / math.sqrt(2)))


@prog(rng.random(10) * 100 + 1, 50.0, 1.0, 0.02, 0.3)
def call_price(S, K, T, r, sigma):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return S * cnd(d1) - K * np.exp(-r * T) * cnd(d2)


@prog(np.linspace(-1, 1, 9))
def horner(x):
    coef = [1.0, -2.0, 3.0, 0.5]
    y = 0.0
    for c in coef:
        y = y * x + c
    return y


@prog(np.array([1900, 2000, 2023, 2024]), np.array([2, 2, 2, 2]))
def days_in_month(year, month):
    if month == 2:
        leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
        return 29 if leap else 28
    return 30 if month in (4, 6, 9, 11) else 31


@prog(rng.random((10, 10)) < 0.5)
def components(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), np.int32)
    stack = np.zeros((h * w, 2), np.int64)
    current = 0
    for y in range(h):
        for x in range(w):
            if mask[y, x] and labels[y, x] == 0:
                current += 1
                top = 0
                stack[top, 0], stack[top, 1] = y, x
                labels[y, x] = current
                while top >= 0:
                    cy, cx = stack[top]
                    top -= 1
                    for dy, dx in [(-1, 0), (1, 0), (0, -1), (0, 1)]:
                        ny, nx = cy + dy, cx + dx
                        if 0 <= ny < h and 0 <= nx < w and mask[ny, nx] and labels[ny, nx] == 0:
                            labels[ny, nx] = current
                            top += 1
                            stack[top, 0] = ny
                            stack[top, 1] = nx
    return labels, current


@prog(rng.random(30).cumsum())
def drawdown(p):
    peak = -np.inf
    worst = 0.0
    for x in p:
        peak = max(peak, x)
        worst = max(worst, (peak - x) / peak)
    return worst


@prog(rng.random(10), rng.random(3))
def convolve(a, k):
    out = np.zeros(len(a) + len(k) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(k):
            out[i + j] += x * y
    return out


def quick(a, lo, hi):
    if lo < hi:
        pivot = a[hi]
        i = lo - 1
        for j in range(lo, hi):
            if a[j] <= pivot:
                i += 1
                a[i], a[j] = a[j], a[i]
        a[i + 1], a[hi] = a[hi], a[i + 1]
        quick(a, lo, i)
        quick(a, i + 2, hi)


@prog(rng.random(25))
def quicksort(a):
    quick(a, 0, len(a) - 1)


@prog(42, 50)
def walk(seed, n):
    x = np.zeros(n + 1)
    state = seed
    for i in range(n):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        x[i + 1] = x[i] + (1 if state & 0x10000 else -1)
    return x


@prog((rng.random((5, 6, 3)) * 255).astype(np.uint8))
def gray(img):
    h, w, _ = img.shape
    out = np.empty((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            r, g, b = img[y, x]
            out[y, x] = 0.299 * r + 0.587 * g + 0.114 * b
    return out


@prog(rng.random((20, 3)))
def cov(X):
    n = X.shape[0]
    Xc = X - X.mean(axis=0)
    return Xc.T @ Xc / (n - 1)


@prog(rng.random((5, 5)))
def transpose_in_place(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j], a[j, i] = a[j, i], a[i, j]
    return np.trace(a)


@prog(np.arange(40))
def popcount(x):
    c = 0
    while x:
        x &= x - 1
        c += 1
    return c


@prog(np.array([3, 8, 5, 11]), 16)
def two_sum(a, target):
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            if a[i] + a[j] == target:
                return (i, j)
    return (-1, -1)


@prog(rng.random((6, 7)), 12, 14)
def resize(img, H, W):
    h, w = img.shape
    out = np.empty((H, W))
    for i in range(H):
        for j in range(W):
            y = i * (h - 1) / (H - 1)
            x = j * (w - 1) / (W - 1)
            y0, x0 = int(y), int(x)
            y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
            fy, fx = y - y0, x - x0
            out[i, j] = (
                img[y0, x0] * (1 - fy) * (1 - fx)
                + img[y1, x0] * fy * (1 - fx)
                + img[y0, x1] * (1 - fy) * fx
                + img[y1, x1] * fy * fx
            )
    return out


@prog(rng.random((6, 7)), 0.5)
def threshold(img, t):
    out = img.copy()
    out[img > t] = 1
    out[img <= t] = 0
    return out


@prog(rng.random(20) - 0.5)
def relu_stats(x):
    y = np.maximum(x, 0)
    return y.sum(), y.mean(), np.count_nonzero(y)


@prog(30)
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@prog(40)
def coprime_pairs(n):
    count = 0
    for i in range(1, n):
        for j in range(1, n):
            a, b = i, j
            while b:
                a, b = b, a % b
            count += a == 1
    return count


@prog(np.arange(12.0).reshape(3, 4))
def flat_loop(a):
    s = 0.0
    for v in a.flat:
        s += v
    for v in a.ravel():
        s += v * v
    b = a.flatten()
    b[0] = 100
    return s, b, b[::2]


@prog(np.arange(12.0).reshape(3, 4))
def ravel_store(a):
    r = a.ravel()
    for i in range(len(r)):
        r[i] += i
    return r.sum()


@prog(rng.random(20), rng.random(20))
def linreg(x, y):
    n = len(x)
    mx, my = np.mean(x), np.mean(y)
    sxy = 0.0
    sxx = 0.0
    for i in range(n):
        sxy += (x[i] - mx) * (y[i] - my)
        sxx += (x[i] - mx) ** 2
    slope = sxy / sxx
    return slope, my - slope * mx


@prog(rng.random(20), rng.random(20))
def corr(x, y):
    xm = x - x.mean()
    ym = y - y.mean()
    return np.sum(xm * ym) / np.sqrt(np.sum(xm**2) * np.sum(ym**2))


@prog(rng.random(20), 4)
def ema(x, span):
    alpha = 2 / (span + 1)
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, x.shape[0]):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@prog(np.array([3, 1, 2, 3, 1, 1]))
def unique_counts(a):
    s = np.sort(a)
    out = np.zeros((len(a), 2), np.int64)
    n = 0
    for i in range(len(s)):
        if i == 0 or s[i] != s[i - 1]:
            out[n, 0] = s[i]
            n += 1
        out[n - 1, 1] += 1
    return out[:n]


@prog(5)
def pascal(n):
    t = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        t[i, 0] = 1
        for j in range(1, i + 1):
            t[i, j] = t[i - 1, j - 1] + t[i - 1, j]
    return t


@prog(rng.integers(0, 2, (6, 6)))
def largest_square(m):
    h, w = m.shape
    dp = np.zeros((h, w), dtype=int)
    best = 0
    for i in range(h):
        for j in range(w):
            if m[i][j] == 1:
                if i == 0 or j == 0:
                    dp[i][j] = 1
                else:
                    dp[i][j] = min(dp[i - 1][j], dp[i][j - 1], dp[i - 1][j - 1]) + 1
                best = max(best, dp[i][j])
    return best * best


@prog(rng.random((9, 9)), 1.0)
def gaussian(img, sigma):
    k = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            k[i, j] = np.exp(-((i - 1) ** 2 + (j - 1) ** 2) / (2 * sigma**2))
    k /= k.sum()
    out = np.zeros_like(img)
    for y in range(1, img.shape[0] - 1):
        for x in range(1, img.shape[1] - 1):
            out[y, x] = np.sum(img[y - 1 : y + 2, x - 1 : x + 2] * k)
    return out


@prog(rng.random(6), rng.random(6))
def trapz(x, y):
    return np.sum((y[1:] + y[:-1]) / 2 * np.diff(x))


@prog(np.array([10, 5, 20]), 3)
def modpow(base, e):
    result = 1
    b = base % 1000007
    while e > 0:
        if e & 1:
            result = result * b % 1000007
        b = b * b % 1000007
        e >>= 1
    return result


@prog(np.linspace(0.1, 2, 9))
def series(x):
    total = 0.0
    term = 1.0
    n = 0
    while abs(term) > 1e-12:
        total += term
        n += 1
        term *= x / n
    return total


@prog(rng.random((10, 2)))
def hull_area(p):
    n = len(p)
    area = 0.0
    for i in range(n):
        j = (i + 1) % n
        area += p[i, 0] * p[j, 1] - p[j, 0] * p[i, 1]
    return abs(area) / 2


@prog(rng.random((10, 2)), np.array([0.5, 0.5]))
def in_polygon(poly, pt):
    x, y = pt
    inside = False
    j = len(poly) - 1
    for i in range(len(poly)):
        xi, yi = poly[i]
        xj, yj = poly[j]
        if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi:
            inside = not inside
        j = i
    return inside


@prog(np.array([2, 0, 1, 3]))
def inverse_perm(p):
    out = np.zeros(len(p), dtype=p.dtype)
    for i, v in enumerate(p):
        out[v] = i
    return out


@prog(rng.random(12))
def insertion(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@prog(8)
def queens(n):
    cols = np.zeros(n, np.int64)
    count = 0
    row = 0
    cols[0] = -1
    while row >= 0:
        cols[row] += 1
        while cols[row] < n:
            ok = True
            for r in range(row):
                if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                    ok = False
                    break
            if ok:
                break
            cols[row] += 1
        if cols[row] < n:
            if row == n - 1:
                count += 1
            else:
                row += 1
                cols[row] = -1
        else:
            row -= 1
    return count


@prog(rng.random((5, 3)))
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@prog(rng.random((5, 3)), rng.random((3, 4)), rng.random(4))
def dense(x, w, b):
    return np.maximum(x @ w + b, 0)


@prog(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@prog(10)
def fib_list(n):
    f = np.zeros(n, np.int64)
    f[0], f[1] = 0, 1
    for i in range(2, n):
        f[i] = f[i - 1] + f[i - 2]
    return f[-1]


@prog(rng.random(50), rng.random(50))
def pi_mc(x, y):
    inside = 0
    for i in range(x.size):
        if x[i] ** 2 + y[i] ** 2 <= 1.0:
            inside += 1
    return 4.0 * inside / x.size


@prog(rng.random(10), rng.random(10), rng.random(10), 0.01, 3)
def nbody(x, y, m, dt, steps):
    n = len(x)
    vx = np.zeros(n)
    vy = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            fx = fy = 0.0
            for j in range(n):
                if i != j:
                    dx = x[j] - x[i]
                    dy = y[j] - y[i]
                    r2 = dx * dx + dy * dy + 1e-3
                    inv = m[j] / (r2 * r2**0.5)
                    fx += dx * inv
                    fy += dy * inv
            vx[i] += fx * dt
            vy[i] += fy * dt
        x += vx * dt
        y += vy * dt
    return x, y


@prog(np.frombuffer(b"a,b,,cd", np.uint8).copy())
def split_fields(text):
    starts = np.zeros(len(text) + 1, np.int64)
    n = 1
    for i in range(len(text)):
        if text[i] == ord(","):
            starts[n] = i + 1
            n += 1
    return starts[:n]


@prog(np.frombuffer(b"1234 56 7", np.uint8).copy())
def parse_ints(text):
    out = np.zeros(len(text), np.int64)
    n = 0
    cur = 0
    has = False
    for c in text:
        if 48 <= c <= 57:
            cur = cur * 10 + (int(c) - 48)
            has = True
        elif has:
            out[n] = cur
            n += 1
            cur = 0
            has = False
    if has:
        out[n] = cur
        n += 1
    return out[:n]


@prog(np.array([0, 2, 3, 5]), np.array([1, 2, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))
def csr(indptr, indices, data, x):
    n = len(indptr) - 1
    y = np.zeros(n)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


@prog(np.array([1, 0, 3, 3, 4]))
def find_root(parent):
    out = np.empty_like(parent)
    for i in range(len(parent)):
        r = i
        while parent[r] != r and parent[parent[r]] != r:
            r = parent[r]
        out[i] = r
    return out


@prog(np.array([5.0, 3.0, 8.0, 1.0, 9.0, 2.0]))
def heapsort(a):
    n = len(a)

    def sift(start, end):
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] < a[child]:
                a[root], a[child] = a[child], a[root]
                root = child
            else:
                return

    for s in range(n // 2 - 1, -1, -1):
        sift(s, n)
    for e in range(n - 1, 0, -1):
        a[0], a[e] = a[e], a[0]
        sift(0, e)
    return a


@prog(rng.random((12, 12)), 0.5)
def dither(img, t):
    out = img.copy()
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            old = out[y, x]
            new = 1.0 if old > t else 0.0
            out[y, x] = new
            err = old - new
            if x + 1 < w:
                out[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    out[y + 1, x - 1] += err * 3 / 16
                out[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    out[y + 1, x + 1] += err * 1 / 16
    return out


@prog(np.array([3, -2, 5, -1, 2, -7, 4]))
def kadane(a):
    best = cur = a[0]
    lo = hi = start = 0
    for i in range(1, len(a)):
        if cur < 0:
            cur, start = a[i], i
        else:
            cur += a[i]
        if cur > best:
            best, lo, hi = cur, start, i
    return best, lo, hi


@prog(rng.random(9))
def sort_inplace(a):
    a.sort()
    return a


@prog(np.zeros(9))
def fill_in_place(a):
    a.fill(3)
    a[2:4].fill(7)


@prog(np.linspace(-3, 3, 13))
def piecewise(x):
    if x < -1:
        return -1.0
    elif x > 1:
        return 1.0
    return x


@prog(np.linspace(-3, 3, 13))
def sigmoid_swish(x):
    s = 1 / (1 + np.exp(-x))
    return x * s


@prog(rng.random(10), rng.random(10))
def argsort_by(x, y):
    order = np.argsort(x)
    return y[order]


@prog(rng.random((4, 5)))
def argmax_rows(x):
    out = np.empty(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        out[i] = np.argmax(x[i])
    return out


@prog(rng.random((4, 5)))
def stats(x):
    return np.percentile(x.ravel(), 30), np.median(x), np.ptp(x), np.trace(x), np.linalg.norm(x)


@prog(4)
def identity_plus(n):
    m = np.eye(n)
    m += 2
    return m, np.roll(np.arange(n), 1), np.flip(np.arange(n)), np.convolve(np.arange(n), np.ones(3))


@prog(rng.random(8), rng.random(8))
def zip_sum(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b
    return s


@prog(12)
def while_else(n):
    i = 2
    while i * i <= n:
        if n % i == 0:
            break
        i += 1
    else:
        return True
    return False


@prog(rng.random((10, 11)))
def median_np(img):
    h, w = img.shape
    out = img.copy()
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            out[y, x] = np.median(img[y - 1 : y + 2, x - 1 : x + 2])
    return out


@prog(rng.random((10, 11)), rng.random((3, 3)))
def conv_np(img, k):
    h, w = img.shape
    out = np.zeros_like(img)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            out[y, x] = np.sum(img[y - 1 : y + 2, x - 1 : x + 2] * k)
    return out


@prog(rng.random((10, 11)))
def local_max(img):
    h, w = img.shape
    out = np.zeros(img.shape, np.bool_)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            out[y, x] = img[y, x] == img[y - 1 : y + 2, x - 1 : x + 2].max()
    return out


@prog(rng.random(30))
def rolling(a):
    out = np.zeros(len(a))
    for i in range(2, len(a) - 2):
        out[i] = a[i - 2 : i + 3].mean()
    return out


@prog(rng.random(30), 4)
def rolling_w(a, w):
    out = np.zeros(len(a) - w + 1)
    for i in range(len(out)):
        out[i] = a[i : i + w].std()
    return out


@prog(np.arange(10.0), np.array([3, -1, 2]))
def taken(a, at):
    return a[at], np.take(a, at), a[np.argsort(-a)], np.sum(a[at] * 2)


@prog(np.arange(10.0), 3)
def coefs(x, k):
    w = [0.25, 0.5, 0.25]
    out = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        for j in range(3):
            out[i] += w[j] * x[i + j - 1]
    return out, len(w), w[k - 2], sum(w)


# All elements at once.


@prog(np.zeros((20, 30)), 0.1)
def julia(pixels, t):
    for i, j in spmdvm.foreach(*pixels.shape):
        cx, cy = -0.8, math.cos(t) * 0.2
        zx = i / pixels.shape[0] - 1
        zy = j / pixels.shape[1] - 0.5
        it = 0
        while zx * zx + zy * zy < 400 and it < 50:
            zx, zy = zx * zx - zy * zy + cx, 2 * zx * zy + cy
            it += 1
        pixels[i, j] = 1 - it * 0.02


@prog(rng.random((40, 2)), rng.random((40, 2)), 0.01)
def gravity(pos, vel, dt):
    n = len(pos)
    acc = np.zeros((n, 2))
    for i in spmdvm.foreach(n):
        ax, ay = 0.0, 0.0
        for j in range(n):
            if j != i:
                dx, dy = pos[j] - pos[i]
                d3 = (dx * dx + dy * dy + 0.01) ** 1.5
                ax += dx / d3
                ay += dy / d3
        acc[i] = ax, ay
    vel += acc * dt
    pos += vel * dt


@prog(rng.random((12, 13)))
def box_blur(img):
    h, w = img.shape
    out = np.empty_like(img)
    for y, x in spmdvm.foreach(h, w):
        s, n = 0.0, 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if 0 <= y + dy < h and 0 <= x + dx < w:
                    s += img[y + dy, x + dx]
                    n += 1
        out[y, x] = s / n
    return out


@prog(rng.integers(0, 255, (10, 12, 3)).astype(np.uint8))
def grayscale(img):
    h, w = img.shape[:2]
    out = np.zeros((h, w), np.uint8)
    for y, x in spmdvm.foreach(h, w):
        r, g, b = img[y, x]
        out[y, x] = np.uint8(0.299 * r + 0.587 * g + 0.114 * b)
    return out


@prog(rng.random(100), 10)
def histogram(x, bins):
    h = np.zeros(bins, np.int64)
    for i in spmdvm.foreach(len(x)):
        h[int(x[i] * bins)] += 1
    return h


@prog(rng.random(100))
def mean_var(x):
    s = 0.0
    s2 = 0.0
    for i in spmdvm.foreach(len(x)):
        s += x[i]
        s2 += x[i] * x[i]
    n = len(x)
    return s / n, s2 / n - (s / n) ** 2


@prog(rng.random((9, 7)), rng.random((7, 8)))
def mm(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i, j in spmdvm.foreach(a.shape[0], b.shape[1]):
        c[i, j] = np.dot(a[i], b[:, j])
    return c


@prog(rng.random((9, 7)), rng.random((7, 8)))
def mm2(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@prog(rng.random((30, 3)), rng.random((4, 3)))
def assign(points, centers):
    labels = np.zeros(len(points), np.int32)
    for i in spmdvm.foreach(len(points)):
        best, where = np.inf, 0
        for c in range(len(centers)):
            d = np.sum((points[i] - centers[c]) ** 2)
            if d < best:
                best, where = d, c
        labels[i] = where
    return labels


@prog(rng.random((6, 6)))
def transpose(a):
    out = np.zeros((a.shape[1], a.shape[0]))
    for i, j in spmdvm.foreach(*a.shape):
        out[j, i] = a[i, j]
    return out


@prog(rng.random(50) * 10 - 5)
def clamp_poly(x):
    return np.clip(x**3 - 2 * x + 1, -10, 10)


@prog(rng.random(20), rng.random(20))
def haversine(lat, lon):
    a = np.sin(np.radians(lat) / 2) ** 2 + np.cos(np.radians(lat)) * np.sin(np.radians(lon) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(a))


@prog(rng.random((16, 16)) < 0.5, 3)
def ca(grid, steps):
    h, w = grid.shape
    for _ in range(steps):
        new = np.zeros((h, w), np.bool_)
        for y, x in spmdvm.foreach(h, w):
            n = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if (dy or dx) and grid[(y + dy) % h, (x + dx) % w]:
                        n += 1
            new[y, x] = n == 3 or (grid[y, x] and n == 2)
        grid = new
    return grid


@prog(rng.random((10, 4)))
def standardize(x):
    mean = np.mean(x, axis=0)
    std = np.std(x, axis=0)
    out = np.empty_like(x)
    for i, j in spmdvm.foreach(*x.shape):
        out[i, j] = (x[i, j] - mean[j]) / std[j]
    return out


@prog(rng.random(31))
def prefix(x):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i - 1]
    return out


@prog(rng.random((8, 10)))
def integral_image(img):
    h, w = img.shape
    s = np.zeros((h + 1, w + 1))
    for y in range(h):
        for x in range(w):
            s[y + 1, x + 1] = img[y, x] + s[y, x + 1] + s[y + 1, x] - s[y, x]
    return s


@prog(np.frombuffer(b"ACGTTGCAACGT", np.uint8).copy())
def revcomp(dna):
    out = np.empty_like(dna)
    n = len(dna)
    for i in spmdvm.foreach(n):
        c = dna[n - 1 - i]
        if c == ord("A"):
            out[i] = ord("T")
        elif c == ord("T"):
            out[i] = ord("A")
        elif c == ord("C"):
            out[i] = ord("G")
        else:
            out[i] = ord("C")
    return out


@prog(np.frombuffer(b"ABCBDAB", np.uint8).copy(), np.frombuffer(b"BDCABA", np.uint8).copy())
def lcs(a, b):
    m, n = len(a), len(b)
    prev = np.zeros(n + 1, np.int64)
    for i in range(m):
        cur = np.zeros(n + 1, np.int64)
        for j in range(n):
            if a[i] == b[j]:
                cur[j + 1] = prev[j] + 1
            else:
                cur[j + 1] = max(cur[j], prev[j + 1])
        prev = cur
    return prev[n]


@prog(np.array([7, 3, 9, 1]), 4)
def topk(a, k):
    idx = np.argsort(-a)[:k]
    return a[idx]


@prog(rng.random((6, 5)))
def row_sorted(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = np.sort(a[i])
    return out


@prog(rng.random((6, 5)))
def row_norm(a):
    for i in spmdvm.foreach(len(a)):
        a[i] /= np.linalg.norm(a[i])
    return a


@prog(rng.random((6, 5)), rng.random(5))
def affine(m, b):
    out = m + b
    out *= 2
    return np.maximum(out - 1, 0).sum(axis=1)


@prog(rng.random(10), rng.random(10), 5)
def euler(x, v, steps):
    for _ in range(steps):
        for i in spmdvm.foreach(len(x)):
            a = -x[i] - 0.1 * v[i]
            v[i] += a * 0.01
            x[i] += v[i] * 0.01
    return np.sum(0.5 * v**2 + 0.5 * x**2)


@prog(rng.random((5, 5)))
def lu(a):
    n = a.shape[0]
    L = np.eye(n)
    U = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k]
            U[i] -= L[i, k] * U[k]
    return L, U


@prog(rng.random((4, 4)) + np.eye(4) * 3, np.ones(4), 20)
def power_iteration(A, v, n):
    for _ in range(n):
        w = A @ v
        v = w / np.linalg.norm(w)
    return v, np.dot(v, A @ v)


@prog(rng.random(64), 0.5)
def lowpass(x, alpha):
    y = x.copy()
    for i in range(1, y.size):
        y[i] = y[i - 1] + alpha * (x[i] - y[i - 1])
    return y


@prog(rng.random((20, 2)), 3)
def knn(points, k):
    n = len(points)
    out = np.zeros((n, k), np.int64)
    for i in range(n):
        d = np.sum((points - points[i]) ** 2, axis=1)
        out[i] = np.argsort(d)[:k]
    return out


@prog(rng.random(200))
def bootstrap(x):
    n = len(x)
    means = np.zeros(10)
    for b in spmdvm.foreach(10):
        r = spmdvm.rng(7, b)
        s = 0.0
        for _ in range(n):
            s += x[r.integers(0, n)]
        means[b] = s / n
    return means


@prog(np.array([[0, 1], [1, 2], [2, 0], [3, 4]]), 5)
def union_find(edges, n):
    parent = np.arange(n)

    def find(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[ra] = rb
    count = 0
    for i in range(n):
        if parent[i] == i:
            count += 1
    return count


def alike(x, y):
    """Compare results, which may be tuples, and records."""
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(map(alike, x, y))
    if isinstance(x, np.ndarray) and x.dtype.names:
        return all(alike(x[name], y[name]) for name in x.dtype.names)
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True)


def python_foreach(*ranges):
    """Go through all elements one after another."""
    ranges = [range(*each) if isinstance(each, tuple) else range(each) for each in ranges]
    return ranges[0] if len(ranges) == 1 else itertools.product(*ranges)


def each(function, arguments):
    """Give what Python makes of a function of numbers, element by element."""
    if not any(map(np.ndim, arguments)):
        return function(*arguments)
    return np.array([function(*row) for row in np.broadcast(*arguments)])


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_first_programs(function, arguments, monkeypatch):
    # Sums that are rounded once might be cut to other integers.
    kernel = spmdvm.kernel(fp="strict")(function)
    given, wanted = copy.deepcopy(arguments), copy.deepcopy(arguments)
    got = kernel(*given)
    monkeypatch.setattr(spmdvm, "foreach", python_foreach)
    want = each(function, wanted) if kernel.is_elementwise else function(*wanted)
    assert (got is None and want is None) or alike(want, got)
    assert all(map(alike, given, wanted))


def test_a_part_of_any_length_has_its_elements_in_a_row():
    @spmdvm.kernel
    def flattened(a, n):
        total = 0.0
        for k in range(1, n):
            total += a[k : 2 * k, 1:].flatten()[-1]
        return total

    a = np.arange(81.0).reshape(9, 9)
    assert flattened(a, 9) == sum(a[min(2 * k, 9) - 1, 8] for k in range(1, 9))


def test_windows_in_a_foreach():
    @spmdvm.kernel
    def weighted(image, weights, out):
        h, w = image.shape
        for y, x in spmdvm.foreach((1, h - 1), (1, w - 1)):
            out[y, x] = np.sum(image[y - 1 : y + 2, x - 1 : x + 2] * weights) + image[y - 1 : y + 2, x].max()

    image, weights = rng.random((20, 30)), rng.random((3, 3))
    out = np.zeros_like(image)
    weighted(image, weights, out)
    parts = [image[i : i + 18, j : j + 28] * weights[i, j] for i in range(3) for j in range(3)]
    want = sum(parts) + np.max([image[i : i + 18, 1:29] for i in range(3)], axis=0)
    np.testing.assert_allclose(out[1:-1, 1:-1], want)


def test_windows_at_the_border_are_those_of_numpy():
    @spmdvm.kernel
    def sums(a):
        out = np.zeros(len(a))
        for i in range(len(a)):
            out[i] = np.sum(a[i - 1 : i + 2]) + 10 * np.sum(a[i : i + 3])
        return out

    a = np.arange(1.0, 9.0)
    assert sums(a).tolist() == [a[i - 1 : i + 2].sum() + 10 * a[i : i + 3].sum() for i in range(8)]


def test_a_parameter_that_becomes_another_array_is_the_callers_no_more():
    @spmdvm.kernel
    def smoothed(a, n):
        for _ in range(n):
            a = (a + np.roll(a, 1)) / 2
        return a

    a = np.arange(5.0)
    for n in range(4):
        want = a
        for _ in range(n):
            want = (want + np.roll(want, 1)) / 2
        assert smoothed(a, n).tolist() == want.tolist()
    assert a.tolist() == [0, 1, 2, 3, 4]


def test_what_is_no_number_is_told_how_to_be_passed():
    @spmdvm.kernel
    def first(a, x=0):
        return a[0] + x

    with pytest.raises(TypeError, match=r"datetime64\[D\]; pass its counts, np.asarray\(x\).view\(np.int64\)"):
        first(np.array(["2024-02-29"], "datetime64[D]"))
    with pytest.raises(TypeError, match=r"'abc', a text; pass its bytes, as np.frombuffer"):
        first(np.zeros(2), "abc")


# Parts whose bounds differ from element to element.


def same_as_in_python(function, *arguments):
    """Compare a kernel with a `foreach` with the function of Python, on copies of the same arguments."""
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    got = spmdvm.kernel(function, width=8)(*mine)
    plain = types.FunctionType(function.__code__, {**function.__globals__, "around": in_order}, function.__name__)
    want = plain(*theirs)
    assert (got is None and want is None) or np.allclose(got, want)
    for one, other in zip(mine, theirs):
        np.testing.assert_array_equal(one, other)


def in_order(*ranges):
    """Go through what a `foreach` goes through, one after another."""
    found = [range(r) if isinstance(r, (int, np.integer)) else range(*r) for r in ranges]
    return found[0] if len(found) == 1 else itertools.product(*found)


around = spmdvm.foreach


def moving_mean(a, r, out):
    for i in around(len(a)):
        out[i] = a[max(i - r, 0) : i + r + 1].max()


def box(image, r, out):
    for y, x in around(*image.shape):
        out[y, x] = np.min(image[max(y - r, 0) : y + r + 1, max(x - r, 0) : x + r + 1])


def greatest_of_some(a, begins, ends, out):
    for i in around(len(begins)):
        part = a[begins[i] : ends[i]]
        out[i] = np.max(part) if len(part) > 0 else -1.0


def until_small(a, begins, ends, out):
    for i in around(len(begins)):
        n = 0
        for x in a[begins[i] : ends[i]]:
            if x < 10:
                break
            n += 1
        out[i] = 1000 * n + len(a[begins[i] : ends[i] : 2]) + a[begins[i] : ends[i]].size


def rows_of_a_sparse_matrix(first, columns, values, x, out):
    for i in around(len(out)):
        total = 0.0
        for j, value in zip(columns[first[i] : first[i + 1]], values[first[i] : first[i + 1]]):
            total += value * x[j]
        out[i] = total


def triangle(m, begins, out):
    for i in around(len(m)):
        m[i, begins[i] :] = 0
        m[i, : begins[i]] += 1
        rest = m[i, begins[i] :].copy()
        rest -= i
        out[i] = np.sum(rest) + np.argmax(m[i, : begins[i] + 1]) + m[i, ::-1][: begins[i]].sum()


SOME = rng.permutation(50).astype(float)
BEGINS, ENDS = rng.integers(-60, 60, (2, 70))
FIRST = np.array([0, 3, 3, 20, 21, 50])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (moving_mean, (SOME, 3, np.zeros(50))),
        (box, (rng.random((9, 21)), 2, np.zeros((9, 21)))),
        (greatest_of_some, (SOME, BEGINS, ENDS, np.zeros(70))),
        (until_small, (SOME, BEGINS, ENDS, np.zeros(70))),
        (rows_of_a_sparse_matrix, (FIRST, rng.integers(0, 50, 50), SOME, SOME, np.zeros(5))),
        (triangle, (rng.integers(0, 9, (20, 10)).astype(float), rng.integers(0, 10, 20), np.zeros(20))),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_bounds_of_parts_differ_from_element_to_element(function, arguments):
    same_as_in_python(function, *arguments)


def test_rows_of_two_dimensions_are_copied_in_a_foreach():
    @spmdvm.kernel
    def solve(matrices, out):
        for t in spmdvm.foreach(len(matrices)):
            m = matrices[t].copy()
            m[0, 1] += 1
            out[t] = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]

    matrices, out = rng.random((40, 2, 2)), np.zeros(40)
    solve(matrices, out)
    np.testing.assert_allclose(out, np.linalg.det(matrices + np.array([[0, 1], [0, 0]])))


def test_arms_that_take_statements():
    @spmdvm.kernel
    def chosen(a, k: int):
        n = np.sum(a) if k > 2 else a.max() if k > 1 else 0
        n = n + 1
        return np.sum(a[:k]) if k < 5 else n

    a = np.arange(10.0)
    assert [chosen(a, k) for k in (1, 4, 7)] == [0, 6, 46]

    @spmdvm.kernel
    def drawn(i):
        rng = spmdvm.rng(1, i)
        x = rng.random() if i > 2 else -1.0
        return x, rng.random()

    @spmdvm.kernel
    def within(a, k: int):
        s = 20.0
        while (np.sum(a) if s > k else 0) > 5:
            s -= 1
        return s + 2 * (a.max() if k > 15 else np.min(a) if k > 12 else -1)

    assert [within(np.arange(1.0, 5), k) for k in (10, 13, 18)] == [8, 15, 26]

    x, after = drawn(np.arange(5))
    first, second = zip(*((r.random(), r.random()) for r in (spmdvm.rng(1, i) for i in range(5))))
    assert x.tolist() == [-1, -1, -1, *first[3:]]
    assert after.tolist() == [*first[:3], *second[3:]]


def test_arrays_of_equal_lengths_change_places():
    @spmdvm.kernel
    def distance(a, b):
        last, row = np.arange(len(b) + 1), np.zeros(len(b) + 1, np.int64)
        for i in range(len(a)):
            row[0] = i + 1
            for j in range(len(b)):
                row[j + 1] = min(row[j] + 1, last[j + 1] + 1, last[j] + (0 if a[i] == b[j] else 1))
            last, row = row, last
        return last[len(b)]

    assert distance(b"kitten", b"sitting") == 3


def test_elements_of_what_is_computed():
    @spmdvm.kernel
    def first(a):
        return a[a > 2][0], a.T[2, 1], np.sort(a[0])[::-1][0], a.sum(axis=0)[1]

    a = np.arange(6.0).reshape(2, 3)
    assert first(a) == (3, 5, 2, 5)

    @spmdvm.kernel
    def second(a):
        return a[0][a[0] > 0][0], a.T[2, 1], np.sort(a[0])[::-1][0], a.sum(axis=0)[1]

    assert second(a) == (1, 5, 2, 5)


def test_what_a_loop_that_is_run_has_assigned():
    def last(a):
        for k in range(3):
            x = a[k]
        for d in (1, 2):
            y = a[d] if a[d] > 1 else 0.0
        for i in range(5, 0, -2):
            for j in range(2):
                z = a[i - 1] + j
        return x, y, z, k, d, i, j

    a = np.arange(5.0)
    assert spmdvm.kernel(last)(a) == last(a)

    def left(a):
        for k in range(3):
            if a[k] > 1:
                break
            x = a[k]
        return x

    def none(a):
        for k in range(2, 2):
            x = a[k]
        return x

    assert spmdvm.kernel(left)(a) == left(a)
    with pytest.raises(UnboundLocalError, match="`x` has no value here"):
        spmdvm.kernel(none)(a)


def steps(a, k):
    a[1::k] *= 2
    b = a[::k].copy()
    b[0] = 100
    return np.sum(a[3::k][::2]) + np.sum(b) + len(a[2:17:k]) + a[::k][-1] + len(a[5:2:k])


def steps_passed_on(m, k):
    def total(part):
        found = 0.0
        for x in part:
            found += x
        return found

    return total(m[2, 1::k]) + np.sum(m[::k, ::k])


def steps_of_each(m, out, k):
    for i in around(len(m)):
        out[i] = np.sum(m[i, i::k])


@pytest.mark.parametrize("k", [1, 2, 3, 7, 40, 2**40])
def test_steps_that_are_computed(k):
    a = np.arange(30.0)
    for function, arguments in [
        (steps, (a,)), (steps_passed_on, (a.reshape(5, 6),)), (steps_of_each, (a.reshape(5, 6), np.zeros(5))),
    ]:  # fmt: skip
        same_as_in_python(function, *arguments, k)


def test_a_sieve():
    @spmdvm.kernel
    def sieve(n):
        found = np.ones(n + 1, np.bool_)
        found[:2] = False
        i = 2
        while i * i <= n:
            if found[i]:
                found[i * i :: i] = False
            i += 1
        return found

    assert np.flatnonzero(sieve(30)).tolist() == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]

    @spmdvm.kernel
    def every(a, k):
        return a[::k]

    for k in (0, -1):
        with pytest.raises(AssertionError, match="the step `k`, which is computed, is positive in `every`"):
            every(np.arange(5), k)


def test_annotations_of_variables():
    @spmdvm.kernel
    def halves(a):
        out: np.ndarray = np.zeros(len(a))
        twice: npt.NDArray[np.float64] = a * 2.0
        total: float = 0
        for i in range(len(a)):
            total += twice[i] / 4
            out[i] = total
        return out

    assert halves(np.arange(4)).tolist() == [0, 0.5, 1.5, 3]


def other_shapes(a, n):
    b = a.reshape(n, -1)
    b[1, 2] = 100
    pairs = np.reshape(a, (-1, 2))
    total = a.reshape(-1)[3] + np.max(pairs[:, 1])
    for x, y in pairs:
        total += x * y
    return total + b.sum(axis=0)[1] + b.shape[1] + a.reshape(2, 2, -1)[1, 0, 2]


def shapes_passed_on(a, n):
    def weighted(m):
        total = 0.0
        for i in range(len(m)):
            for j in range(m.shape[1]):
                total += m[i, j] * (i + 1)
        return total

    return weighted(a.reshape(6, n)) + weighted(a.reshape(n, -1)[:, ::2]) if n is not None else 0


def test_other_shapes():
    a = np.arange(12.0).reshape(3, 4)
    same_as_in_python(other_shapes, a, 2)
    same_as_in_python(shapes_passed_on, a, 2)

    @spmdvm.kernel
    def gray(image, out):
        pixels = image.reshape(-1, 3)
        for i in spmdvm.foreach(len(pixels)):
            r, g, b = pixels[i]
            out[i] = r + g + b

    image, out = rng.random((5, 7, 3)), np.zeros(35)
    gray(image, out)
    np.testing.assert_allclose(out, image.sum(axis=2).ravel())

    @spmdvm.kernel
    def last(a, h, w):
        return a.reshape(h, w)[h - 1, w - 1]

    assert last(a, 2, 6) == 11
    for h, w in ((5, 2), (2, 7), (-2, -6)):
        with pytest.raises(AssertionError, match=r"`a\.reshape\(h, w\)` has as many elements as the array"):
            last(a, h, w)
    with pytest.raises(spmdvm.CompileError, match="one length of a shape may be -1"):
        spmdvm.kernel(lambda a: a.reshape(-1, -1)[0, 0])(a)


def dimensions_left_out(image, out):
    image[..., 2] = 5
    image[1, ..., 0] += 7
    out[...] = 0.5 * image[..., 0] + image[..., 1]
    for y in range(image.shape[0]):
        image[y, ...] *= y
    return np.sum(image[..., 1:]) + image[0, 1, ..., 2]


def test_dimensions_that_are_left_out():
    same_as_in_python(dimensions_left_out, np.arange(24.0).reshape(2, 4, 3), np.zeros((2, 4)))


def names_used_again(a, out):
    for i in around(len(out)):
        part = a[:i]
        out[i] = np.sum(part)
        part = a[i:].copy()
        part *= 2
        out[i] += 100 * np.sum(part) + (part[-1] if len(part) > 3 else np.sum(a[:i]) if i > 4 else 0)
        part = a[::-1]
        for k in range(2):
            out[i] += part[k]
            out[i] += np.max(a[:i]) if i > 0 else -1.0


def test_names_of_parts_are_used_again():
    same_as_in_python(names_used_again, np.arange(6.0), np.zeros(6))

    def in_a_branch(a, out):
        for i in around(len(out)):
            part = a[:i]
            if i > 2:
                part = a[i:]
            out[i] = np.sum(part)

    def in_a_loop(a, out):
        for i in around(len(out)):
            part = a[:i]
            for k in range(2):
                out[i] += np.sum(part)
                part = a[k:]

    for function in (in_a_branch, in_a_loop):
        same_as_in_python(function, np.arange(6.0), np.zeros(6))


def distances_of_all(p):
    return np.sqrt(((p[:, None] - p[None]) ** 2).sum(axis=-1))


def tables(a, b):
    return (
        a[:, None] * b[None, :],
        a[:, np.newaxis] + b,
        (a[:, None] == b).sum(axis=1),
        np.argmin(abs(a[:, None] - b), 1),
    )


def rows_of_mean_nothing(m):
    centered = m - m.mean(axis=1, keepdims=True)
    scaled = np.exp(m) / np.sum(np.exp(m), axis=1)[:, None]
    return centered, scaled, m / np.sum(m, axis=0, keepdims=True), m * np.full((1, 4), 2.0)


def sums_over_new_dimensions(a, b):
    return np.sum(a[:, None] * b), np.max(a[None] + 1), a[None].shape[0], a[..., None].shape[1]


def new_dimensions_passed_on(a):
    def weighted(m):
        total = 0.0
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                total += m[i, j] * (i + 1)
        return total

    return weighted(a[:, None]) + weighted(a[None, ::2]) + weighted(a[1:, None][::2])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (distances_of_all, (rng.random((6, 3)),)),
        (tables, (np.arange(5.0), np.arange(1.0, 4.0))),
        (rows_of_mean_nothing, (rng.random((3, 4)),)),
        (sums_over_new_dimensions, (np.arange(5.0), np.arange(1.0, 4.0))),
        (new_dimensions_passed_on, (np.arange(7.0),)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_new_dimensions(function, arguments):
    got, want = spmdvm.kernel(function)(*arguments), function(*arguments)
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (got, want))):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other)


def new_dimensions_of_each(image, palette, out, mask):
    for i in around(len(image)):
        apart = image[i][None] - palette
        out[i] = np.sum(apart * apart)
    mask[1:, None, 0] += 3


def test_new_dimensions_of_each_element():
    image, palette = rng.random((20, 3)), rng.random((4, 3))
    out, mask = np.zeros(20), np.zeros((5, 3))
    spmdvm.kernel(new_dimensions_of_each)(image, palette, out, mask)
    np.testing.assert_allclose(out, [((x - palette) ** 2).sum() for x in image])
    assert mask[:, 0].tolist() == [0, 3, 3, 3, 3] and not mask[:, 1:].any()

    @spmdvm.kernel
    def plain(a, b):
        return a + b

    @spmdvm.kernel
    def arrays(a, b):
        return np.sum(a[:] + b[:])

    with pytest.raises(AssertionError, match="equal lengths"):
        arrays(np.ones((3, 1)), np.ones((3, 4)))
    assert plain(np.ones((3, 1)), np.ones(4)).shape == (3, 4)


# Code that was written for whole arrays of numpy.

POINTS, WEIGHTS = rng.random((20, 3)), rng.random(20)


def logistic_regression(x, y, rate, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= rate * (x.T @ (p - y) / len(y))
    return w


def softmax_of_rows(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def kernel_matrix(x):
    return np.exp(-0.5 * ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1))


def greatest_eigenvalue(x, steps):
    a = x.T @ x
    v = np.ones(a.shape[0])
    for _ in range(steps):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v, v @ a @ v


def centers_of_clusters(x, centers, steps):
    c = centers.copy()
    labels = np.zeros(len(x), np.int64)
    for _ in range(steps):
        labels = np.argmin(((x[:, None] - c[None]) ** 2).sum(axis=2), axis=1)
        for k in range(len(c)):
            mine = labels == k
            count = np.sum(mine)
            if count > 0:
                for j in range(c.shape[1]):
                    c[k, j] = np.sum(np.where(mine, x[:, j], 0.0)) / count
    return c, labels


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (logistic_regression, (POINTS, (WEIGHTS > 0.5).astype(float), 0.5, 20)),
        (softmax_of_rows, (POINTS,)),
        (kernel_matrix, (POINTS,)),
        (greatest_eigenvalue, (POINTS, 20)),
        (centers_of_clusters, (POINTS, POINTS[:3].copy(), 5)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_code_for_whole_arrays(function, arguments):
    got, want = spmdvm.kernel(function)(*copy.deepcopy(arguments)), function(*copy.deepcopy(arguments))
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (got, want))):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9)
