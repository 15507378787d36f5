#!/usr/bin/python3
"""Runs mechanisms with loops in Sinew and in the peers, and compares time, gaps and energy.

Everybody runs the same motion at 1 ms.  Slow ones stop after a while: their time a step counts.

Exit status: 0 when Sinew's gaps are below 1e-9 m and its accurate integrators end where the
N-four-bar must.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

from compare import Program, Refused, describe_machine

SCENES = [("fourbar", 2, 10000), ("fourbar", 40, 10000), ("ladder", 48, 200), ("ladder", 96, 200)]
SETTINGS = [("mujoco", "euler"), ("mujoco", "rk4"), ("mujoco", "cg"), ("mujoco", "soft"),
            ("bullet", "10"), ("bullet", "50+erp"), ("simbody", "euler"), ("dart", "euler")]
# Of the first joint at t = 10 s, by the IFToMM benchmark library.
ENDS = {2: (0.328458111541, 0.944518538179), 40: (0.180512226687, 0.983572740582)}
GAP_MOST = 1e-9
OFF_MOST = {"rk4": 1e-6, "dopri5": 1e-6}  # of Sinew's


def run_sinew(path, scene, size):
    """A row for each integrator that the bench runs."""
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "out.json")
        command = [path, "bench", "loops", "--only", f"{scene}:{size}", "--seconds", "0.05",
                   "--json", out]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}: {run.stderr.strip()[-300:]}")
        with open(out, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
    runs = next(row["runs"] for row in rows if row["solver"] == "auto")
    return [{"method": "sinew", "setting": r["integrator"], "steps": r["steps"],
             "seconds": r["seconds"], "gap": r["gap"], "energy": r["energy_error"],
             "off": r.get("first_joint_off")} for r in runs]


def run_peer(program, setting, scene, size, steps, most):
    row = {"method": program.name.removeprefix("loops_"), "setting": setting}
    try:
        reply = program.ask(f"run {scene} {size} {steps} {setting} {most}")
    except Refused as reason:
        return {**row, "refused": str(reason)}
    row |= {key: reply[key] for key in ("steps", "seconds", "gap", "energy")}
    if scene == "fourbar" and reply["steps"] == steps:
        row["off"] = max(abs(a - b) for a, b in zip(reply["tip"], ENDS[size]))
    return row


def better(old, new):
    """The faster of two runs of the same motion."""
    if old is None or "refused" in new:
        return new
    return min(old, new, key=lambda row: row["seconds"] / row["steps"])


def measure(options, programs):
    rows = {}
    for turn in range(options.rounds):
        for scene, size, steps in SCENES:
            print(f"round {turn + 1} of {options.rounds}, {scene} {size}", file=sys.stderr)
            found = run_sinew(options.sinew, scene, size)
            for name, setting in SETTINGS:
                if name in programs:
                    found.append(run_peer(programs[name], setting, scene, size, steps,
                                          options.seconds))
            for row in found:
                key = scene, size, row["method"], row["setting"]
                rows[key] = better(rows.get(key), {"scene": scene, "size": size, **row})
    return list(rows.values())


def print_table(rows):
    print("\nMechanisms with loops at 1 ms: CPU time, the largest gap, the largest error of energy,"
          "\nand for four-bars how far the first joint is from where it must be after 10 s\n")
    print(f"{'scene':12}{'engine':10}{'setting':14}{'us a step':>10}{'steps':>8}{'gap, m':>10}"
          f"{'energy, J':>11}{'off, m':>10}")
    for row in rows:
        head = f"{row['scene'] + ' ' + str(row['size']):12}{row['method']:10}{row['setting']:14}"
        if "refused" in row:
            print(f"{head}{row['refused']}")
            continue
        off = format(row["off"], ".1e") if row.get("off") is not None else "-"
        print(f"{head}{1e6 * row['seconds'] / row['steps']:10.1f}{row['steps']:8}"
              f"{row['gap']:10.1e}{row['energy']:11.1e}{off:>10}")


def complaints(rows):
    own = [row for row in rows if row["method"] == "sinew"]
    for row in own:
        where = f"{row['scene']} {row['size']} by {row['setting']}"
        if not row["gap"] < GAP_MOST:
            yield f"{where}: a gap of {row['gap']:.1e} m, at most {GAP_MOST:.0e}"
        if row["off"] is not None and row["off"] > OFF_MOST.get(row["setting"], math.inf):
            yield f"{where}: the first joint is off by {row['off']:.1e} m"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/peers", help="directory of the peer_* programs")
    parser.add_argument("--sinew", default="build/sinew", help="the command")
    parser.add_argument("--rounds", type=int, default=2, help="turns for everybody (2)")
    parser.add_argument("--seconds", type=float, default=3, help="most CPU time of a run (3)")
    parser.add_argument("--out", default="bench/results/peers_loops.json", help="results as JSON")
    options = parser.parse_args()
    programs = {}
    for name, _ in SETTINGS:
        path = os.path.join(options.programs, "peer_loops_" + name)
        if name not in programs and os.access(path, os.X_OK):
            programs[name] = Program("loops_" + name, path)
    rows = measure(options, programs)
    for program in programs.values():
        program.close()
    print_table(rows)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump({"bench": "peers_loops", "machine": describe_machine(),
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
