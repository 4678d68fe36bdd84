"""An installed fovea serves a project that knows only the place where it was installed."""

import subprocess

import pytest

from building import build, configuring, install, run
from program import BUILD, ROOT


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed here"))


def test_a_project_finds_links_and_runs_the_installed_library(prefix, tmp_path):
    build(ROOT / "tests/install", tmp_path, prefix)
    assert run(tmp_path / "uses_fovea").splitlines() == [
        "row 3 gives 0.797 of its attention to column 1",
        "row 3 gives 0.096 of its attention to column 0",
    ]


def test_the_readme_shows_the_program_that_is_built_here():
    assert (ROOT / "tests/install/main.cc").read_text() in (ROOT / "README.md").read_text()


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
    result = subprocess.run(configuring(project, tmp_path / "build", prefix), capture_output=True, text=True)
    assert result.returncode != 0
    assert 'requested version "0.2"' in result.stderr
