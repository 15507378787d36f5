"""docs/gallery.md has every scene that is shipped, with a picture (scripts/gallery.sh makes both)."""
import re
import unittest

from command import SCENES, SOURCE


class Gallery(unittest.TestCase):
    def test_every_scene_is_there(self):
        page = (SOURCE / "docs" / "gallery.md").read_text(encoding="utf-8")
        listed = re.findall(r"!\[[^\]]+\]\((gallery/[^)]+\.png)\)<br>[^|]+<br>\[(scenes/[^\]]+)\]\(\.\./\2\)", page)
        shipped = sorted(str(path.relative_to(SOURCE)) for path in SCENES.rglob("*.yaml") if path.parent.name != "use")
        self.assertEqual(sorted(scene for _, scene in listed), shipped, "run scripts/gallery.sh")
        pictures = sorted(str(path.relative_to(SOURCE / "docs")) for path in (SOURCE / "docs" / "gallery").iterdir())
        self.assertEqual(sorted(picture for picture, _ in listed), pictures, "run scripts/gallery.sh")


if __name__ == "__main__":
    unittest.main()
