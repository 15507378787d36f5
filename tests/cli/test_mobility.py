"""What `sinew check` says of mobility, against the singular values of all constraints of random mechanisms: written out here once more, from the
scene alone, as twists about the origin of the world.  SINEW_SOAK counts a thousand."""
import json
import os
import unittest

import numpy as np
import yaml

from command import Command, sinew
from test_loops_fuzz import Bounded

SEEDS = range(1000) if os.environ.get("SINEW_SOAK") else range(150)
X, Y, Z = np.eye(3)
NONE = np.zeros(3)


def cross(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def turned(w):
    angle = np.linalg.norm(w)
    K = cross(np.asarray(w) / angle) if angle > 0 else np.zeros((3, 3))
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def turned_by_quaternion(q):
    q = np.asarray(q) / np.linalg.norm(q)
    return np.eye(3) + 2 * q[0] * cross(q[1:]) + 2 * cross(q[1:]) @ cross(q[1:])


def pose(at):
    """Of {pos, rotvec} or {pos, quat_wxyz}, or of a place alone."""
    if isinstance(at, list):
        return np.array(at), np.eye(3)
    rotation = turned(at["rotvec"]) if "rotvec" in at else turned_by_quaternion(at["quat_wxyz"])
    return np.array(at["pos"]), rotation


def twists(joint):
    """What a joint lets move at q = 0, in its own axes: (w, v) a column."""
    axis = np.array(joint.get("axis", [0, 0, 1]), float)
    axis = axis / np.linalg.norm(axis)
    own = {"revolute": [(axis, NONE)], "prismatic": [(NONE, axis)], "cylindrical": [(axis, NONE), (NONE, axis)],
           "screw": [(axis, joint.get("pitch", 0) * axis)], "universal": [(X, NONE), (Y, NONE)], "spherical": [(a, NONE) for a in (X, Y, Z)],
           "planar": [(NONE, X), (NONE, Y), (Z, NONE)], "translation2": [(NONE, X), (NONE, Y)], "translation3": [(NONE, a) for a in (X, Y, Z)],
           "fixed": [], "composite": [(Z, NONE), (NONE, X)]}
    free = [(a, NONE) for a in (X, Y, Z)] + [(NONE, a) for a in (X, Y, Z)]
    return np.array([np.concatenate(s) for s in own.get(joint["type"], free)]).reshape(-1, 6).T


def seen_from_world(x, R):
    """A twist in a frame, about the origin of the world."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = R
    out[3:, :3] = cross(x) @ R
    return out


class Linkage:
    """Twists of all bodies over all coordinates, and rows."""

    def __init__(self, scene):
        self.place, self.J, self.first = {"world": (NONE, np.eye(3))}, {}, {}
        bodies = scene["bodies"]
        self.dofs = 0
        for name, body in bodies.items():
            self.first[name] = self.dofs
            self.dofs += twists(body["joint"]).shape[1]
        self.J["world"] = np.zeros((6, self.dofs))
        for name, body in bodies.items():
            x, R = self.place[body["parent"]]
            at, rotation = pose(body["joint"]["at"])
            self.place[name] = x + R @ at, R @ rotation
            S = seen_from_world(*self.place[name]) @ twists(body["joint"])
            self.J[name] = self.J[body["parent"]].copy()
            self.J[name][:, self.first[name]:self.first[name] + S.shape[1]] += S
        self.rows, self.followed = [], []
        for loop in scene.get("loops", {}).values():
            self.add(loop, lambda part: self.across(part, twists(part)))
        for constraint in scene.get("constraints", {}).values():
            self.add(constraint, getattr(self, constraint["type"]))
        for motion in scene.get("motions", {}).values():
            self.add(motion, self.motion)

    def add(self, part, rows):
        active = part.get("active", "t < 1")
        if active.startswith("t <"):  # at the start
            found = rows(part)
            always = self.followed if "q" in part else self.rows
            if "q" not in part or "active" not in part:
                always.extend(found)

    def end(self, side):
        x, R = self.place[side["body"]]
        at, rotation = pose(side.get("at", [0, 0, 0]))
        return x + R @ at, R @ rotation

    def across(self, part, S):
        """Rows across S, in the frame of side b."""
        frame = np.linalg.inv(seen_from_world(*self.end(part["b"])))
        basis = np.linalg.svd(S, full_matrices=True)[0][:, S.shape[1]:] if S.shape[1] else np.eye(6)
        return list(basis.T @ frame @ (self.J[part["b"]["body"]] - self.J[part["a"]["body"]]))

    def velocity(self, side):
        """Of a point, over all coordinates."""
        J = self.J[side["body"]]
        return J[3:] - cross(self.end(side)[0]) @ J[:3]

    def weld(self, part):
        return self.across(part, np.zeros((6, 0)))

    def point(self, part):
        return list(self.velocity(part["b"]) - self.velocity(part["a"]))

    def distance(self, part):
        way = self.end(part["b"])[0] - self.end(part["a"])[0]
        return [way / np.linalg.norm(way) @ (self.velocity(part["b"]) - self.velocity(part["a"]))]

    def coordinate(self, joint):
        return np.eye(self.dofs)[self.first[joint]]

    def couple(self, part):
        return [sum(term.get("factor", 1) * self.coordinate(term["joint"]) for term in part["terms"])]

    def map(self, part):
        """At z = 0: z, 0.5 z + z^2 and sin(z)."""
        one, two, three = (self.coordinate(joint["joint"]) for joint in part["joints"])
        return [two - 0.5 * one, three - one]

    def motion(self, part):
        if "joint" in part:
            return [self.coordinate(part["joint"])]
        if "twist" in part:  # about z of the world
            return [self.J[part["body"]][2]]
        return list(self.velocity(part))

    @staticmethod
    def rank(rows):
        if not rows:
            return 0
        size = np.linalg.norm(rows, axis=1)
        unit = [row / n for row, n in zip(rows, size) if n > 1e-9]
        return int(np.sum(np.linalg.svd(unit, compute_uv=False) > 1e-8)) if unit else 0


class Mobility(Command):
    def test_random_mechanisms(self):
        redundant = driven = refused = 0
        for seed in SEEDS:
            text = Bounded(seed).text()
            done = sinew("check", "-", "--json", stdin=text)
            linkage = Linkage(yaml.safe_load(text))
            rank, everything = linkage.rank(linkage.rows), linkage.rank(linkage.rows + linkage.followed)
            if "is at odds with" in done.stderr or "asks for what no joint" in done.stderr:  # it takes dependent rows to contradict oneself
                self.assertLess(everything, len(linkage.rows) + len(linkage.followed), f"seed {seed}: {done.stderr}")
                refused += 1
                continue
            summary = json.loads(done.stdout)["summary"]
            if "constraint_rows" not in summary:  # there are none
                summary |= {"constraint_rows": 0, "constraint_rows_redundant": 0, "dofs_free": summary["dofs"] - summary["dofs_following_motions"]}
            found = [summary[key] for key in ("dofs", "constraint_rows", "constraint_rows_redundant", "dofs_free")]
            self.assertEqual(found, [linkage.dofs, len(linkage.rows), len(linkage.rows) - rank, linkage.dofs - everything], f"seed {seed}")
            redundant += len(linkage.rows) > rank
            driven += bool(linkage.followed)
        self.assertLess(refused, len(SEEDS) // 6)
        self.assertGreater(redundant, len(SEEDS) // 5)
        self.assertGreater(driven, len(SEEDS) // 50)


if __name__ == "__main__":
    unittest.main()
