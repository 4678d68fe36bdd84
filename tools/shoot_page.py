"""Takes the picture of the page that the README shows: the example, which needs no model.

    python3 tools/shoot_page.py [FILE.png]     docs/page.png if nothing else is said; FOVEA_BUILD says which build serves
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/python"), str(ROOT / "tools")]
from PIL import Image  # noqa: E402

import web_tools  # noqa: E402
from serving import serving  # noqa: E402


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/page.png").resolve()
    whole = target.with_suffix(".whole.png")
    with serving() as served:
        web_tools.Workspace().play("shots.mjs", "shot", f"http://127.0.0.1:{served.port}", {
            "file": str(whole), "fragment": "p=text&r=example&l=2&h=8&i=8&j=10", "width": 1280, "height": 720, "dark": False, "wait": ".others button"})
    # Few colours are lost on few shades, and the file is a third.
    Image.open(whole).convert("RGB").quantize(256).save(target, optimize=True)
    whole.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
