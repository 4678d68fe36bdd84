"""An installed fovea serves a project that knows only the place where it was installed."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FOVEA_BUILD", ROOT / "build/release")).resolve()


def run(*command, **options):
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options
    )
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed here")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def configure(project, build, prefix):
    return ["cmake", "-S", project, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]


def test_a_project_finds_links_and_runs_the_installed_library(prefix, tmp_path):
    run(*configure(ROOT / "tests/install", tmp_path, prefix))
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "uses_fovea").splitlines() == [
        "row 3 gives 0.797 of its attention to column 1",
        "row 3 gives 0.096 of its attention to column 0",
    ]


def test_the_page_about_the_library_shows_the_program_that_is_built_here():
    assert (ROOT / "tests/install/main.cc").read_text() in (ROOT / "docs/library.md").read_text()


def test_the_installed_program_runs(prefix):
    assert run(prefix / "bin/fovea", "--version", cwd=prefix).startswith("fovea 0.1")


def test_nothing_installed_points_back_at_the_checkout(prefix):
    package = list(prefix.glob("lib/**/cmake/fovea/*.cmake"))
    assert {path.name for path in package} >= {
        "fovea-config.cmake", "fovea-config-version.cmake", "fovea-targets.cmake", "FindOneDNN.cmake",
    }
    for path in package:
        text = path.read_text()
        assert str(ROOT) not in text and str(BUILD) not in text, path.name


def test_every_header_of_the_library_is_installed_and_no_private_one(prefix):
    headers = {path.relative_to(prefix / "include").as_posix() for path in prefix.glob("include/**/*.h")}
    assert "fovea/atlas/attention_map.h" in headers and "fovea/attention/score_rule.h" in headers
    assert not any(header.endswith("-inl.h") or header.startswith("fovea/cli/") for header in headers)


def test_a_version_that_is_not_installed_is_refused(prefix, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(fovea 0.2 REQUIRED)\n"
    )
    result = subprocess.run(
        [str(part) for part in configure(project, tmp_path / "build", prefix)], capture_output=True, text=True
    )
    assert result.returncode != 0
    assert 'requested version "0.2"' in result.stderr
