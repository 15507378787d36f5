"""Every citation in the tree, such as [RMS 20] or [RM Alg 1], is one that docs/references.md lists."""
import os
import re
import sys

root = os.environ.get("SINEW_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8}


def number(text):
    text = text.split(".")[0].split("-")[0]
    return ROMAN.get(text) or (int(text) if text.isdigit() else None)


def listed():
    """tag -> kind -> (first, last)"""
    tags = {}
    with open(os.path.join(root, "docs", "references.md"), encoding="utf-8") as f:
        for line in f:
            cell = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cell) == 5 and re.fullmatch(r"[A-Z]+", cell[0]):
                spans = [tuple(number(x) for x in c.split("-")) for c in cell[2:]]
                tags[cell[0]] = dict(zip(("equation", "algorithm", "section"), spans))
    return tags


def problem(tags, tag, rest):
    """What is wrong with the citation [tag rest], or None."""
    if tag not in tags:
        return "unknown tag"
    for part in re.split(r",\s*", rest.split(";")[0]):
        m = re.fullmatch(r"(Alg )?([IVX]+|\d+)([.-][A-Za-z0-9.-]+)?(?: l\.\d+)?", part)
        if not m:
            return None if re.search(r"[a-z]{3}", part) else "cannot be read"
        kind = "algorithm" if m.group(1) else "section" if (m.group(3) or "").startswith(".") or m.group(2) in ROMAN else "equation"
        first, last = tags[tag][kind]
        ends = [number(m.group(2))]
        if kind == "equation" and (m.group(3) or "").startswith("-"):
            ends.append(number(m.group(3)[1:]))
        if any(e is None or not first <= e <= last for e in ends):
            return f"no such {kind}"
    return None


def main():
    tags = listed()
    assert set(tags) == {"RM", "RMS", "FA", "GLM", "LLK"}, tags
    # the check itself can fail
    assert problem(tags, "RMS", "64") and problem(tags, "RM", "Alg 4") and problem(tags, "XX", "1")
    assert not problem(tags, "RMS", "36-41") and not problem(tags, "RMS", "4.7") and not problem(tags, "GLM", "IV-A")
    bad = count = 0
    for folder in ("include", "src", "bench", "tests", "viewer", "python"):
        for path, _, files in os.walk(os.path.join(root, folder)):
            if "node_modules" in path:
                continue
            for name in files:
                if not name.endswith((".c", ".h", ".ts", ".py", ".cpp")) or name == "test_references.py":
                    continue
                full = os.path.join(path, name)
                with open(full, encoding="utf-8") as f:
                    for k, line in enumerate(f, 1):
                        for m in re.finditer(r"\[([A-Z]{2,3}) ((?:Alg )?[0-9IVX][^\]]*)\]", line):
                            count += 1
                            why = problem(tags, m.group(1), m.group(2))
                            if why:
                                bad += 1
                                print(f"{os.path.relpath(full, root)}:{k}: {m.group(0)}: {why}")
    print(f"{count} citations, {bad} bad")
    assert count > 20, "the search found too few citations to be right"
    return 1 if bad else 0


sys.exit(main())
