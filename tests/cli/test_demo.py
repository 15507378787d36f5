"""scripts/demo.sh: what `make demo` shows and leaves behind."""
import base64
import json
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from command import SINEW, SOURCE, Command, read_csv, sinew


class Demo(Command):
    def test_demo(self):
        build = self.place / "build"
        build.mkdir()
        os.symlink(SINEW, build / "sinew")
        done = subprocess.run([SOURCE / "scripts" / "demo.sh", build], capture_output=True, text=True, check=False,
                              cwd=self.place)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("scenes/demo.yaml: done, t = 0 to 10 ", done.stdout)
        for name in ("demo.csv", "demo.svg", "bridge.html"):
            self.assertIn(f"  {build / 'demo' / name} ", done.stdout)
        courses = [line for line in done.stdout.splitlines() if "▁" in line]
        self.assertEqual(len(courses), 7)
        self.assertTrue(all(sum(line.count(c) for c in "▁▂▃▄▅▆▇█") == 64 for line in courses))

        page = (build / "demo" / "bridge.html").read_text(encoding="utf-8")
        story = json.loads(re.search(r'<script type="application/json" id="panel">(.*?)</script>', page, re.DOTALL)[1])
        self.assertEqual((story["sliders"][0]["min"], story["sliders"][0]["max"]), (1, 1e8))
        recording = re.search(r'id="recording">([A-Za-z0-9+/=]*)</script>', page)[1]
        self.assertEqual(base64.b64decode(recording)[:4], b"SNR1")

        table = read_csv(build / "demo" / "demo.csv")
        self.assertEqual((len(table["t"]), table["t"][-1]), (501, 10))
        picture = ElementTree.parse(build / "demo" / "demo.svg").getroot()
        animations = picture.findall(".//{http://www.w3.org/2000/svg}animate")
        self.assertEqual(len(animations), 7)
        for animation in animations:
            self.assertEqual(animation.get("dur"), "10s")
            self.assertEqual(len(animation.get("values").split(";")), 501)

    def test_drawing_something_else(self):
        out = self.place / "motion.csv"
        sinew("run", SOURCE / "scenes" / "pendulum.yaml", "--out", out, "--channels", "*.pos.*", "--duration", "0.1")
        draw = ["awk", "-f", str(SOURCE / "scripts" / "draw.awk")]
        done = subprocess.run([*draw, "-v", "lines=red 1 rood", str(out)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "draw.awk: no column rood.pos.x\n"))
        done = subprocess.run([*draw, str(self.write("x.csv", "a,b\n1,2\n"))], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "draw.awk: no column t\n"))


if __name__ == "__main__":
    unittest.main()
