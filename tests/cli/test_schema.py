"""The JSON Schema and the reader agree, and the manual's tables are those of the command.

`sinew schema` says invalid exactly when `sinew check` finds a structural problem: in every scene of
this tree, in every malformed one under tests/data/bad, and in some hundreds of scenes that were
damaged at random.

    test_schema.py            check
    test_schema.py --update   write the tables of docs/scene.md anew
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import yaml

SOURCE = pathlib.Path(os.environ.get("SINEW_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SINEW = os.environ.get("SINEW", str(SOURCE / "build" / "sinew"))
DATA = SOURCE / "tests" / "data"
MUTATIONS = 4000 if os.environ.get("SINEW_SOAK") else 500
BEGIN, END = "<!-- sinew schema --markdown -->\n", "<!-- end -->\n"


class NotYaml(Exception):
    pass


def scalar(event):
    """A plain word as YAML 1.2 sees it (core schema); the reader asks the key instead."""
    text = event.value
    if event.style in ("'", '"', "|", ">"):
        return text
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        return float(text)
    if re.fullmatch(r"[-+]?\.(inf|Inf|INF)", text):
        return float(text.replace(".", ""))
    if text in (".nan", ".NaN", ".NAN"):
        return float("nan")
    return text


def build(events):
    """The next value; anchors, aliases, tags and duplicate keys are not of this format."""
    event = next(events)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise NotYaml("anchor")
    if getattr(event, "tag", None):
        raise NotYaml("tag")
    if isinstance(event, yaml.ScalarEvent):
        return scalar(event)
    if isinstance(event, yaml.SequenceStartEvent):
        values = []
        while True:
            value = build(events)
            if value is build:
                return values
            values.append(value)
    if isinstance(event, yaml.MappingStartEvent):
        values = {}
        while True:
            event = next(events)
            if isinstance(event, yaml.MappingEndEvent):
                return values
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                raise NotYaml("key")
            if event.value in values or (event.value == "<<" and not event.style):
                raise NotYaml("duplicate key")
            values[event.value] = build(events)
    if isinstance(event, yaml.SequenceEndEvent):
        return build
    raise NotYaml(str(event))


def load(data):
    try:
        events = yaml.parse(data.decode("utf-8"), Loader=yaml.CBaseLoader)
        events = (e for e in list(events) if not isinstance(e, yaml.StreamStartEvent))
        if not isinstance(next(events), yaml.DocumentStartEvent):
            return None
        value = build(events)
        if not isinstance(next(events), yaml.DocumentEndEvent):
            raise NotYaml("more")
        if isinstance(next(events), yaml.DocumentStartEvent):
            raise NotYaml("second document")
        return value
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise NotYaml(str(error)) from error


def run(*arguments):
    return subprocess.run([SINEW, *map(str, arguments)], capture_output=True, check=False)


def structural(path):
    """What the reader calls structural in this very file; None: it is too deep to be read at all."""
    done = run("check", "--json", path)
    assert done.returncode in (0, 2), f"{path}: exit code {done.returncode}\n{done.stderr.decode()}"
    errors = json.loads(done.stdout)["errors"]
    if any(e["text"].startswith("nesting deeper than") for e in errors):
        return None
    return [e for e in errors if e["kind"] == "structural" and e["file"] == str(path)]


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(run("schema").stdout)
        jsonschema.Draft7Validator.check_schema(cls.schema)
        cls.validator = jsonschema.Draft7Validator(cls.schema)

    def complaint(self, data):
        """What the schema says about a text; None: valid."""
        try:
            value = load(data)
        except NotYaml as error:
            return f"not YAML: {error}"
        error = jsonschema.exceptions.best_match(self.validator.iter_errors(value))
        return error and f"{'.'.join(map(str, error.absolute_path))}: {error.message}"

    def compare(self, path):
        data = path.read_bytes()
        reader = structural(path)
        if reader is None:
            return True
        schema = self.complaint(data)
        if bool(reader) != bool(schema):
            text = data.decode(errors="replace")
            self.fail(f"{path}\nreader: {reader}\nschema: {schema}\n{text[:6000]}")
        return bool(reader)

    def good(self):
        return sorted([*(SOURCE / "scenes").rglob("*.yaml"), *(DATA / "good").rglob("*.yaml")])

    def test_good_scenes(self):
        self.assertGreater(len(self.good()), 20)
        for path in self.good():
            with self.subTest(scene=path.name):
                self.assertFalse(self.compare(path))

    def test_bad_scenes(self):
        scenes = [p for p in sorted((DATA / "bad").glob("*.yaml")) if p.is_file()]
        self.assertGreater(len(scenes), 30)
        for path in scenes:
            with self.subTest(scene=path.name):
                self.compare(path)

    def test_every_key_is_exercised(self):
        """The scene everything.yaml has every key that the schema knows."""
        known, used = set(), set()

        def names(value):
            if isinstance(value, dict):
                known.update(value["properties"] if isinstance(value.get("properties"), dict) else ())
                for key, inner in value.items():
                    if key not in ("properties", "default", "required"):
                        names(inner)
                if isinstance(value.get("properties"), dict):
                    for inner in value["properties"].values():
                        names(inner)
            elif isinstance(value, list):
                for inner in value:
                    names(inner)

        def keys(value):
            if isinstance(value, dict):
                used.update(value)
                for inner in value.values():
                    keys(inner)
            elif isinstance(value, list):
                for inner in value:
                    keys(inner)

        names(self.schema)
        keys(load((DATA / "good" / "everything.yaml").read_bytes()))
        blocks = self.schema["properties"]["run"]["properties"]
        methods_to_come = {key for key, block in blocks.items() if block.get("type") == "object"}
        self.assertEqual(known - used - methods_to_come, set(), "write these into everything.yaml")

    def test_mutations(self):
        """Scenes damaged in one to three places; each seed is a scene of its own."""
        scenes = [load(p.read_bytes()) for p in self.good() if p.parent.name != "parts"]
        invalid = 0
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "parts").symlink_to(DATA / "good" / "parts")
            path = pathlib.Path(folder) / "scene.yaml"
            for seed in range(MUTATIONS):
                rng = random.Random(seed)
                scene = json.loads(json.dumps(rng.choice(scenes)))
                for _ in range(rng.randint(1, 3)):
                    mutate(scene, rng)
                path.write_text(json.dumps(scene, indent=1))
                with self.subTest(seed=seed):
                    invalid += self.compare(path)
        # the test is worth something if it sees both sides often
        self.assertGreater(invalid, MUTATIONS / 4)
        self.assertGreater(MUTATIONS - invalid, MUTATIONS / 20)

    def test_plain_words(self):
        """Words that YAML takes for something else, and spellings that JSON does not have."""
        words = ["no", "yes", "on", "true", "True", "FALSE", "null", "~", "", ".nan", ".inf", "-.inf",
                 "1e999", "-1e999", "0x10", "1_000", "1e3", "+5", "5.", ".5", "-3", "0", "2.5", '"1"', '"-1"',
                 "'true'", '"null"', '""', "012", "1:30", "2020-01-01", "nan", "inf", "a b", "a/b", "a/", "/a",
                 "left/arm", "ä", "[]", "{}", "[1]", "[1, 2]", "[1, 2, 3]", "[[1, 2]]", "[no, 1, 2]",
                 "[null, 1, 2]", "[true, 1, 2]", "1e3*deg", "-pi", "3000000000", "1000000", "1000001"]
        places = ["sinew: 1\nunits: {}\n", "sinew: 1\nup: {}\n", "sinew: 1\ngravity: {}\n", "sinew: {}\n",
                  "sinew: 1\ncontacts: {{steel: {{friction: {}}}}}\n",
                  "sinew: 1\nrun: {{step: {}}}\n", "sinew: 1\nrun: {{recursive: {{max_steps: {}}}}}\n",
                  "sinew: 1\nrun: {{record: {{channels: {}}}}}\n", "sinew: 1\nrun: {{projective: {}}}\n",
                  "sinew: 1\nrun: {{method: {}}}\n", "sinew: 1\nuse: {}\n", "sinew: 1\ndefaults: {}\n",
                  "sinew: 1\nmotions: {{m: {{joint: {}, q: 1}}}}\n",
                  "sinew: 1\nmotions: {{m: {{joint: a, q: {}}}}}\n",
                  "sinew: 1\nmotions: {{m: {{joint: a, q: 1, active: {}}}}}\n",
                  "sinew: 1\nmotions: {{m: {{joint: a, q: {{csv: {}, column: x}}}}}}\n",
                  "sinew: 1\nmotions: {{m: {{joint: a, q: {{csv: x, column: {}}}}}}}\n",
                  "sinew: 1\nmotions: {{m: {{joint: a, q: {{keyframes: {}}}}}}}\n",
                  "sinew: 1\ninitial: {{b: {{q: {}}}}}\n", "sinew: 1\ninitial: {{b: {{pose: {}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{parent: {}, joint: {{type: fixed}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: fixed}}, damping: {}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: fixed, limits: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: spline_curve, frames: [1], cyclic: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: spline_curve, frames: [[1, 2, 3]], cyclic: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: spline_surface, grid: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: composite, parts: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: fixed}}, repeat: {{count: {}}}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: fixed}}, repeat: {}}}}}\n",
                  "sinew: 1\nbodies: {{a: {{joint: {{type: fixed}}, shapes: {}}}}}\n",
                  "sinew: 1\nbodies: {{a: {}}}\n", "sinew: 1\nbodies: {}\n", "{}\n",
                  "sinew: 1\nbodies: {{{}: {{joint: {{type: fixed}}}}}}\n",
                  "sinew: 1\ninitial: {{{}: {{q: 1}}}}\n",
                  "sinew: 1\nuse: [{{file: x, prefix: {}}}]\n", "sinew: 1\nuse: [{{file: {}}}]\n",
                  "sinew: 1\ndefaults: {{joint: {}}}\n", "sinew: 1\ndefaults: {{joint: {{stiffness: {}}}}}\n",
                  "sinew: 1\ndefaults: {{force: {{torque: {}}}}}\n",
                  "sinew: 1\ndefaults: {{joint: {{}}}}\nbodies: {{a: {{joint: {}}}}}\n"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "scene.yaml"
            pairs = [(place, word) for place in places for word in words]
            if not os.environ.get("SINEW_SOAK"):
                pairs = random.Random(1).sample(pairs, 600)
            for place, word in pairs:
                path.write_text(place.format(word))
                with self.subTest(place=place, word=word):
                    self.compare(path)

    def test_manual_is_up_to_date(self):
        manual = (SOURCE / "docs" / "scene.md").read_text()
        self.assertIn(BEGIN, manual)
        tables = manual.split(BEGIN)[1].split(END)[0]
        self.assertEqual(tables, run("schema", "--markdown").stdout.decode(),
                         "run tests/cli/test_schema.py --update")


def containers(value):
    found = [value] if isinstance(value, (dict, list)) and value else []
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found += containers(inner)
    return found


def random_value(rng, other):
    return rng.choice([
        lambda: rng.choice([0, -1, 1, 2.5, -0.5, 1e300, 7, 1000001]),
        lambda: rng.choice(["", "no", "left/arm", "two words", "pi/2", "-pi", "sin(t)", "(1", "revolute", "box",
                            "spring", "cubic", "body", "world", "free", "universal", "recursive"]),
        lambda: rng.choice([True, False, None]),
        lambda: [rng.choice([1, -1, 0.5, "pi", None, "x", [1, 2]]) for _ in range(rng.randint(0, 7))],
        lambda: rng.choice([{}, {"pos": [0, 0, 0]}, {"type": "fixed"}, {"keyframes": [[0, 1]]},
                            {"csv": "parts/motion.csv", "column": "hip.q"}, {"body": "world"}]),
        lambda: json.loads(json.dumps(other)),
    ])()


def mutate(scene, rng):
    place = rng.choice(containers(scene))
    donor = rng.choice(containers(scene))
    other = rng.choice(list(donor.values()) if isinstance(donor, dict) else donor)
    if isinstance(place, dict):
        key = rng.choice(list(place))
        keys = ["type", "at", "axis", "parent", "stiffness", "damping", "active", "joint", "shapes", "repeat",
                "defaults", "torque", "body", "q", "x y", "1st", "a", "count", "run", "pitch", "density"]
        what = rng.randint(0, 5)
        if what == 0:
            del place[key]
        elif what == 1:
            place[rng.choice(keys)] = place.pop(key)
        elif what == 2:
            place[rng.choice(keys)] = random_value(rng, other)
        else:
            place[key] = random_value(rng, other)
    else:
        index = rng.randrange(len(place))
        what = rng.randint(0, 3)
        if what == 0:
            del place[index]
        elif what == 1:
            place.insert(index, json.loads(json.dumps(place[index])))
        else:
            place[index] = random_value(rng, other)


def update():
    path = SOURCE / "docs" / "scene.md"
    before, rest = path.read_text().split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(before + BEGIN + run("schema", "--markdown").stdout.decode() + END + after)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
