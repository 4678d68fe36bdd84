"""Prints how long a reader of the page waits, on both back ends: medians over a few times, in milliseconds.

    python3 tools/time_page.py [REPEATS]     FOVEA_BUILD says which build serves
"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/python"), str(ROOT / "tools")]
import web_tools  # noqa: E402
from serving import serving  # noqa: E402
from test_app import LONG_TOKENS, causal_run  # noqa: E402

MIDDLE_TOKENS = 4096


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    workspace = web_tools.Workspace()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        causal_run(folder / "middle.fovea.safetensors", MIDDLE_TOKENS)
        causal_run(folder / "long.fovea.safetensors", LONG_TOKENS)
        with serving(*sorted(folder.glob("*.safetensors"))) as served:
            runs = {each["name"].split(".")[0]: each["run"] for each in served.json("/v1/runs")["runs"]}
            for gl in (0, 1):
                print("GPU, or a program in its place" if gl else "CPU")
                data = {"gl": gl, "repeats": repeats, "middle": runs["middle"], "long": runs["long"]}
                for what, took in workspace.play("times.mjs", "times", f"http://127.0.0.1:{served.port}", data).items():
                    print(f"  {what:45} {took:8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
