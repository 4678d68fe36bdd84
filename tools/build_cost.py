"""What the last build cost: lines that the compiler read and seconds that it took, folder by folder.

    python3 tools/build_cost.py [BUILD]               folders (default: build/release)
    python3 tools/build_cost.py [BUILD] --headers     headers of fovea/: their lines, times the objects that read them

Lines are those after preprocessing, without blank ones; they are the same on every run, so a test holds them to the budget in
docs/architecture.md. Seconds are how long ninja waited for each step of the last build, which on idle cores is processor
time; what came out of ccache counts as little as it took. Standard library only.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failed(Exception):
    """The build cannot be read; the message says why and what to do."""


@dataclasses.dataclass
class Cost:
    objects: int = 0
    lines: int = 0
    seconds: float = 0.0


@dataclasses.dataclass
class Compilation:
    folder: str  # "fovea/explain", "tests"
    output: str
    command: list[str]  # the compiler and its options, without input and output
    source: str


def ninja(build, *arguments):
    result = subprocess.run(["ninja", "-C", build, *arguments], capture_output=True, text=True)
    if result.returncode != 0:
        raise Failed(f"{build}: ninja cannot read it; run ./run first: {result.stderr.strip()}")
    return result.stdout


def compilations(build):
    """Every object that the build makes of a C++ source."""
    if not (build / "build.ninja").is_file():
        raise Failed(f"{build} holds no build; run ./run first, or name the folder of another")
    found = []
    for entry in json.loads(ninja(build, "-t", "compdb")):
        words = shlex.split(entry["command"].split(" && ")[0])
        if "-c" not in words or not entry["output"].endswith(".o"):
            continue
        first = next((i for i, word in enumerate(words) if re.search(r"(?:\+\+|cc|clang)(?:-\d+)?$", word) and "ccache" not in word), 0)
        words = words[first:]
        for name in ("-o", "-c", "-MT", "-MF"):
            at = words.index(name)
            del words[at : at + 2]
        parts = entry["output"].split("/")
        folder = "/".join(parts[:2]) if parts[0] == "fovea" else parts[0]
        found.append(Compilation(folder, entry["output"], [word for word in words if word != "-MD"], entry["file"]))
    return found


def count_lines(command, source, build):
    """The lines of a source after preprocessing, less blank ones and those that tell where the others come from."""
    result = subprocess.run([*command, "-E", "-P", source], cwd=build, capture_output=True)
    if result.returncode != 0:
        raise Failed(f"{source} cannot be preprocessed: {result.stderr.decode(errors='replace').strip()}")
    return sum(1 for line in result.stdout.splitlines() if line.strip())


def step_seconds(build):
    """Output -> seconds of the last time that ninja made it."""
    log = build / ".ninja_log"
    rows = [line.split("\t") for line in log.read_text().splitlines()[1:]] if log.exists() else []
    return {row[3]: (int(row[1]) - int(row[0])) / 1000 for row in rows}


def folder_costs(build, top="fovea/"):
    """Folder -> Cost, of the folders whose name begins so."""
    wanted = [one for one in compilations(build) if one.folder.startswith(top)]
    seconds = step_seconds(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = list(pool.map(lambda one: count_lines(one.command, one.source, build), wanted))
    costs = collections.defaultdict(Cost)
    for one, read in zip(wanted, lines):
        cost = costs[one.folder]
        cost.objects += 1
        cost.lines += read
        cost.seconds += seconds.get(one.output, 0.0)
    return dict(costs)


def header_costs(build):
    """Header -> (its lines alone, objects of fovea/ that read it), the dearest first."""
    users = collections.Counter()
    output = ""
    for line in ninja(build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            output = line.split(":")[0]
        elif output.startswith("fovea/") and line.endswith(".h"):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT / "fovea"):
                users[path] += 1
    if not users:
        raise Failed(f"{build} knows no headers yet; run ./run first")
    command = next(one.command for one in compilations(build) if one.folder == "fovea/render")
    headers = [path for path in users if not path.name.endswith("-inl.h")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = pool.map(lambda path: count_lines([*command, "-x", "c++"], str(path), build), headers)
    costs = {path.relative_to(ROOT).as_posix(): (read, users[path]) for path, read in zip(headers, lines)}
    return dict(sorted(costs.items(), key=lambda item: -item[1][0] * item[1][1]))


def print_folders(build):
    costs = folder_costs(build, top="")
    total = Cost(*(sum(getattr(cost, field.name) for cost in costs.values()) for field in dataclasses.fields(Cost)))
    print(f"{'folder':<18}{'objects':>8}{'lines':>12}{'seconds':>9}")
    for folder, cost in sorted(costs.items(), key=lambda item: -item[1].lines) + [("all", total)]:
        print(f"{folder:<18}{cost.objects:>8}{cost.lines:>12,}{cost.seconds:>9.1f}")


def print_headers(build):
    print(f"{'header':<44}{'lines':>8}{'objects':>8}{'product':>12}")
    for header, (lines, objects) in list(header_costs(build).items())[:25]:
        print(f"{header:<44}{lines:>8,}{objects:>8}{lines * objects:>12,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release", metavar="BUILD")
    parser.add_argument("--headers", action="store_true", help="headers instead of folders")
    arguments = parser.parse_args()
    try:
        (print_headers if arguments.headers else print_folders)(arguments.build.resolve())
    except (Failed, OSError) as error:
        print(f"build_cost: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
