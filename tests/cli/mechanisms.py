"""Random mechanisms with loops of every kind, redundant ones, weights, constraints, motions, springs and what comes and goes: scenes as text."""
import math
import random

FREEDOMS = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "screw": 1, "universal": 2, "spherical": 3, "planar": 3, "translation2": 2,
            "translation3": 3, "free": 6, "free_rt": 6, "composite": 2, "fixed": 0}
LOOPS = [kind for kind in FREEDOMS if not kind.startswith("free")]


def times(a, b):
    """Of quaternions, w first."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return [aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw]


def back(a):
    return [a[0], -a[1], -a[2], -a[3]]


def turned(a, x):
    return times(times(a, [0, *x]), back(a))[1:]


def turn(w):
    """By a rotation vector."""
    angle = math.sqrt(sum(c * c for c in w)) or 1e-300
    return [math.cos(angle / 2), *(c / angle * math.sin(angle / 2) for c in w)]


class Mechanism:
    """A scene whose loops are closed where it starts."""

    run = "run: {method: structured, step: 0.005, duration: 0.5}"

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.places = [([0, 0, 0], turn([0, 0, 0]))]  # of the bodies, the world first
        self.single = []  # bodies with one coordinate
        self.switched = self.limited = False
        self.parts = {"bodies": [], "loops": [], "constraints": [], "motions": [], "forces": []}
        for k in range(1, self.random.randint(3, 10) + 1):
            self.add_body(k)
        for k in range(self.random.choice([1, 1, 2, 4])):
            self.add_loop(k)
        for k in range(self.random.choice([0, 0, 1, 2])):
            self.add_constraint(k)
        for k in range(self.random.choice([0, 0, 1, 2])):
            self.add_motion(k)
        if self.random.random() < 0.4:
            i, j = self.random.sample(range(1, len(self.places)), 2)
            self.parts["forces"].append(f"  band: {{type: spring, a: {{body: b{i}}}, b: {{body: b{j}}}, damping: 1, rest_length: 0.3, "
                                        f"stiffness: {10 ** self.random.uniform(0, 2):.2f}}}")

    def text(self):
        parts = "".join(f"{name}:\n" + "\n".join(lines) + "\n" for name, lines in self.parts.items() if lines)
        return f"sinew: 1\n{parts}{self.run}\n"

    def some(self, part, text):
        return text if self.random.random() < part else ""

    def somewhere(self, size):
        x = [self.random.gauss(0, 1) for _ in range(3)]
        return [size * c / math.sqrt(sum(c * c for c in x)) for c in x]

    def joint(self, kind):
        axis = f", axis: {self.somewhere(1)}" if kind in ("revolute", "prismatic", "cylindrical", "screw") else ""
        pitch = f", pitch: {self.random.uniform(-0.3, 0.3):.3f}" if kind == "screw" else ""
        parts = ", parts: [{type: revolute, axis: [0, 0, 1]}, {type: prismatic, axis: [1, 0, 0]}]" if kind == "composite" else ""
        return f"type: {kind}{axis}{pitch}{parts}"

    def weight(self):
        return self.some(0.3, f", weight: {10 ** self.random.uniform(-1, 1):.3f}")

    def active(self, *choices):
        if self.random.random() < 0.8:
            return ""
        choice = self.random.choice(choices)
        self.switched = self.switched or ">" in choice
        return f", active: {choice.format(self.random.uniform(0, 0.3))}"

    def add_body(self, k):
        kind = self.random.choice(list(FREEDOMS))
        parent = self.random.randint(0, k - 1) if self.random.random() < 0.5 else k - 1
        at, w = self.somewhere(self.random.uniform(0.2, 1)), self.somewhere(self.random.uniform(0, 2))
        x, rotation = self.places[parent]
        self.places.append(([a + b for a, b in zip(x, turned(rotation, at))], times(rotation, turn(w))))
        self.single += [k] if FREEDOMS[kind] == 1 else []
        extra = ""
        if FREEDOMS[kind]:
            extra = (self.some(0.3, f", damping: {self.random.uniform(0, 2):.3f}") +
                     self.some(0.2, f", stiffness: {10 ** self.random.uniform(0, 3):.2f}") +
                     self.some(0.1, f", armature: {self.random.uniform(0, 0.1):.3f}"))
        limit = self.limit(kind)
        self.limited = self.limited or bool(limit)
        mass = 10 ** self.random.uniform(-1, 1)
        self.parts["bodies"].append(
            f"  b{k}: {{parent: {self.name(parent)}, joint: {{{self.joint(kind)}, at: {{pos: {at}, rotvec: {w}}}{extra}{limit}}}, inertia: "
            f"{{mass: {mass}, at: {self.somewhere(0.2)}, xx: {0.1 * mass}, yy: {0.08 * mass}, zz: {0.06 * mass}}}}}")

    def limit(self, kind):
        return self.some(0.02, ", limits: [-1, 1]") if kind == "revolute" else ""

    @staticmethod
    def name(k):
        return f"b{k}" if k else "world"

    def side(self, k, x, rotation=None):
        """A place of the world as body k sees it, with the axes of the world turned by `rotation`."""
        place, axes = self.places[k]
        at = turned(back(axes), [a - b for a, b in zip(x, place)])
        pose = at if rotation is None else f"{{pos: {at}, quat_wxyz: {times(back(axes), rotation)}}}"
        return f"{{body: {self.name(k)}, at: {pose}}}"

    def add_loop(self, k):
        i, j = self.random.sample(range(len(self.places)), 2)
        x = [a + b for a, b in zip(self.places[i][0], self.somewhere(0.3))]
        rotation, kind = turn(self.somewhere(self.random.uniform(0, 2))), self.random.choice(LOOPS)
        both = f"{self.joint(kind)}, a: {self.side(i, x, rotation)}, b: {self.side(j, x, rotation)}"
        spring = self.some(0.2, ", stiffness: 30, damping: 1") if FREEDOMS[kind] else ""
        self.parts["loops"].append(f"  l{k}: {{{both}{self.weight()}{self.active('t > {:.2f}', 't < {:.2f}')}{spring}}}")
        if self.random.random() < 0.25:  # once more
            self.parts["loops"].append(f"  again{k}: {{{both}}}")

    def add_constraint(self, k):
        i, j = self.random.sample(range(len(self.places)), 2)
        x, kind = [a + b for a, b in zip(self.places[i][0], self.somewhere(0.2))], self.random.choice(["distance", "point", "weld", "couple"])
        active = self.active("t > {:.2f} and t < 0.35")
        if kind == "couple":
            if len(self.single) >= 2:
                one, other = self.random.sample(self.single, 2)
                self.parts["constraints"].append(f"  c{k}: {{type: couple, terms: [{{joint: b{one}}}, {{joint: b{other}, factor: -1.5}}]{active}}}")
            return
        y = [a + b for a, b in zip(x, self.somewhere(0.7))] if kind == "distance" else x
        rotation = turn([0, 0, 0]) if kind == "weld" else None
        self.parts["constraints"].append(f"  c{k}: {{type: {kind}, a: {self.side(i, x, rotation)}, b: {self.side(j, y, rotation)}{active}}}")

    def add_motion(self, k):
        kind, i = self.random.choice(["q", "rate", "point", "twist"]), self.random.randint(1, len(self.places) - 1)
        more = self.weight() + self.active("t > {:.2f}")
        if kind in ("q", "rate") and self.single:
            joint = self.single.pop()
            self.parts["motions"].append(f"  m{k}: {{joint: b{joint}, {kind}: {self.random.uniform(-0.5, 0.5):.2f}*sin(3*t){more}}}")
        elif kind == "point":
            way = self.somewhere(self.random.choice([0.1, 1, 3]))
            target = ", ".join(f"{a} + {b}*t" for a, b in zip(self.places[i][0], way))
            self.parts["motions"].append(f"  m{k}: {{body: b{i}, point: [{target}]{more}}}")
        elif kind == "twist":
            self.parts["motions"].append(f"  m{k}: {{body: b{i}, twist: [null, null, sin(t), null, null, null]{more}}}")
