#!/usr/bin/python3
"""Runs the heap of `sinew make heap` in Sinew and in Bullet: time a step and penetration.

Both begin from the same poses and fall for the same time at the same step.  Sleeping is left as
each engine has it.
"""
import argparse
import json
import math
import os
import subprocess
import sys

import yaml

from compare import describe_machine

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


def run_bullet(program, scene, step, steps, iterations):
    request = "\n".join(lines_of(scene)) + f"\nrun {step} {steps} {iterations}\n"
    done = subprocess.run([program], input=request, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr.strip()[-300:]}")
    return {"method": "bullet", "setting": f"{iterations} iterations", **json.loads(done.stdout)}


def run_sinew(sinew, text, step, steps, setting):
    command = [sinew, "run", "-", "--json", "--step", str(step), "--duration", str(step * steps)]
    for change in setting:
        command += ["--set", f"run.redmax.contact.{change}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    name = ", ".join(setting) or "as it is"
    return {"method": "sinew", "setting": name, "steps": steps, **json.loads(done.stdout)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/peers", help="directory of the peer_* programs")
    parser.add_argument("--sinew", default="build/sinew", help="the command")
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
    scene, steps = yaml.safe_load(text), round(options.duration / options.step)
    rows = [run_bullet(program, scene, options.step, steps, n) for n in (10, 50)]
    for setting in ([], ["max_iterations=10"], ["max_iterations=10", "sleep=0.5"]):
        rows.append(run_sinew(options.sinew, text, options.step, steps, setting))
    for row in rows:
        print(row)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"bench": "peers_contact", "machine": describe_machine(), "rows": rows}, file,
                  indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
