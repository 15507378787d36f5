#!/usr/bin/python3
"""Runs the heap of `sinew make heap` in Sinew and in Bullet: time a step and penetration.

Both begin from the same poses and fall for the same time at the same step.  Bullet lets things
sleep as it does by itself, Sinew does not.  How deep things are in each other is measured by the
same program in both: Bullet's poses are looked at ten times a second, Sinew's at every step.

Exit status: 0 when Sinew, at the setting of FAST, is no slower than Bullet at ten iterations, and
its things are no deeper in each other, at the worst and at the end.
"""
import argparse
import copy
import json
import math
import os
import subprocess
import sys

import yaml

from compare import describe_machine

BULLET = (10, 50)     # iterations
FAST = 6              # sweeps that are as good as ten iterations
SINEW = (FAST, 10, 0)  # sweeps at most; 0: as it is


def quaternion(rotvec):
    angle = math.sqrt(sum(x * x for x in rotvec))
    factor = math.sin(angle / 2) / angle if angle > 0 else 0.5
    return [factor * x for x in rotvec] + [math.cos(angle / 2)]


def line_of(shape):
    """What Bullet's program reads, and the volume."""
    if shape["type"] == "box":
        size = shape["size"]
        return f"box {size[0]} {size[1]} {size[2]}", math.prod(size)
    radius = shape["radius"]
    if shape["type"] == "sphere":
        return f"sphere {radius}", 4 / 3 * math.pi * radius**3
    length = shape["to"][2] - shape["from"][2]
    volume = math.pi * radius**2 * length
    if shape["type"] == "capsule":
        volume += 4 / 3 * math.pi * radius**3
    return f"{shape['type']} {radius} {length}", volume


def turned_z(rotvec):
    """Where a rotation takes the z axis."""
    x, y, z, w = quaternion(rotvec)
    return [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]


def pose_of(at):
    return (at["pos"], at["rotvec"]) if isinstance(at, dict) else (at, [0, 0, 0])


def lines_of(scene):
    density = scene["defaults"]["shape"]["density"]
    for body in scene["bodies"].values():
        fixed = body["joint"].get("type") == "fixed"
        for shape in body["shapes"]:
            at = shape if fixed else body["joint"]
            pos, turn = pose_of(at.get("at", [0, 0, 0]))
            if shape["type"] == "plane":
                n = turned_z(turn)
                yield f"plane {n[0]} {n[1]} {n[2]} {sum(a * b for a, b in zip(n, pos))}"
                continue
            text, volume = line_of(shape)
            numbers = [0 if fixed else density * volume, *pos, *quaternion(turn)]
            yield f"{text}\n" + " ".join(str(x) for x in numbers)


def rotvec(x, y, z, w):
    length = math.sqrt(x * x + y * y + z * z)
    angle = 2 * math.atan2(length, w)
    return [angle / length * k if length > 0 else 0.0 for k in (x, y, z)]


def depth_of(sinew, scene, poses):
    """How deep things are in each other, as Sinew sees it."""
    scene = copy.deepcopy(scene)
    at = 0
    for body in scene["bodies"].values():
        if body["joint"].get("type") != "fixed":
            body["joint"]["at"] = {"pos": poses[at:at + 3], "rotvec": rotvec(*poses[at + 3:at + 7])}
            at += 7
    done = subprocess.run([sinew, "run", "-", "--json", "--step", "1e-9", "--duration", "1e-9"],
                          input=json.dumps(scene), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the poses of Bullet: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout).get("contact", {}).get("deepest", 0)  # none: nothing touches


def run_bullet(program, scene, step, steps, iterations, every):
    request = "\n".join(lines_of(scene)) + f"\nrun {step} {steps} {iterations} {every}\n"
    done = subprocess.run([program], input=request, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr.strip()[-300:]}")
    return {"method": "bullet", "setting": f"{iterations} iterations", **json.loads(done.stdout)}


def measure_depths(row, sinew, scene):
    """Puts what Sinew sees in the place of what Bullet says."""
    poses = row.pop("poses")
    depths = [depth_of(sinew, scene, place) for place in poses]
    row |= {"says_deepest": row["deepest"], "says_deepest_at_end": row["deepest_at_end"],
            "deepest": max(depths), "deepest_at_end": depths[-1]}


