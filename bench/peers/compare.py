#!/usr/bin/python3
"""Runs Sinew, the textbook algorithm and the peers on the same models, in turns, and compares.

A shared machine changes its speed within seconds.  So everybody gets many short turns, one after
the other, and the least time of a call counts: what the code takes when nothing disturbs it.

Exit status: 0 when Sinew's accelerations agree with the yardstick's, and a peer's for every model.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

MODELS = [("chain", 10), ("chain", 30), ("chain", 100), ("chain", 300), ("chain", 1000),
          ("tree", 31), ("tree", 127), ("tree", 511), ("humanoid", 22)]
PEERS = ["bullet", "mujoco", "simbody", "dart"]
REFERENCE = "textbook"

# Largest difference from the reference, relative to the largest acceleration.  Recursive methods
# agree to 1e-12 on the longest chain.  MuJoCo factorises the mass matrix, whose condition grows
# from 4e6 (chain of 100) to 2e9 (chain of 1000), and loses as many digits.
TOLERANCE = {"sinew": 1e-10, "bullet": 1e-10, "simbody": 1e-10, "dart": 1e-10, "mujoco": 1e-8}


class Refused(Exception):
    """A contestant cannot do a model; the text says why."""


class Program:
    """A program of bench/peers, kept running: models stay built from one turn to the next."""

    def __init__(self, name, path):
        self.name = name
        self.about = {"version": "", "call": "", "build": ""}
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, request):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise Refused(f"program ended with status {self.process.wait()}")
        reply = json.loads(line)
        self.about = {key: reply.get(key, "") for key in ("version", "call", "build")}
        if "error" in reply:
            raise Refused(reply["error"])
        return reply

    def qdd(self, scene, size):
        return self.ask(f"qdd {scene} {size}")["qdd"]

    def time(self, scene, size, seconds):
        return 1e-6 * self.ask(f"time {scene} {size} {seconds}")["us_per_call"]

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        self.process.wait()


class Sinew:
    """`sinew bench dynamics`, started anew for each turn: its models are built in no time."""

    name = "sinew"

    def __init__(self, path):
        self.path = path
        version = subprocess.run([path, "version"], capture_output=True, text=True, check=False)
        self.about = {"version": version.stdout.split("\n")[0].removeprefix("sinew "),
                      "call": "qdd from q, qd, tau: recursive dynamics of the method `recursive`",
                      "build": "here, with the flags of the yardstick"}

    def bench(self, scene, size, seconds, option, pick):
        with tempfile.TemporaryDirectory() as place:
            out = os.path.join(place, "out.json")
            command = [self.path, "bench", "dynamics", "--only", f"{scene}:{size}",
                       "--seconds", str(seconds), option, out]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                raise Refused(f"{' '.join(command[1:])}: status {run.returncode}: "
                              + run.stderr.strip()[-300:])
            with open(out, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        for row in rows:
            if (row["scene"], row["size"], row.get("method")) == (scene, size, "recursive"):
                return row[pick]
        raise Refused(f"{' '.join(command[1:])}: no row of {scene} {size}, method recursive")

    def qdd(self, scene, size):
        return self.bench(scene, size, 0, "--dump-qdd", "qdd")

    def time(self, scene, size, seconds):
        return self.bench(scene, size, seconds, "--json", "seconds")

    def close(self):
        pass


def find_contestants(programs, sinew):
    """Whoever was built, the reference first; and the names of those who were not."""
    found, absent = [], []
    for name in [REFERENCE] + PEERS:
        path = os.path.join(programs, "peer_" + name)
        if os.access(path, os.X_OK):
            found.append(Program(name, path))
        else:
            absent.append(name)
    if REFERENCE in absent:
        sys.exit(f"{programs}/peer_{REFERENCE} is missing: run scripts/bench_peers.sh")
    if not os.access(sinew, os.X_OK):
        sys.exit(f"{sinew} is missing: run make")
    found.insert(1, Sinew(sinew))
    return found, absent


def difference(qdd, reference):
    """Largest difference relative to the largest acceleration; huge when there are no numbers."""
    if len(qdd) != len(reference) or not all(isinstance(x, (int, float)) for x in qdd):
        return sys.float_info.max
    largest = max(abs(x) for x in reference)
    return max(abs(a - b) for a, b in zip(qdd, reference)) / largest


def compare_accelerations(contestants, models):
    """{(name, model): row}: who can do which model, and how far from the reference."""
    rows = {}
    for model in models:
        reference = None
        for contestant in contestants:
            row = {"scene": model[0], "size": model[1], "method": contestant.name}
            rows[contestant.name, model] = row
            try:
                qdd = contestant.qdd(*model)
            except Refused as reason:
                row["refused"] = str(reason)
                continue
            if contestant.name == REFERENCE:
                reference = qdd
            if reference is None:
                row["refused"] = "the reference has no accelerations to compare with"
                continue
            row["qdd_difference"] = difference(qdd, reference)
            row["tolerance"] = TOLERANCE.get(contestant.name, 0.0)
            row["agrees"] = row["qdd_difference"] <= row["tolerance"]
    return rows


def time_in_turns(contestants, models, rows, rounds, seconds):
    times = {key: [] for key, row in rows.items() if "refused" not in row}
    for turn in range(rounds):
        print(f"round {turn + 1} of {rounds}", file=sys.stderr)
        for model in models:
            for contestant in contestants:
                key = contestant.name, model
                if key not in times:
                    continue
                try:
                    times[key].append(contestant.time(*model, seconds))
                except Refused as reason:
                    rows[key] = {"scene": model[0], "size": model[1], "method": contestant.name,
                                 "refused": str(reason)}
                    del times[key]
    for key, values in times.items():
        rows[key]["seconds"] = min(values)
        rows[key]["median_seconds"] = statistics.median(values)


def stop_if_refused(contestants, models, rows):
    """Without Sinew or the reference there is nothing to compare."""
    for contestant in contestants:
        for model in models:
            reason = rows[contestant.name, model].get("refused")
            if reason:
                sys.exit(f"{contestant.name}, {model[0]} {model[1]}: {reason}")


def find_ratios(models, rows):
    """How many times faster Sinew is than the fastest peer that agrees, and than the yardstick."""
    ratios = []
    for model in models:
        ratio = {"scene": model[0], "size": model[1]}
        ratios.append(ratio)
        own = rows["sinew", model]["seconds"]
        agreed = [(rows[name, model]["seconds"], name) for name in PEERS
                  if rows.get((name, model), {}).get("agrees")]
        if agreed:
            ratio["fastest_peer"] = min(agreed)[1]
            ratio["peer_over_sinew"] = min(agreed)[0] / own
        ratio["textbook_over_sinew"] = rows[REFERENCE, model]["seconds"] / own
    return ratios


def print_table(contestants, models, rows, ratios):
    names = ["sinew", REFERENCE] + [c.name for c in contestants[2:]]
    print("\nMicroseconds per forward dynamics, least of all turns"
          " (!: accelerations differ, -: cannot do it)\n")
    head = f"{'model':14}" + "".join(f"{name:>11}" for name in names)
    print(head + f"{'fastest peer':>14}{'/ sinew':>9}{'textbook / sinew':>18}")
    for model, ratio in zip(models, ratios):
        line = f"{model[0] + ' ' + str(model[1]):14}"
        for name in names:
            row = rows[name, model]
            mark = "" if row.get("agrees") else "!"
            line += f"{mark + format(1e6 * row['seconds'], '.2f') if 'seconds' in row else '-':>11}"
        line += f"{ratio.get('fastest_peer', '-'):>14}"
        for key, width in (("peer_over_sinew", 9), ("textbook_over_sinew", 18)):
            line += f"{format(ratio[key], '.2f') if key in ratio else '-':>{width}}"
        print(line)

    print(f"\nLargest difference of an acceleration from the {REFERENCE}'s,"
          " relative to the largest acceleration\n")
    print(f"{'model':14}" + "".join(f"{name:>11}" for name in names))
    for model in models:
        print(f"{model[0] + ' ' + str(model[1]):14}" + "".join(
            f"{format(rows[name, model]['qdd_difference'], '.1e'):>11}"
            if "qdd_difference" in rows[name, model] else f"{'-':>11}" for name in names))
    print(f"{'tolerance':14}" + "".join(f"{TOLERANCE.get(name, 0.0):>11.0e}" for name in names))


def print_notes(contestants, absent, rows):
    print("\nWhat a call computes, and how it was built")
    for contestant in contestants:
        about = contestant.about
        if about["call"]:
            print(f"  {contestant.name} {about['version']}: {about['call']}; {about['build']}")
    for name in absent:
        print(f"  {name}: left out, it is not installed here")
    for (name, model), row in rows.items():
        where = f"  {name}, {model[0]} {model[1]}:"
        if "refused" in row:
            print(f"{where} {row['refused']}")
        elif not row["agrees"]:
            print(f"{where} accelerations differ by {row['qdd_difference']:.1e},"
                  f" more than {row['tolerance']:.0e}: not counted")


def describe_machine():
    cpu = platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file
                        if line.startswith("model name")), cpu)
    except OSError:
        pass
    return {"cpu": cpu, "cores": os.cpu_count()}


def write_results(path, options, contestants, absent, models, rows, ratios):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    names = [contestant.name for contestant in contestants]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"bench": "peers", "machine": describe_machine(),
                   "timing": f"process CPU time, least over {options.rounds} turns of"
                             f" {options.seconds} s in batches of about 5 ms",
                   "contestants": [{"method": c.name, **c.about} for c in contestants],
                   "absent": absent,
                   "rows": [rows[name, model] for model in models for name in names],
                   "ratios": ratios}, file, indent=1)
        file.write("\n")


def parse_models(text):
    models = []
    for item in text.split(","):
        scene, _, size = item.partition(":")
        models.append((scene, int(size)))
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/peers", help="directory of the peer_* programs")
    parser.add_argument("--sinew", default="build/sinew", help="the command")
    parser.add_argument("--rounds", type=int, default=10, help="turns for everybody (10)")
    parser.add_argument("--seconds", type=float, default=0.05, help="CPU time of a turn (0.05)")
    parser.add_argument("--models", type=parse_models, default=MODELS,
                        help="such as chain:100,humanoid:22 (all)")
    parser.add_argument("--out", default="bench/results/peers.json", help="results as JSON")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: needs at least 1")

    contestants, absent = find_contestants(options.programs, options.sinew)
    rows = compare_accelerations(contestants, options.models)
    stop_if_refused(contestants[:2], options.models, rows)
    time_in_turns(contestants, options.models, rows, options.rounds, options.seconds)
    stop_if_refused(contestants[:2], options.models, rows)
    for contestant in contestants:
        contestant.close()

    ratios = find_ratios(options.models, rows)
    print_table(contestants, options.models, rows, ratios)
    print_notes(contestants, absent, rows)
    write_results(options.out, options, contestants, absent, options.models, rows, ratios)
    print(f"\nwritten: {options.out}")

    wrong = [m for m in options.models if not rows["sinew", m]["agrees"]]
    alone = [r for r in ratios if "fastest_peer" not in r]
    if wrong:
        print(f"failed: Sinew's accelerations differ on {wrong}", file=sys.stderr)
    if alone:
        print(f"failed: no peer agrees on {[(r['scene'], r['size']) for r in alone]}",
              file=sys.stderr)
    return 1 if wrong or alone else 0


if __name__ == "__main__":
    sys.exit(main())
