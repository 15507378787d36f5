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
        rows = list(csv.DictReader(out.open()))
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
        """Where rolling is braked nothing needs to sleep: couples that hold are found once, and then known."""
        seconds = 60 if SOAK else 12
        for count in (60, 100):
            scene = self.place / "heap.yaml"
            scene.write_text(self.good("make", "heap", "--count", str(count), "--rolling", "0.002"))
            out = self.place / "heap.csv"
            self.good("run", scene, "--step", "0.01", "--duration", str(seconds), "--out", out,
                      "--every", "1", "--channels", "T,V,*.pos.?", "--quiet")
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(out.open())]
            for row in rows[8:]:
                self.assertLess(row["T"], 1e-12, (count, row["t"]))
            for key in rows[-1]:
                if key == "V" or ".pos." in key:  # 600 and 1000 N; less than 1e-7 m a second
                    self.assertLess(abs(rows[-1][key] - rows[8][key]), (1e-4 if key == "V" else 1e-7) * seconds, (count, key))


if __name__ == "__main__":
    unittest.main()