def run_sinew(sinew, text, step, steps, sweeps):
    command = [sinew, "run", "-", "--json", "--step", str(step), "--duration", str(step * steps)]
    if sweeps:
        command += ["--set", f"run.redmax.contact.max_iterations={sweeps}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    report = json.loads(done.stdout)
    return {"method": "sinew", "setting": f"{sweeps} sweeps" if sweeps else "as it is",
            "steps": report["steps"], "seconds": report["cpu_seconds"],
            "deepest": report["contact"]["deepest"],
            "deepest_at_end": report["contact"]["deepest_end"],
            "kinetic": report["energy"]["end"]["T"], "points": report["contact"]["mean"]}


def measure(options, program, text):
    """The fastest of all rounds; everything else is the same in each."""
    scene, steps = yaml.safe_load(text), round(options.duration / options.step)
    every = max(1, round(0.1 / options.step))
    rows = {}
    for turn in range(options.rounds):
        print(f"round {turn + 1} of {options.rounds}, heap {options.count}", file=sys.stderr)
        found = [run_bullet(program, scene, options.step, steps, n, every) for n in BULLET]
        found += [run_sinew(options.sinew, text, options.step, steps, n) for n in SINEW]
        for row in found:
            key = row["method"], row["setting"]
            old = rows.get(key)
            if old is None or row["seconds"] < old["seconds"]:
                rows[key] = row
    for row in rows.values():
        if "poses" in row:
            measure_depths(row, options.sinew, scene)
    return list(rows.values())


def print_table(rows, count):
    print(f"\nA heap of {count} bodies: CPU time a step, and how deep they are in each other\n")
    print(f"{'engine':10}{'setting':16}{'ms a step':>10}{'deepest, mm':>13}{'at the end':>12}"
          f"{'kinetic, J':>12}{'points':>8}")
    for row in rows:
        print(f"{row['method']:10}{row['setting']:16}{1e3 * row['seconds'] / row['steps']:10.2f}"
              f"{1e3 * row['deepest']:13.1f}{1e3 * row['deepest_at_end']:12.2f}"
              f"{row['kinetic']:12.1e}{row['points']:8.0f}")


def complaints(rows):
    by = {(row["method"], row["setting"]): row for row in rows}
    peer, own = by["bullet", f"{BULLET[0]} iterations"], by["sinew", f"{FAST} sweeps"]
    for key, what in (("seconds", "slower"), ("deepest", "deeper"),
                      ("deepest_at_end", "deeper at the end")):
        if own[key] > peer[key]:
            yield f"Sinew is {what} than Bullet: {own[key]:.3g} and {peer[key]:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/peers", help="directory of the peer_* programs")
    parser.add_argument("--sinew", default="build/sinew", help="the command")
    parser.add_argument("--rounds", type=int, default=2, help="turns for everybody (2)")
    parser.add_argument("--count", type=int, default=1000, help="things in the heap (1000)")
    parser.add_argument("--step", type=float, default=0.005, help="of both (0.005)")
    parser.add_argument("--duration", type=float, default=5, help="of the fall (5)")
    parser.add_argument("--out", default="bench/results/peers_contact.json", help="results")
    options = parser.parse_args()
    program = os.path.join(options.programs, "peer_contact_bullet")
    if not os.access(program, os.X_OK):
        print("bench_peers: Bullet is left out, it is not installed here")
        return 0
    text = subprocess.run([options.sinew, "make", "heap", "--count", str(options.count)],
                          capture_output=True, text=True, check=True).stdout
    rows = measure(options, program, text)
    print_table(rows, options.count)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"bench": "peers_contact", "machine": describe_machine(),
                   "timing": f"process CPU time, the faster of {options.rounds} runs",
                   "rows": rows}, file, indent=1)
        file.write("\n")
    print(f"\nwritten: {options.out}")
    wrong = list(complaints(rows))
    for complaint in wrong:
        print(f"failed: {complaint}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
