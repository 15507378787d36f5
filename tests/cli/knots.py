"""What knot a string is tied into: its determinant, 1 for none, 3 for an overhand knot.

The ends are led away to a point far off, and the crossings of a projection are counted: every arc
between two underpasses is an unknown, every crossing says  2 over = one under + the other under,
and the determinant of these equations without one row and one column is that of the knot.
"""
import random

FAR = 100.0


def closed(points):
    """The string, its ends led straight on and joined far away."""
    def beyond(end, inner, how_far):
        return [e + how_far * (e - i) for e, i in zip(end, inner)]
    size = max(max(p[k] for p in points) - min(p[k] for p in points) for k in range(3))
    first = beyond(points[0], points[1], FAR * size / distance(points[0], points[1]))
    last = beyond(points[-1], points[-2], FAR * size / distance(points[-1], points[-2]))
    middle = [(a + b) / 2 + FAR * size * push for a, b, push in zip(first, last, (1.1, 2.3, 3.7))]
    return [*points, last, middle, first]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5


def turned(points, seed=1):
    """Seen from a direction in which nothing lines up."""
    chance = random.Random(seed)
    axes = []
    while len(axes) < 3:
        v = [chance.gauss(0, 1) for _ in range(3)]
        for a in axes:
            along = sum(x * y for x, y in zip(v, a))
            v = [x - along * y for x, y in zip(v, a)]
        length = sum(x * x for x in v) ** 0.5
        axes.append([x / length for x in v])
    return [[sum(x * a for x, a in zip(p, axis)) for axis in axes] for p in points]


def crossings(p):
    """(place along the string, the other place, is the first one above?)"""
    n = len(p)
    for i in range(n):
        a, b = p[i], p[(i + 1) % n]
        for j in range(i + 2, n if i else n - 1):
            c, d = p[j], p[(j + 1) % n]
            u, v, w = [[y - x for x, y in zip(*pair)] for pair in ((a, b), (c, d), (a, c))]
            area = u[0] * v[1] - u[1] * v[0]
            if area == 0:
                continue
            s, t = (w[0] * v[1] - w[1] * v[0]) / area, (w[0] * u[1] - w[1] * u[0]) / area
            if 0 <= s < 1 and 0 <= t < 1:
                yield i + s, j + t, a[2] + s * u[2] > c[2] + t * v[2]


def determinant(points):
    found = list(crossings(turned(closed([list(p) for p in points]))))
    passes = sorted([(one, k, above) for k, (one, _, above) in enumerate(found)]
                    + [(other, k, not above) for k, (_, other, above) in enumerate(found)])
    n = len(found)
    rows, arc = [[0] * n for _ in found], 0
    for _, k, above in passes:
        if above:
            rows[k][arc % n] += 2
        else:
            rows[k][arc % n] -= 1
            arc += 1
            rows[k][arc % n] -= 1
    return abs(whole_determinant([row[1:] for row in rows[1:]]))


def whole_determinant(rows):
    """By elimination without fractions (Bareiss)."""
    sign, before = 1, 1
    rows = [row[:] for row in rows]
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // before
        before = rows[k][k]
    return sign * rows[-1][-1] if rows else 1
