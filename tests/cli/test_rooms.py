"""Lower rooms never include upper ones: base < math < linear < model < dynamics < contact < methods < io < cli."""
import os
import re
import sys

root = os.environ.get("SINEW_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = ["base", "math", "linear", "model", "dynamics", "contact", "methods", "io", "cli"]


def main():
    bad = count = 0
    for path, _, files in os.walk(os.path.join(root, "src")):
        room = os.path.relpath(path, os.path.join(root, "src")).split(os.sep)[0]
        for name in files:
            if not name.endswith((".c", ".h")):
                continue
            full = os.path.join(path, name)
            assert room in ROOMS, f"{full} is in no room"
            with open(full, encoding="utf-8") as f:
                for k, line in enumerate(f, 1):
                    m = re.match(r'\s*#\s*include\s+"(\w+)/', line)
                    if m and m.group(1) in ROOMS:
                        count += 1
                        if ROOMS.index(m.group(1)) > ROOMS.index(room):
                            bad += 1
                            print(f"{os.path.relpath(full, root)}:{k}: {room} includes {m.group(1)}, which lies above it")
    print(f"{count} includes, {bad} upwards")
    assert count > 50, "the search found too few includes to be right"
    return 1 if bad else 0


sys.exit(main())
