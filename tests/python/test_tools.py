"""./run, ./test and what they stand on, as far as it shows without building anything."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

from program import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import run_tests  # noqa: E402
import web_tools  # noqa: E402


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
                 "sed", "head", "awk", "getconf", "mv"):
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


def test_the_lists_of_packages_are_fetched_once_an_hour(machine):
    if not pathlib.Path("/etc/debian_version").exists():
        pytest.skip("this is not Debian")
    calls = machine.checkout / "calls"
    scripts = {"id": "echo 0", "dpkg-query": "exit 1", "find": f'exec {shutil.which("find")} "$@"',
               "apt-get": f'echo "$*" >>"{calls}"; case "$*" in *install*) exit 1;; esac'}
    for _ in range(2):
        assert machine(scripts).returncode == 1
    said = calls.read_text().splitlines()
    assert [line.split()[-1] == "update" for line in said] == [True, False, False]


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


def builds(machine):
    return (machine.checkout / "builds").read_text().count("built")


def add_sources(machine):
    """What ./run compares with the last build."""
    for name in ("fovea", "cmake", "bench", "examples"):
        (machine.checkout / name).mkdir()
    for name in ("CMakeLists.txt", "CMakePresets.json"):
        (machine.checkout / name).write_text("")


def counted_build(machine):
    return {**machine_with("true", build=f'echo built >>"{machine.checkout}/builds"; exit 0'),
            "find": f'exec {shutil.which("find")} "$@"'}


def test_nothing_is_built_again_until_something_changes(machine):
    add_sources(machine)
    for _ in range(3):
        assert machine(counted_build(machine)).returncode == 0
    assert builds(machine) == 1
    source = machine.checkout / "fovea/new.cc"
    source.write_text("")
    os.utime(source, (time.time() + 5, time.time() + 5))
    assert machine(counted_build(machine)).returncode == 0
    assert builds(machine) == 2
    os.utime(source, (0, 0))
    os.utime(source.parent, (time.time() + 5, time.time() + 5))  # as when a file is taken away
    assert machine(counted_build(machine)).returncode == 0
    assert builds(machine) == 3
    # The benchmarks are other targets.
    os.utime(source.parent, (0, 0))
    assert machine(counted_build(machine), "bench").returncode == 0
    assert builds(machine) == 4


def test_a_checkout_that_was_moved_is_built_anew(machine):
    add_sources(machine)
    assert machine(counted_build(machine)).returncode == 0
    (machine.checkout / "build/release/.built-fovea+fovea-manual").write_text("/elsewhere\n")
    assert machine(counted_build(machine)).returncode == 0
    assert builds(machine) == 2


def test_models_are_fetched_beside_the_compiler(machine):
    """The build waits until the fetch has begun; the program starts when both are over."""
    begun, cache = machine.checkout / "begun", machine.checkout / "cache"
    scripts = machine_with(f'ls "{cache}/models"', build=f'while ! [ -e "{begun}" ]; do sleep 0.01; done; exit 0')
    scripts |= {name: f'exec {shutil.which(name)} "$@"' for name in ("find", "sleep", "ls")}
    scripts["python3"] = (f': >"{begun}"; {shutil.which("sleep")} 0.3; '
                          f'{shutil.which("mkdir")} -p "{cache}/models/all-minilm-l6-v2" "{cache}/models/smollm2-135m-instruct"')
    result = machine(scripts, environment={"FOVEA_CACHE": str(cache)})
    assert (result.returncode, result.stdout) == (0, "all-minilm-l6-v2\nsmollm2-135m-instruct\n"), result.stderr


def test_the_benchmarks_are_built_when_they_are_asked_for(machine):
    assert machine(machine_with("true", build='echo "$@"')).returncode == 0
    build_log = machine.checkout / "build/build.log"
    assert build_log.read_text().splitlines()[-1].endswith("--target fovea fovea-manual")
    assert machine({}, "bench").returncode == 0
    assert build_log.read_text().splitlines()[-1].endswith("--target fovea fovea-manual fovea-bench fovea-turns")


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


@pytest.mark.parametrize("jobs, side_by_side", [(1, False), (2, True)])
def test_python_tests_run_side_by_side_file_by_file(monkeypatch, tmp_path, jobs, side_by_side):
    def fake_pytest(command, log, **options):
        log.write_text(" ".join(map(str, command)))
        (tmp_path / "release-python.xml").write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
        return True

    monkeypatch.setattr(run_tests, "RESULTS", tmp_path)
    monkeypatch.setattr(run_tests, "python_environment", lambda: "python")
    monkeypatch.setattr(run_tests, "run_logged", fake_pytest)
    assert run_tests.run_pytest("release", jobs, None, ["test_x.py"]).passed == 1
    command = (tmp_path / "release-python.log").read_text()
    assert (f" -n {jobs} --dist loadfile " in command) == side_by_side
    assert command.endswith(" tests/python --ignore=tests/python/test_x.py")


def test_what_sanitizers_leave_out_is_there():
    assert all((ROOT / "tests/python" / name).exists() for name in run_tests.RELEASE_ONLY)


def test_a_workspace_in_use_is_changed_only_where_the_sources_did(monkeypatch, tmp_path):
    sources, workspace = tmp_path / "web", tmp_path / "workspace"
    (sources / "src").mkdir(parents=True)
    (sources / "other").mkdir()
    for name in ("package.json", "src/a.ts", "other/b.ts"):
        (sources / name).write_text(name)
    monkeypatch.setattr(web_tools, "SOURCES", sources)
    monkeypatch.setattr(web_tools, "WORKSPACE", workspace)
    with web_tools.only_one():
        web_tools.copy_sources()
    before = {path: path.stat().st_ino for path in workspace.rglob("*.ts")}
    (sources / "src/a.ts").rename(sources / "src/c.ts")
    web_tools.copy_sources()
    assert (workspace / "src/c.ts").read_text() == "src/a.ts" and not (workspace / "src/a.ts").exists()
    assert (workspace / "other/b.ts").stat().st_ino == before[workspace / "other/b.ts"]
    assert (workspace / "package.json").read_text() == "package.json"


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


def test_the_clean_machine_is_refused_with_one_line_where_it_cannot_be_made(tmp_path):
    command = [sys.executable, ROOT / "tools/clean_machine.py", "--root", tmp_path, "true"]
    (tmp_path / "something").touch()
    tools = tmp_path / "tools"
    tools.mkdir()
    result = subprocess.run(command, env={"PATH": str(tools)}, capture_output=True, text=True)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
    assert ("sudo" if os.geteuid() else "debootstrap is not here") in result.stderr
    if os.geteuid() == 0:
        for name in ("debootstrap", "git", "unshare", "chroot"):
            (tools / name).write_text("#!/bin/sh\n")
            (tools / name).chmod(0o755)
        result = subprocess.run(command, env={"PATH": str(tools)}, capture_output=True, text=True)
        assert result.returncode == 1 and "is not empty" in result.stderr
    assert (tmp_path / "something").exists()


def test_the_clean_machine_runs_what_the_readme_names():
    import clean_machine

    assert clean_machine.usual_commands()[:2] == ["./run", "./test"]
