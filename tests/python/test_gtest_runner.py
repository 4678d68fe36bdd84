"""How C++ tests are run (tools/gtest_runner.py): every case is told of, also after one that ends its process."""

import stat
import sys
import textwrap

import pytest

from program import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import gtest_runner  # noqa: E402

# Behaves like a GoogleTest program with the cases of its CASES: name -> what becomes of it.
PROGRAM = """\
#!{python}
import os, sys
CASES = {cases!r}
if "--gtest_list_tests" in sys.argv:
    print("Suite.")
    for name in CASES:
        print("  " + name + "  # GetParam() = 1")
    sys.exit(0)
options = dict(word.split("=", 1) for word in sys.argv[1:])
wanted = open(options["--gtest_flagfile"]).read().strip().split("=", 1)[1].split(":")
rows, failed = [], False
for name, fate in CASES.items():
    if "Suite." + name not in wanted:
        continue
    print(f"[ RUN      ] Suite.{{name}}", flush=True)
    if fate == "dies":
        os.abort()
    inner = {{"fails": '<failure message="1 is not 2"/>', "skips": '<skipped message="a.cc:3&#10;no AVX here"/>'}}.get(fate, "")
    rows.append(f'<testcase name="{{name}}" classname="Suite" status="run">{{inner}}</testcase>')
    failed |= fate == "fails"
    print(f"[{{dict(fails='  FAILED  ', skips='  SKIPPED ').get(fate, '       OK ')}}] Suite.{{name}} (0 ms)", flush=True)
open(options["--gtest_output"].split(":", 1)[1], "w").write(f"<testsuites>{{''.join(rows)}}</testsuites>")
sys.exit(1 if failed else {status})
"""


@pytest.fixture
def program(tmp_path):
    def write(cases, status=0):
        path = tmp_path / "test_tiny"
        path.write_text(textwrap.dedent(PROGRAM).format(python=sys.executable, cases=cases, status=status))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return gtest_runner.Program(path)

    return write


def run(program, folder, **options):
    return gtest_runner.run([program], 2, folder / "results", **options)


def test_each_case_is_told_of_by_its_folder(program, tmp_path):
    report = run(program({"Works": "", "Breaks": "fails", "Waits": "skips"}), tmp_path)
    assert report.passed == ["tiny.Suite.Works"]
    assert report.failed == {"tiny.Suite.Breaks": "1 is not 2"}
    assert report.skipped == {"tiny.Suite.Waits": "no AVX here"}


def test_cases_after_one_that_ends_its_process_are_run(program, tmp_path):
    report = run(program({"Before": "", "Broken": "fails", "Dies": "dies", "After": "", "DiesToo": "dies", "Last": ""}), tmp_path)
    assert report.passed == [f"tiny.Suite.{name}" for name in ("Before", "After", "Last")]
    assert sorted(report.failed) == ["tiny.Suite.Broken", "tiny.Suite.Dies", "tiny.Suite.DiesToo"]
    assert report.failed["tiny.Suite.Dies"].startswith("the process ended with -6")


def test_a_leak_that_is_found_in_the_end_is_a_failure(program, tmp_path):
    report = run(program({"Leaks": ""}, status=23), tmp_path)
    assert report.passed == ["tiny.Suite.Leaks"]
    assert report.failed["tiny.(its end)"].startswith("the process ended with 23")


def test_many_cases_are_shared_out_and_none_is_lost(program, tmp_path):
    names = {f"Case{i}": "" for i in range(3 * gtest_runner.CASES_A_PROCESS + 1)}
    report = run(program(names), tmp_path)
    assert sorted(report.passed) == sorted(f"tiny.Suite.{name}" for name in names)
    assert len(list((tmp_path / "results/test_tiny").iterdir())) == 4


def test_only_wanted_cases_run(program, tmp_path):
    report = run(program({"One": "", "Two": "fails"}), tmp_path, wanted=lambda name: name == "tiny.Suite.One")
    assert (report.passed, report.failed) == (["tiny.Suite.One"], {})


def test_a_program_that_is_not_there_is_told(tmp_path):
    with pytest.raises(gtest_runner.NotRunnable, match="test_none does not list its tests"):
        run(gtest_runner.Program(tmp_path / "test_none"), tmp_path)
