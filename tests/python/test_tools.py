"""./run, ./test and what they stand on, as far as it shows without building anything."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from program import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import run_tests  # noqa: E402


@pytest.fixture
def machine(tmp_path):
    """A checkout with a space in its path on a machine that has only the named commands."""
    checkout = tmp_path / "a checkout"
    (checkout / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "run", checkout)
    shutil.copy(ROOT / "tools/setup.sh", checkout / "tools")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("bash", "env", "readlink", "dirname", "mkdir", "flock", "grep", "tail", "rm",
                 "sed", "head", "awk", "getconf"):
        (commands / name).symlink_to(shutil.which(name))

    def run(scripts, *arguments, environment=None):
        for name, script in scripts.items():
            (commands / name).write_text("#!/bin/sh\n" + script)
            (commands / name).chmod(0o755)
        return subprocess.run(
            [checkout / "run", *arguments], env={"PATH": str(commands), **(environment or {})}, cwd=tmp_path,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )

    run.checkout = checkout
    return run


def test_another_distribution_gets_the_list_of_what_to_install(machine):
    result = machine({"cmake": "", "c++": ""})
    assert result.returncode == 1
    assert result.stdout == ""
    assert "CMake 3.25" in result.stderr and "oneDNN 2.6 or 3.x" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("fovea: not found here: ninja pkg-config;")


def test_a_user_without_sudo_is_told_the_command(machine):
    if not pathlib.Path("/etc/debian_version").exists():
        pytest.skip("this is not Debian")
    result = machine({"id": "echo 1000", "apt-get": "exit 1",
                      "dpkg-query": "echo installed g++; echo config-files cmake; exit 1"})
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "as root, run: apt-get install -y --no-install-recommends cmake ninja-build" in result.stderr
    assert " g++" not in result.stderr


def test_a_configuration_that_fails_shows_its_end_and_its_log(machine):
    result = machine({"cmake": "echo 'Could NOT find spdlog'; exit 1", "c++": "", "ninja": "",
                      "pkg-config": ""})
    assert result.returncode == 1
    assert "Could NOT find spdlog" in result.stderr
    assert str(machine.checkout / "build/configure.log") in result.stderr.splitlines()[-1]


def fake_build(program, build="exit 0"):
    """A cmake that configures nothing and builds by installing `program` as fovea."""
    return f"""
for word in "$@"; do [ "$word" = --build ] && {{ {build}; }}; done
case "$*" in *--preset*)
  home=$2
  mkdir -p "$home/build/release/bin"
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$home" >"$home/build/release/CMakeCache.txt"
  echo >"$home/build/release/build.ninja"
  printf '%s\\n' '#!/bin/sh' '{program}' >"$home/build/release/bin/fovea"
  chmod +x "$home/build/release/bin/fovea"
  echo configured;;
esac
"""


def machine_with(program, **options):
    return {"cmake": fake_build(program, **options), "c++": "", "ninja": "", "pkg-config": "",
            "chmod": f'exec {shutil.which("chmod")} "$@"'}


def test_arguments_folder_and_exit_code_are_passed_on(machine, tmp_path):
    result = machine(machine_with('echo "$PWD|$#|$2"; exit 7'), "steps", "a file.json")
    assert (result.stdout, result.stderr) == (f"{tmp_path}|2|a file.json\n", "")
    assert result.returncode == 7


def test_without_arguments_the_demo_runs(machine):
    assert machine(machine_with('echo "$*"')).stdout == "demo\n"


def test_a_build_that_fails_shows_the_failure_and_its_log(machine):
    build = "echo '[1/2] compiling'; echo 'FAILED: x.o'; echo 'x.cc:1: error: no'; exit 1"
    result = machine(machine_with("echo never", build=build))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[:2] == ["FAILED: x.o", "x.cc:1: error: no"]
    assert str(machine.checkout / "build/build.log") in result.stderr.splitlines()[-1]


def test_a_build_folder_copied_from_elsewhere_is_made_anew(machine):
    release = machine.checkout / "build/release"
    release.mkdir(parents=True)
    (release / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
    (release / "build.ninja").write_text("")
    (release / "stale").write_text("")
    assert machine(machine_with("echo new")).stdout == "new\n"
    assert not (release / "stale").exists()


def test_the_benchmarks_are_built_when_they_are_asked_for(machine):
    assert machine(machine_with("true", build='echo "$@"')).returncode == 0
    build_log = machine.checkout / "build/build.log"
    assert build_log.read_text().splitlines()[-1].endswith("--target fovea")
    assert machine({}, "bench").returncode == 0
    assert build_log.read_text().splitlines()[-1].endswith("--target fovea fovea-bench fovea-turns")


def test_reports_of_ctest_and_pytest_are_counted(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text("""<testsuite>
      <testcase name="base.A.Works" classname="base.A.Works" status="run"/>
      <testcase name="base.A.Breaks" classname="base.A.Breaks" status="fail">
        <failure message=""/><system-out>expected 1, got 2</system-out></testcase>
      <testcase name="base.A.Skips" classname="base.A.Skips" status="notrun">
        <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
        <system-out>a_test.cc:3: Skipped\nno AVX here\n</system-out></testcase>
      <testcase name="test_x" classname="tests.python.test_y"><error message="boom">trace</error></testcase>
    </testsuite>""")
    tally, failures = run_tests.read_junit(report)
    assert (tally.passed, tally.failed) == (1, 2)
    assert tally.skipped == ["base.A.Skips: no AVX here"]
    assert failures == [("base.A.Breaks", "expected 1, got 2"), ("tests.python.test_y.test_x", "trace")]


def test_a_stage_that_breaks_counts_as_a_failure(capsys):
    def broken(options):
        raise run_tests.StageFailed("no compiler")

    assert run_tests.run_stage("release", broken, None).failed == 1
    assert "no compiler" in capsys.readouterr().out


def test_a_wrong_option_of_the_tests_is_refused():
    result = subprocess.run(
        [sys.executable, ROOT / "tools/run_tests.py", "--sanitisers"], capture_output=True, text=True
    )
    assert result.returncode == 2
    assert "usage: ./test" in result.stderr


@pytest.mark.parametrize("script", ["run", "test", ".ci/run"])
def test_scripts_are_executable_and_well_formed(script):
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", ROOT / script], check=True)
