"""`sinew plot`: curves are where their numbers say."""
import math
import unittest
import xml.etree.ElementTree

from command import BAD_INPUT, SCENES, Command, read_csv

SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    def __init__(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        assert root.tag == SVG + "svg"
        self.texts = [t.text for t in root.iter(SVG + "text")]
        self.curves = [[tuple(map(float, p.split(","))) for p in line.get("points").split()]
                       for line in root.iter(SVG + "polyline")][::-1]  # the first is drawn last
        self.box = {k: float(v) for k, v in next(r for r in root.iter(SVG + "rect") if r.get("fill") == "none").items()
                    if k in ("x", "y", "width", "height")}
        self.labels = [(float(t.get("x")), float(t.get("y")), t.text, t.get("text-anchor"))
                       for t in root.iter(SVG + "text")]

    def scale(self, along_x):
        """How numbers become places, from the labels of two ticks."""
        found = []
        for x, y, text, anchor in self.labels:
            if anchor == ("middle" if along_x else "end"):
                try:
                    found.append((float(text), x if along_x else y - 4))
                except ValueError:
                    pass
        (v0, p0), (v1, p1) = found[0], found[-1]
        return lambda v: p0 + (v - v0) * (p1 - p0) / (v1 - v0)


class Plot(Command):
    def test_curves_follow_the_numbers(self):
        csv, svg = self.place / "a.csv", self.place / "a.svg"
        self.good("run", SCENES / "double_pendulum.yaml", "--duration", "2", "--quiet", "--out", csv)
        self.assertEqual(self.good("plot", csv, "upper.q", "lower.q", "-o", svg), f"{svg}: 2 curves of 201 points\n")
        data, picture = read_csv(csv), Picture(svg)
        self.assertEqual(len(picture.curves), 2)
        x, y = picture.scale(True), picture.scale(False)
        for name, curve in zip(("upper.q", "lower.q"), picture.curves):
            self.assertIn(name, picture.texts)
            self.assertEqual(len(curve), 201)
            for (px, py), t, q in zip(curve, data["t"], data[name]):
                self.assertAlmostEqual(px, x(t), delta=0.2)
                self.assertAlmostEqual(py, y(q), delta=0.2)

    def test_recording_and_table_give_the_same_picture(self):
        pictures = []
        for suffix in "csv", "snr":
            data, svg = self.place / f"a.{suffix}", self.place / f"{suffix}.svg"
            self.good("run", SCENES / "pendulum.yaml", "--quiet", "--out", data)
            self.good("plot", data, "*", "-o", svg, "--title", "swing", "--quiet")
            pictures.append(svg.read_bytes())
        self.assertEqual(*pictures)

    def test_long_curves_keep_their_extremes(self):
        """A spike of one row in a million is seen, and the file stays small."""
        n = 100000
        csv = self.write("a.csv", "t,y\n" + "".join(f"{k},{math.sin(k)}\n" if k != 54321 else f"{k},5\n" for k in range(n)))
        svg = self.place / "a.svg"
        self.good("plot", csv, "y", "-o", svg, "--quiet")
        picture = Picture(svg)
        self.assertLess(len(picture.curves[0]), 8000)
        x, y = picture.scale(True), picture.scale(False)
        top = min(picture.curves[0], key=lambda p: p[1])
        self.assertAlmostEqual(top[0], x(54321), delta=0.3)
        self.assertAlmostEqual(top[1], y(5), delta=0.3)

    def test_everything_stays_in_the_box(self):
        csv, svg = self.place / "a.csv", self.place / "a.svg"
        for values in ([1, 1, 1], [0, 0, 0], [1e9, 1e9 + 1, 1e9], [-1e-300, 1e-300, 0], [1e300, -1e300, 0], [5, 5 + 1e-15, 5]):
            csv.write_text("t,y\n" + "".join(f"{k},{v!r}\n" for k, v in enumerate(values)), encoding="utf-8")
            self.good("plot", csv, "y", "-o", svg, "--quiet")
            p = Picture(svg)
            for x, y in p.curves[0]:
                self.assertTrue(p.box["x"] - 0.1 <= x <= p.box["x"] + p.box["width"] + 0.1, values)
                self.assertTrue(p.box["y"] - 0.1 <= y <= p.box["y"] + p.box["height"] + 0.1, values)

    def test_names_are_escaped(self):
        csv, svg = self.write("a<b>&.csv", 't,"y<&>"\n0,1\n1,2\n'), self.place / "a.svg"
        self.good("plot", csv, "y<&>", "-o", svg, "--quiet")
        self.assertIn("y<&>", Picture(svg).texts)

    def test_refused(self):
        csv, svg = self.write("a.csv", "t,hip.q\n0,1\n1,2\n"), self.place / "a.svg"
        self.bad(BAD_INPUT, f"sinew plot: {csv} has no channel 'hip.p': did you mean 'hip.q'?", "plot", csv, "hip.p", "-o", svg)
        self.bad(BAD_INPUT, "sinew plot: -o FILE.svg is missing: where should the picture go?", "plot", csv, "hip.q")
        self.bad(BAD_INPUT, "sinew plot: something is missing: sinew plot FILE CHANNEL... -o PLOT.svg", "plot", csv, "-o", svg)
        one = self.write("one.csv", "t,y\n0,1\n")
        self.bad(BAD_INPUT, f"sinew plot: {one} has 1 row, a curve needs two", "plot", one, "y", "-o", svg)
        many = self.write("many.csv", "t," + ",".join(f"y{k}" for k in range(9)) + "\n" + 2 * ("0," + ",".join("123456789") + "\n"))
        self.bad(BAD_INPUT, "sinew plot: more than 8 curves cannot be told apart: choose fewer channels", "plot", many, "y*", "-o", svg)
        self.assertFalse(svg.exists())
        self.bad(BAD_INPUT, f"sinew plot: -o {csv} would be written over {csv}: give it another name", "plot", csv, "hip.q", "-o", csv)


if __name__ == "__main__":
    unittest.main()
