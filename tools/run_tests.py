"""Builds fovea and runs its tests, stage by stage; ./test calls it once the packages are there.

Failures are shown in full, everything else is one line per stage. The last line is
`N passed, N failed` over all stages; a build or a runner that breaks counts as one failure.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import gtest_runner

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = BUILD / "test-results"
REQUIREMENTS = ROOT / "tests/python/requirements.txt"

# What runs under ThreadSanitizer: all that is meant to be called from several threads. It does not know libgomp's barriers: there our
# teams are made of plain threads, OpenMP's own have one, and what oneDNN and libgomp do among themselves is left to them.
THREAD_TARGETS = ["test_base", "test_tensor", "test_text", "test_capture", "test_atlas", "test_engine", "test_ask"]
RACE_PROGRAM = "test_race"
THREAD_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TSAN_OPTIONS": f"suppressions={ROOT / 'tools/races.supp'}:print_suppressions=0"}
THREAD_TESTS = (r"^(base\.(Parallel|Progress|Cancel|Watch|Team|RunApart)|tensor\.LargeBlocks\.Threads"
                r"|text\.SentencePiece\.MayBeUsedFromManyThreads|capture\.Recorder|atlas\..*(Cache|Concurrent)|engine\..*EngineThreads|ask\..*AskedAtOnce)")
# Python tests that say nothing new about an instrumented program: of the tree, of pages and packages, of wording, and of numbers whose
# code the C++ tests run there (single ones of the latter are marked `numbers`); and of limits of memory, below which none starts.
RELEASE_ONLY = ["test_adding_a_method.py", "test_adding_a_model.py", "test_app.py", "test_bench.py", "test_bench_compare.py", "test_build_cost.py",
                "test_completion.py", "test_demo.py", "test_docs.py", "test_exit_codes.py", "test_explain_gradients.py",
                "test_explain_long.py", "test_fetch_models.py", "test_gtest_runner.py", "test_install.py", "test_layout.py", "test_learn.py",
                "test_manual.py", "test_memory.py", "test_outputs.py", "test_page.py", "test_picture_page.py", "test_readme.py", "test_real_models.py",
                "test_serve_hostile.py",
                "test_stats_refusals.py", "test_tools.py"]
TEST_TIMEOUT_SECONDS = 300


class StageFailed(Exception):
    """The stage could not run to its end; the message says why."""


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: list[str] = dataclasses.field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def say(text):
    print(text, flush=True)


@contextlib.contextmanager
def build_lock():
    """The lock that ./run takes too."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_logged(command, log, **options):
    """Runs `command` with its output in `log`; returns whether it succeeded."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as output:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, **options
        ).returncode == 0


def excerpt(log, lines=40):
    """From the first failure on, or the end."""
    text = log.read_text(errors="replace").splitlines()
    for number, line in enumerate(text):
        if line.startswith(("FAILED:", "CMake Error")):
            return "\n".join(text[number : number + lines])
    return "\n".join(text[-lines:])


def cache_has(folder, wanted):
    """Whether the folder was configured from this checkout with the wanted values."""
    cache = folder / "CMakeCache.txt"
    if not cache.exists() or not (folder / "build.ninja").exists():
        return False
    values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.MULTILINE))
    wanted = {**wanted, "CMAKE_HOME_DIRECTORY": str(ROOT)}
    return all(values.get(name) == value for name, value in wanted.items())


def build(preset, jobs, targets=(), values=None):
    """Configures the preset where needed and builds the targets (none: all)."""
    folder = BUILD / preset
    values = {"FOVEA_TESTS": "ON", **(values or {})}
    with build_lock():
        if not cache_has(folder, values):
            log = BUILD / f"configure-{preset}.log"
            definitions = [f"-D{name}={value}" for name, value in values.items()]
            cache = folder / "CMakeCache.txt"
            if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n" not in cache.read_text():
                shutil.rmtree(folder)  # copied from another place
            if not run_logged(
                ["cmake", "-S", ROOT, "--preset", preset, *definitions], log
            ):
                raise StageFailed(f"{excerpt(log)}\nconfiguring {preset} failed; see {log}")
        command = ["cmake", "--build", folder, "-j", str(jobs)]
        for target in targets:
            command += ["--target", target]
        log = BUILD / f"build-{preset}.log"
        if not run_logged(command, log):
            raise StageFailed(f"{excerpt(log)}\nbuilding {preset} failed; see {log}")


def read_junit(path):
    """Tally of a JUnit file of ctest or pytest, and (name, output) of what failed."""
    tally, failures = Tally(), []
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.get("classname") == case.get("name"):  # ctest
            name = case.get("name")
        broken = [part for kind in ("failure", "error") for part in case.findall(kind)]
        skipped = case.find("skipped")
        if broken:
            tally.failed += 1
            output = [part.text or part.get("message") or "" for part in broken]
            output += [case.findtext("system-out") or "", case.findtext("system-err") or ""]
            failures.append((name, "\n".join(part for part in output if part.strip())))
        elif skipped is not None:
            why = skipped.get("message") or "no reason given"
            said = case.findtext("system-out") or ""
            told = re.search(r"Skipped\n(.+)", said)  # GTEST_SKIP() << "why"
            tally.skipped.append(f"{name}: {told.group(1).strip() if told else why}")
        else:
            tally.passed += 1
    return tally, failures


def unit_tests(preset, environment=None, prefix=(), only=None):
    """The programs of tests/unit/<folder> and tests/parity, or those of them that are named."""
    folders = sorted({path.parent.name for path in (ROOT / "tests").glob("unit/*/*_test.cc")} | {"parity"})
    names = only or [f"test_{folder}" for folder in folders]
    return [gtest_runner.Program(BUILD / preset / "bin" / name, tuple((environment or {}).items()), tuple(prefix)) for name in names]


def run_units(preset, jobs, programs, *patterns):
    """Tally of the cases whose name every pattern is found in."""
    wanted = [re.compile(pattern) for pattern in patterns if pattern]
    try:
        report = gtest_runner.run(programs, jobs, RESULTS / preset, lambda name: all(one.search(name) for one in wanted))
    except gtest_runner.NotRunnable as error:
        raise StageFailed(str(error)) from error
    for name, output in report.failed.items():
        say(f"--- {preset}: {name} failed\n{output.strip()}")
    return Tally(len(report.passed), len(report.failed), [f"{name}: {why}" for name, why in report.skipped.items()])


def run_fuzz_programs(preset, jobs, pattern):
    """Tally of the tests that ctest calls fuzz.<name>; those of GoogleTest are run by run_units, which tells of every case."""
    listing = subprocess.run(["ctest", "--test-dir", BUILD / preset, "-N", "-R", r"^fuzz\."], capture_output=True, text=True, check=True)
    names = re.findall(r"^ *Test +#\d+: (.+)$", listing.stdout, re.MULTILINE)
    chosen = [re.escape(name) for name in names if re.search(pattern or "", name)]
    return run_ctest(preset, jobs, f"^({'|'.join(chosen)})$") if chosen else Tally()


def run_ctest(preset, jobs, pattern):
    junit = RESULTS / f"{preset}.xml"
    junit.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", BUILD / preset, "-j", str(jobs), "-R", pattern]
    command += ["--timeout", str(TEST_TIMEOUT_SECONDS), "--output-junit", junit]
    log = RESULTS / f"{preset}.log"
    succeeded = run_logged(command, log)
    if not junit.exists():
        raise StageFailed(f"{excerpt(log)}\nctest made no report")
    tally, failures = read_junit(junit)
    for name, output in failures:
        say(f"--- {preset}: {name} failed\n{output.strip()}")
    if not succeeded and not failures:  # a test program that is not there, say
        raise StageFailed(f"{excerpt(log)}\nctest failed")
    return tally


def python_environment():
    """The interpreter of a venv with the pinned packages; installs them when they changed."""
    venv = BUILD / "venv"
    python = venv / "bin/python"
    state = f"{venv}\n{sys.version}\n{REQUIREMENTS.read_text()}"
    wanted = hashlib.sha256(state.encode()).hexdigest()
    stamp = venv / "requirements.sha256"
    with build_lock():
        if stamp.exists() and stamp.read_text() == wanted:
            return python
        say("installing Python packages")
        log = BUILD / "venv.log"
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"]
        if not run_logged([sys.executable, "-m", "venv", "--clear", venv], log) or not run_logged(
            [*pip, "-r", REQUIREMENTS], log
        ):
            raise StageFailed(f"{excerpt(log)}\ninstalling {REQUIREMENTS} failed; see {log}")
        stamp.write_text(wanted)
    return python


def matching_python_tests(python, pattern, options, environment):
    listing = subprocess.run(
        [python, "-m", "pytest", "--collect-only", "-q", *options],
        cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )
    names = [line for line in listing.stdout.splitlines() if "::" in line]
    if listing.returncode != 0 or not names:
        said = [line for line in listing.stdout.splitlines() if line not in names]
        raise StageFailed("\n".join([*said, listing.stderr, "pytest could not collect the tests"]))
    return [name for name in names if re.search(pattern, name)]


def run_pytest(preset, jobs, pattern, leave_out=(), environment=None, marks=None, folder="tests/python"):
    python = python_environment()
    about = "python" if folder == "tests/python" else "package"
    junit = RESULTS / f"{preset}-{about}.xml"
    junit.unlink(missing_ok=True)
    environment = {**os.environ, **(environment or {}), "FOVEA_BUILD": str(BUILD / preset)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    options = ["-p", "no:cacheprovider", f"--rootdir={ROOT}", folder]
    options += [f"--ignore=tests/python/{name}" for name in leave_out]
    options += ["-m", marks] if marks else []
    if pattern:
        chosen = matching_python_tests(python, pattern, options, environment)
        if not chosen:
            return Tally()
        options = [*options[:3], *chosen]  # chosen by the rest already
    log = RESULTS / f"{preset}-{about}.log"
    command = [python, "-m", "pytest", "-q", "--no-header", "--tb=short", f"--junitxml={junit}"]
    if jobs > 1:  # a file's tests stay together: they share what they have made
        command += ["-n", str(jobs), "--dist", "loadfile", "--no-loadscope-reorder"]
    succeeded = run_logged([*command, *options], log, cwd=ROOT, env=environment)
    if not succeeded:
        say(log.read_text(errors="replace").strip())
    if not junit.exists():
        raise StageFailed("pytest made no report")
    tally, _ = read_junit(junit)
    if not succeeded and tally.failed == 0:
        raise StageFailed("pytest failed")
    return tally


def without_address_randomization():
    """Command prefix for ThreadSanitizer, which cannot place its shadow on some kernels otherwise."""
    prefix = ["setarch", os.uname().machine, "-R"]
    if shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
        return prefix
    return []


def guarded(run, *arguments):
    """What run(*arguments) gives, or one failure where it breaks."""
    try:
        return run(*arguments)
    except StageFailed as error:
        say(str(error))
        return Tally(failed=1)


@contextlib.contextmanager
def told_apart(name):
    """Says how long a part of a stage took."""
    start = time.monotonic()
    yield
    say(f"  {name}: {time.monotonic() - start:.0f} s")


def run_parts(preset, parts):
    """Tally of (name, function, arguments...) one after the other; one that breaks is one failure."""
    tally = Tally()
    for name, *call in parts:
        with told_apart(f"{preset}, {name}"):
            tally.add(guarded(*call))
    return tally


def release_stage(options):
    python = python_environment()  # nanobind, which builds the Python package, is one of its packages
    with told_apart("release, building"):
        build("release", options.jobs, values={"FOVEA_BENCH": "ON", "FOVEA_SIMD": "all", "FOVEA_PYTHON": "ON", "Python_EXECUTABLE": str(python)})
    return run_parts("release", [
        ("C++ tests", run_units, "release", options.jobs, unit_tests("release"), options.filter),
        ("damaged files", run_fuzz_programs, "release", options.jobs, options.filter),
        ("Python tests", run_pytest, "release", options.jobs, options.filter),
        ("Python package", run_pytest, "release", options.jobs, options.filter, (), None, None, "python/tests")])


def address_stage(options):
    environment = {
        # Frames that an exception left are looked through at every call: few of them, or tests of refusals take minutes.
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:max_uar_stack_size_log=16:strict_string_checks=1",
        "LSAN_OPTIONS": f"suppressions={ROOT / 'tools/leaks.supp'}:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    with told_apart("asan-ubsan, building"):
        build("asan-ubsan", options.jobs)
    return run_parts("asan-ubsan", [
        ("C++ tests", run_units, "asan-ubsan", options.jobs, unit_tests("asan-ubsan", environment), options.filter),
        ("Python tests", run_pytest, "asan-ubsan", options.jobs, options.filter, RELEASE_ONLY, environment, "not numbers")])


def thread_stage(options):
    prefix = without_address_randomization()
    with told_apart("tsan, building"):
        build("tsan", options.jobs, targets=[*THREAD_TARGETS, RACE_PROGRAM])
    programs = unit_tests("tsan", THREAD_ENVIRONMENT, prefix, THREAD_TARGETS)
    return run_parts("tsan", [("C++ tests", run_units, "tsan", options.jobs, programs, THREAD_TESTS, options.filter),
                              ("a race that must be found", run_race, prefix, options.filter)])


def run_race(prefix, pattern):
    """One test, passed if ThreadSanitizer finds the race that the program was built with."""
    if not re.search(pattern or "", RACE_PROGRAM):
        return Tally()
    result = subprocess.run([*prefix, BUILD / "tsan/bin" / RACE_PROGRAM], capture_output=True, text=True,
                            env={**os.environ, **THREAD_ENVIRONMENT}, timeout=TEST_TIMEOUT_SECONDS)
    if result.returncode != 0 and "WARNING: ThreadSanitizer: data race" in result.stderr:
        return Tally(passed=1)
    say(f"--- tsan: {RACE_PROGRAM} ended with {result.returncode} and no report of its race\n{result.stderr[-2000:]}")
    return Tally(failed=1)


def fuzz_stage(options):
    targets = [path.stem for path in (ROOT / "tests/fuzz").glob("fuzz_*.cc") if path.stem != "fuzz_main"]
    with told_apart("fuzz, building"):
        build("fuzz", options.jobs, targets=targets)
    return run_parts("fuzz", [("libFuzzer", run_fuzz_programs, "fuzz", options.jobs, options.filter)])


def run_stage(name, stage, options):
    say(f"{name}: building and testing")
    start = time.monotonic()
    tally = guarded(stage, options)
    for skipped in tally.skipped:
        say(f"{name}: skipped {skipped}")
    seconds = time.monotonic() - start
    say(f"{name}: {tally.passed} ok, {tally.failed} failed, {len(tally.skipped)} skipped, {seconds:.0f} s")
    return tally


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./test", description="Builds fovea and runs its tests.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sanitizers", action="store_true",
                       help="also run ASan+UBSan, TSan and the fuzz targets")
    which.add_argument("--sanitizers-only", action="store_true", help="run only these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=argparse.SUPPRESS)
    parser.add_argument("filter", nargs="?", metavar="FILTER",
                        help="run only tests whose name matches this regular expression")
    options = parser.parse_args()
    try:
        re.compile(options.filter or "")
    except re.error as error:
        parser.error(f"'{options.filter}' is not a regular expression: {error}")
    return options


def main():
    options = parse_arguments()
    # Tests run side by side; OpenMP's threads would wait for each other spinning and take the cores from the others.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    RESULTS.mkdir(parents=True, exist_ok=True)
    stages = {}
    if not options.sanitizers_only:
        stages["release"] = release_stage
    if options.sanitizers or options.sanitizers_only:
        stages |= {"asan-ubsan": address_stage, "tsan": thread_stage, "fuzz": fuzz_stage}
    total = Tally()
    for name, stage in stages.items():
        total.add(run_stage(name, stage, options))
    nothing_ran = total.passed + total.failed == 0
    if nothing_ran:
        say(f"no test matches '{options.filter}'")
    say(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or nothing_ran else 0


if __name__ == "__main__":
    sys.exit(main())
