"""Runs GoogleTest programs side by side, many cases to a process, and tells of each case. Standard library only.

Starting a process for each case would take longer than most cases do, above all with sanitizers. A case that ends its
process has failed, and the cases after it are run in another.
"""

import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

CASES_A_PROCESS = 60
PROCESS_TIMEOUT_SECONDS = 600
# "[       OK ] Suite.Case (3 ms)"; RUN stands before it.
LINE = re.compile(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^\s,]+)", re.MULTILINE)


@dataclasses.dataclass
class Report:
    passed: list[str] = dataclasses.field(default_factory=list)
    failed: dict[str, str] = dataclasses.field(default_factory=dict)  # name -> what was printed
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)  # name -> why

    def add(self, other):
        self.passed += other.passed
        self.failed |= other.failed
        self.skipped |= other.skipped


class NotRunnable(Exception):
    """A program cannot even list its cases; the message says which."""


@dataclasses.dataclass(frozen=True)
class Program:
    """test_explain has cases that are called explain.Suite.Case."""

    path: pathlib.Path
    environment: tuple[tuple[str, str], ...] = ()
    prefix: tuple[str, ...] = ()  # of its command

    @property
    def label(self):
        return self.path.name.removeprefix("test_") + "."

    def start(self, arguments, **options):
        return subprocess.run([*self.prefix, str(self.path), *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                              env={**os.environ, **dict(self.environment)}, text=True, errors="replace", **options)

    def cases(self):
        """Suite.Case of all, in their order."""
        try:
            listing = self.start(["--gtest_list_tests"], stdout=subprocess.PIPE, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotRunnable(f"{self.path} does not list its tests: {error}") from error
        if listing.returncode != 0:
            raise NotRunnable(f"{self.path} does not list its tests: {listing.stdout.strip()}")
        names, suite = [], ""
        for line in listing.stdout.splitlines():
            word = line.split("#")[0].rstrip()
            if line.startswith("  "):
                names.append(suite + word.strip())
            elif word.endswith("."):
                suite = word
        return names


def tail(text, lines=60):
    return "\n".join(text.strip().splitlines()[-lines:])


def read_result(path):
    """Report of a result file, its names without the program's label."""
    report = Report()
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        broken = [part.text or part.get("message") or "" for part in case.findall("failure")]
        skipped = case.find("skipped")
        if broken:
            report.failed[name] = "\n".join(broken)
        elif skipped is not None:
            report.skipped[name] = (skipped.get("message") or "no reason given").strip().splitlines()[-1]
        elif case.get("status") == "run":
            report.passed.append(name)
    return report


def read_output(text, why):
    """Report of a process that ended before it wrote its result."""
    report, running = Report(), None
    for word, name in LINE.findall(text):
        if word == "RUN":
            running = name
        elif name == running:  # the list of failures at the end names them again
            running = None
            if word == "OK":
                report.passed.append(name)
            elif word == "FAILED":
                report.failed[name] = tail(text)
            else:
                report.skipped[name] = "no reason given"
    if running is not None:
        report.failed[running] = f"{why}\n{tail(text)}"
    return report


def run_once(program, names, folder):
    """Report of one process that runs these cases, and whether it came to its end."""
    result, log, flags = (folder / f"result{suffix}" for suffix in (".xml", ".log", ".flags"))
    result.unlink(missing_ok=True)
    flags.write_text(f"--gtest_filter={':'.join(names)}\n")  # a command line may not be as long
    try:
        with open(log, "w") as output:
            status = program.start([f"--gtest_flagfile={flags}", f"--gtest_output=xml:{result}"], stdout=output,
                                   timeout=PROCESS_TIMEOUT_SECONDS).returncode
    except subprocess.TimeoutExpired:
        return read_output(log.read_text(errors="replace"), f"not over after {PROCESS_TIMEOUT_SECONDS} s"), False
    text = log.read_text(errors="replace")
    if not result.exists():
        return read_output(text, f"the process ended with {status}"), False
    report = read_result(result)
    if status != 0 and not report.failed:  # a leak, which is found when all cases are over
        report.failed["(its end)"] = f"the process ended with {status}\n{tail(text)}"
    return report, True


def run_part(program, names, folder):
    """Report of these cases, in as many processes as it takes."""
    folder.mkdir(parents=True, exist_ok=True)
    report = Report()
    left = list(names)
    while left:
        part, ended = run_once(program, left, folder)
        report.add(part)
        told = {*part.passed, *part.failed, *part.skipped}
        missing = [name for name in left if name not in told]
        if ended or len(missing) == len(left):
            report.failed |= {name: "the program did not run it" for name in missing}
            break
        left = missing
    return report


def labelled(program, report):
    return Report([program.label + name for name in report.passed],
                  {program.label + name: text for name, text in report.failed.items()},
                  {program.label + name: why for name, why in report.skipped.items()})


def run(programs, jobs, folder, wanted=lambda name: True):
    """Report of the cases whose name is wanted, `jobs` processes at a time; what they leave is below `folder`."""
    parts = []
    for program in programs:
        names = [name for name in program.cases() if wanted(program.label + name) and ".DISABLED_" not in name]
        count = -(-len(names) // CASES_A_PROCESS)
        # Every count-th case, so that a suite of slow ones is shared out.
        parts += [(program, names[k::count], folder / program.path.name / str(k)) for k in range(count)]
    programs_by_size = collections.Counter(program.path for program, _, _ in parts)
    parts.sort(key=lambda part: -programs_by_size[part[0].path])
    report = Report()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (program, _, _), found in zip(parts, pool.map(lambda part: run_part(*part), parts)):
            report.add(labelled(program, found))
    return report
