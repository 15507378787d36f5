#!/usr/bin/python3
"""Runs the heap of `sinew make heap` in Sinew and in Bullet: time and penetration.

Both begin from the same poses and fall for the same time.  A step of the one is not a step of the
other: the same step leaves Bullet's things five times as deep in each other.  So both run at
several steps, and those are compared that are as deep at the worst: each of Sinew's with the
cheapest of Bullet's that is no deeper, and, to be told, Bullet's at 5 ms with the cheapest of Sinew's
that is no deeper: it has none that is as deep as that.  What counts is CPU time for a second of the
fall.

Bullet lets things sleep as it does by itself, Sinew does not.  How deep things are in each other is
measured by the same program in both: Bullet's poses are looked at ten times a second, Sinew's at
every step, so that Bullet's may have been deeper.

Exit status: 0 when Sinew is no slower than what is as good of Bullet's.
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

# Steps in seconds, and iterations or sweeps at most; 0: as it is.
USUAL = (0.005, 10)
BULLET = (USUAL, (0.005, 50), (0.0025, 10), (0.005 / 3, 10), (0.00125, 10))
SINEW = ((0.005, 0), (0.005, 6), (0.01, 6), (1 / 60, 10))


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


def run_bullet(program, scene, duration, step, iterations):
    steps, every = round(duration / step), max(1, round(0.1 / step))
    request = "\n".join(lines_of(scene)) + f"\nrun {step} {steps} {iterations} {every}\n"
    done = subprocess.run([program], input=request, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr.strip()[-300:]}")
    return {"method": "bullet", "step": step, "setting": f"{iterations} iterations",
            "duration": step * steps, **json.loads(done.stdout)}


def measure_depths(row, sinew, scene):
    """Puts what Sinew sees in the place of what Bullet says."""
    poses = row.pop("poses")
    depths = [depth_of(sinew, scene, place) for place in poses]
    row |= {"says_deepest": row["deepest"], "says_deepest_at_end": row["deepest_at_end"],
            "deepest": max(depths), "deepest_at_end": depths[-1]}


def run_sinew(sinew, text, duration, step, sweeps):
    steps = round(duration / step)
    command = [sinew, "run", "-", "--json", "--step", str(step), "--duration", str(step * steps)]
    if sweeps:
        command += ["--set", f"run.redmax.contact.max_iterations={sweeps}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    report = json.loads(done.stdout)
    return {"method": "sinew", "step": step, "duration": step * steps,
            "setting": f"{sweeps} sweeps" if sweeps else "as it is",
            "steps": report["steps"], "seconds": report["cpu_seconds"],
            "deepest": report["contact"]["deepest"],
            "deepest_at_end": report["contact"]["deepest_end"],
            "kinetic": report["energy"]["end"]["T"], "points": report["contact"]["mean"]}


def measure(options, program, text):
    """The fastest of all rounds; everything else is the same in each."""
    scene = yaml.safe_load(text)
    rows = {}
    for turn in range(options.rounds):
        print(f"round {turn + 1} of {options.rounds}, heap {options.count}", file=sys.stderr)
        found = [run_sinew(options.sinew, text, options.duration, *how) for how in SINEW]
        found += [run_bullet(program, scene, options.duration, *how) for how in BULLET]
        for row in found:
            key = row["method"], row["step"], row["setting"]
            old = rows.get(key)
            if old is None or row["seconds"] < old["seconds"]:
                rows[key] = row
    for row in rows.values():
        if "poses" in row:
            measure_depths(row, options.sinew, scene)
    return list(rows.values())


def cost(row):
    """CPU seconds for a second of the fall."""
    return row["seconds"] / row["duration"]


def print_table(rows, count):
    print(f"\nA heap of {count} bodies: CPU time, and how deep they are in each other\n")
    print(f"{'engine':8}{'step, ms':>9}  {'setting':15}{'ms a step':>10}{'s a second':>11}"
          f"{'deepest, mm':>13}{'at the end':>12}{'kinetic, J':>12}{'points':>8}")
    for row in rows:
        print(f"{row['method']:8}{1e3 * row['step']:9.2f}  {row['setting']:15}"
              f"{1e3 * row['seconds'] / row['steps']:10.2f}{cost(row):11.2f}"
              f"{1e3 * row['deepest']:13.1f}{1e3 * row['deepest_at_end']:12.2f}"
              f"{row['kinetic']:12.1e}{row['points']:8.0f}")


def cheapest_as_good(rows, method, depth):
    """Of those whose things are nowhere deeper in each other; None: there is none."""
    good = [row for row in rows if row["method"] == method and row["deepest"] <= depth]
    return min(good, key=cost, default=None)


def match(rows):
    """Pairs (sinew, bullet) at the same penetration, by the worse of both."""
    for own in (row for row in rows if row["method"] == "sinew"):
        peer = cheapest_as_good(rows, "bullet", own["deepest"])
        if peer:
            yield {"depth": "sinew's", "sinew": own, "bullet": peer}
    usual = next(row for row in rows if row["method"] == "bullet" and
                 (row["step"], row["setting"]) == (USUAL[0], f"{USUAL[1]} iterations"))
    own = cheapest_as_good(rows, "sinew", usual["deepest"])
    if own:
        yield {"depth": "bullet's", "sinew": own, "bullet": usual}


def summary(pair):
    """The numbers of a pair, for the file."""
    return {"depth": pair["depth"], "bullet_over_sinew": cost(pair["bullet"]) / cost(pair["sinew"]),
            **{who: {key: pair[who][key] for key in ("step", "setting", "deepest")} |
               {"seconds_a_second": cost(pair[who])} for who in ("sinew", "bullet")}}


def print_matches(matches):
    print("\nAt the same penetration: CPU seconds for a second\n")
    for pair in matches:
        text = [f"{who} {cost(pair[who]):.2f} ({1e3 * pair[who]['step']:.2f} ms, "
                f"{pair[who]['setting']}: {1e3 * pair[who]['deepest']:.1f} mm)"
                for who in ("sinew", "bullet")]
        print(f"as deep as {pair['depth']:9} {text[0]}, {text[1]}")


def complaints(matches):
    fair = [pair for pair in matches if pair["depth"] == "sinew's"]
    if not fair:
        yield "no run of Bullet's is as good as one of Sinew's"
    for pair in fair:
        if cost(pair["sinew"]) > cost(pair["bullet"]):
            yield (f"Sinew is slower than Bullet at the same penetration: "
                   f"{cost(pair['sinew']):.3g} and {cost(pair['bullet']):.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/peers", help="directory of the peer_* programs")
    parser.add_argument("--sinew", default="build/sinew", help="the command")
    parser.add_argument("--rounds", type=int, default=1, help="turns for everybody (1)")
    parser.add_argument("--count", type=int, default=1000, help="things in the heap (1000)")
    parser.add_argument("--duration", type=float, default=3, help="of the fall (3)")
    parser.add_argument("--out", default="bench/results/peers_contact.json", help="results")
    options = parser.parse_args()
    program = os.path.join(options.programs, "peer_contact_bullet")
    if not os.access(program, os.X_OK):
        print("bench_peers: Bullet is left out, it is not installed here")
        return 0
    text = subprocess.run([options.sinew, "make", "heap", "--count", str(options.count)],
                          capture_output=True, text=True, check=True).stdout
    rows = measure(options, program, text)
    matches = list(match(rows))
    print_table(rows, options.count)
    print_matches(matches)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"bench": "peers_contact", "machine": describe_machine(),
                   "timing": f"process CPU time, the fastest of {options.rounds}",
                   "rows": rows, "matches": [summary(pair) for pair in matches]}, file, indent=1)
        file.write("\n")
    print(f"\nwritten: {options.out}")
    wrong = list(complaints(matches))
    for complaint in wrong:
        print(f"failed: {complaint}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
