"""A heap of mixed shapes comes to rest, stays there, and nothing has passed through anything.

In full, 1000 bodies for 72 s, with SINEW_SOAK=1."""
import csv
import json
import os
import unittest

from command import Command

SOAK = bool(os.environ.get("SINEW_SOAK"))
COUNT, SECONDS, RESTS = (1000, 72, 12) if SOAK else (60, 8, 6)


class Heap(Command):
    def test_rests(self):
        scene = self.place / "heap.yaml"
        scene.write_text(self.good("make", "heap", "--count", str(COUNT), "--rolling", "0.002", "--sleep", "0.5"))
        out = self.place / "heap.csv"
        report = json.loads(self.good(
            "run", scene, "--step", "0.01", "--duration", str(SECONDS), "--out", out,
            "--every", "1", "--channels", "T,*.pos.?", "--json"))
        self.assertLess(report["contact"]["deepest"], 0.05)  # while they fall on each other; none is thinner than 0.06 m
        with open(out, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows[RESTS:]:
            self.assertEqual(float(row["T"]), 0)
            self.assertEqual([row[key] for key in row if ".pos." in key], [rows[-1][key] for key in row if ".pos." in key])
        heights = [float(value) for key, value in rows[-1].items() if key.startswith("body_") and key.endswith(".pos.z")]
        self.assertEqual(len(heights), COUNT)
        self.assertGreater(min(heights), 0.029)  # half of the shortest cylinder is 0.03 m
        sides = [abs(float(value)) for key, value in rows[-1].items()
                 if key.startswith("body_") and key.endswith((".pos.x", ".pos.y"))]
        side = 1
        while side ** 3 < COUNT:
            side += 1
        self.assertLess(max(sides), 0.17 * side + 0.05)

    def test_rests_awake(self):
        """Where rolling is braked nothing needs to sleep: couples that hold are found once, and then known.

        Ten heaps of 40 to 104 had 1e-12 J at most and moved by at most 1e-6 m a second; when couples were forgotten, 1e-6 J
        and 4e-4 m a second, and they rose."""
        begin, end = (10, 60) if SOAK else (10, 14)
        for count in (64, 96):
            scene = self.place / "heap.yaml"
            scene.write_text(self.good("make", "heap", "--count", str(count), "--rolling", "0.002"))
            out = self.place / "heap.csv"
            self.good("run", scene, "--step", "0.01", "--duration", str(end), "--out", out,
                      "--every", "1", "--channels", "T,V,*.pos.?", "--quiet")
            with open(out, encoding="utf-8") as file:
                rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)][begin:]
            for row in rows:
                self.assertLess(row["T"], 1e-8, (count, row["t"]))
            for key in rows[-1]:
                if key == "V" or ".pos." in key:
                    most = (5e-5 if key == "V" else 5e-6) * (end - begin)
                    self.assertLess(abs(rows[-1][key] - rows[0][key]), most, (count, key))


if __name__ == "__main__":
    unittest.main()
