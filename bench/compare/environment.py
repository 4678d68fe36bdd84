"""The Python with PyTorch: one that the user names, or a virtual environment in fovea's cache, made when first needed."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

from turns import Failed

ROOT = pathlib.Path(__file__).resolve().parents[2]  # the checkout, or share/fovea of an installation
REQUIREMENTS = ROOT / "tools/fixture-requirements.txt"
VARIABLE = "FOVEA_BENCH_PYTHON"
INSTALL_S = 1800


def cache_folder():
    """As in fovea/checkpoint/resolve.cc."""
    if own := os.environ.get("FOVEA_CACHE"):
        return pathlib.Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(shared) if shared else pathlib.Path.home() / ".cache") / "fovea"


def say(text):
    print(f"fovea: {text}", file=sys.stderr, flush=True)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def names():
    return ", ".join(REQUIREMENTS.read_text().split())


def find_python(given):
    """`given` may be None. Throws Failed with one line if there is none and none can be made."""
    if given or (given := os.environ.get(VARIABLE)):
        return pathlib.Path(given)
    venv = cache_folder() / "bench/venv"
    wanted = hashlib.sha256(f"{venv}\n{sys.version}\n{REQUIREMENTS.read_text()}".encode()).hexdigest()
    stamp = venv / "requirements.sha256"
    if not (stamp.exists() and stamp.read_text() == wanted):
        make_venv(venv)
        stamp.write_text(wanted)
    return venv / "bin/python"


def make_venv(venv):
    other = f"--python PATH or {VARIABLE} names a Python that has {names()}"
    if os.environ.get("FOVEA_OFFLINE", "0") not in ("", "0"):
        raise Failed(f"PyTorch is not in {venv} and FOVEA_OFFLINE is set; {other}")
    say(f"PyTorch is compared with: installing {names()} with pip into {venv}")
    say("(about 300 MB to download and 1.3 GB on disk; up to 3 GB and 7 GB where pip finds no build for processors alone)")
    try:
        venv.parent.mkdir(parents=True, exist_ok=True)
        steps = [[sys.executable, "-m", "venv", "--clear", venv],
                 [venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", "-r", REQUIREMENTS]]
        for step in steps:
            done = subprocess.run(step, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_S)
            if done.returncode != 0:
                what = "has no venv module (on Debian: python3-venv)" if step is steps[0] else "could not install them"
                raise Failed(f"{sys.executable} {what}: {last_line(done.stderr or done.stdout)}; {other}")
    except subprocess.TimeoutExpired:
        raise Failed(f"pip was not ready after {INSTALL_S} s; {other}") from None
    except OSError as error:
        raise Failed(f"{venv} cannot be made: {error.strerror}; {other}") from None
    except BaseException:
        shutil.rmtree(venv, ignore_errors=True)  # nothing that is half done
        raise
