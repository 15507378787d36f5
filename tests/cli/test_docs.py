"""Everything in the manual that can be run is run: README.md and docs/*.md.

What stands between fences is one of these, by the words behind the opening fence:

    sh              commands, run one after the other in a copy of the tree.  If lines start with `$ `, these are the
                    commands (`> ` continues one) and the lines below them what they print; `...` stands for any text,
                    on a line of its own for any lines.  The exit status must be 0, or N if the command ends in
                    `# exit N`.  Otherwise the whole block is a script.  Lines that start with `make` are not run:
                    the target must exist.
    yaml            with `sinew: 1` in it: a scene, which must be valid; with `invalid` behind yaml: which must not
    c               with `int main` in it: a program that compiles against the library and runs
    anything else   is not run

`file=NAME` behind the language, or the words "Save this as `NAME`" above the fence, write the block into a file for the
commands that follow.  All blocks of a page share one copy of the tree, in which `sinew` and `build/sinew` are the
command.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from command import SINEW, SOURCE, sinew

BUILD = pathlib.Path(os.environ.get("SINEW_BUILD_DIR", pathlib.Path(SINEW).parent))
CC = os.environ.get("SINEW_CC", "cc")
SANITIZE = os.environ.get("SINEW_SANITIZE", "")


class Block:
    def __init__(self, page, line, above, info, text):
        self.where = f"{page.relative_to(SOURCE)}, line {line}"
        self.language, *self.words = info.split() or [""]
        named = re.search(r"file=(\S+)", info) or re.search(r"Save this as `([^`]+)`", above)
        self.file = named and named[1]
        self.text = text


def blocks(page):
    found, start, above, info, lines = [], None, "", "", []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            if start is None:
                start, info, lines = number, line[3:], []
            else:
                found.append(Block(page, start, above, info, "".join(f"{x}\n" for x in lines)))
                start, above = None, ""
        elif start is not None:
            lines.append(line)
        elif line:
            above = line
    assert start is None, f"{page}: the fence of line {start} is not closed"
    return found


def commands(text):
    """[(command, expected output or None)]"""
    if not re.search(r"(?m)^\$ ", text):
        return [["".join(line for line in text.splitlines(True) if not line.startswith("make")), None]]
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], None])
        elif line.startswith("> ") and found[-1][1] is None:
            found[-1][0] += "\n" + line[2:]
        else:
            found[-1][1] = (found[-1][1] or "") + line + "\n"
    return found


def pattern(expected):
    """A regular expression for output in which ... stands for anything."""
    lines = []
    for line in expected.splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(map(re.escape, line.split("..."))) + r"\n")
    return re.compile("".join(lines))


class Docs(unittest.TestCase):
    maxDiff = None

    def page(self, path):
        place = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, place)
        tree = place / "tree"
        shutil.copytree(SOURCE, tree, symlinks=True, ignore=lambda folder, names: [
            name for name in names if pathlib.Path(folder) == SOURCE and re.match(r"build|\.git$", name)])
        (tree / "build").mkdir()
        os.symlink(SINEW, tree / "build" / "sinew")
        environment = {**os.environ, "PATH": f"{tree / 'build'}:{os.environ['PATH']}"}
        count = 0
        for block in blocks(path):
            with self.subTest(block=block.where):
                count += self.block(block, tree, environment)
        return count

    def block(self, block, tree, environment):
        if block.file:
            (tree / block.file).write_text(block.text, encoding="utf-8")
        if block.language == "sh":
            for target in re.findall(r"(?m)^(?:\$ )?make ([a-z-]+)", block.text):
                self.assertRegex((SOURCE / "Makefile").read_text(), rf"(?m)^{target}:")
            for command, expected in commands(block.text):
                self.command(command, expected, tree, environment)
        elif block.language == "yaml" and re.search(r"(?m)^sinew: 1\b", block.text):
            done = sinew("check", "-", stdin=block.text, cwd=tree)
            self.assertEqual(done.returncode, 2 if "invalid" in block.words else 0, done.stderr)
        elif block.language == "c" and "int main" in block.text:
            self.program(block.text, tree)
        else:
            return 0
        return 1

    def command(self, command, expected, tree, environment):
        status = re.search(r"# exit (\d+)\s*$", command)
        done = subprocess.run(["bash", "-c", "set -euo pipefail\n" + command], cwd=tree, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, int(status[1]) if status else 0, f"{command}\n{done.stdout}")
        if expected is not None and not pattern(expected).fullmatch(done.stdout):
            self.fail(f"$ {command}\nprints\n{done.stdout}\nand the manual says\n{expected}")

    def program(self, text, tree):
        source, program = tree / "program.c", tree / "program"
        source.write_text(text, encoding="utf-8")
        flags = [f"-fsanitize={SANITIZE}"] if SANITIZE else []
        subprocess.run([CC, "-std=c17", "-Wall", "-Wextra", "-Werror", *flags, f"-I{tree / 'include'}", source,
                        "-o", program, f"-L{BUILD}", "-lsinew", f"-Wl,-rpath,{BUILD}", "-lm"], check=True)
        done = subprocess.run([program], cwd=tree, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


def add(path):
    name = re.sub(r"\W", "_", str(path.relative_to(SOURCE)))

    def test(self):
        self.page(path)
    setattr(Docs, f"test_{name}", test)


for PAGE in sorted([SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]):
    if PAGE.exists():
        add(PAGE)


class Itself(unittest.TestCase):
    """The test tells right from wrong."""

    def test_outputs(self):
        self.assertTrue(pattern("a ... c\n...\nend\n").fullmatch("a b c\nx\ny\nend\n"))
        self.assertTrue(pattern("a\n...\nend\n").fullmatch("a\nend\n"))
        self.assertFalse(pattern("a ... c\n").fullmatch("a b d\n"))
        self.assertFalse(pattern("a\n").fullmatch("a\nb\n"))
        self.assertFalse(pattern("1.5\n").fullmatch("1x5\n"))

    def test_commands(self):
        self.assertEqual(commands("$ a \\\n>   b\nout\n$ c\n"), [["a \\\n  b", "out\n"], ["c", None]])
        self.assertEqual(commands("a\nb\n"), [["a\nb\n", None]])

    def test_the_manual_is_found(self):
        pages = [name for name in dir(Docs) if name.startswith("test_docs_")]
        self.assertIn("test_docs_command_md", pages)
        self.assertIn("test_docs_first_steps_md", pages)
        self.assertGreater(len(blocks(SOURCE / "docs" / "command.md")), 10)


if __name__ == "__main__":
    unittest.main()
