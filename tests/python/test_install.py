"""An installed fovea serves a project that knows only the place where it was installed, and so does a packed one."""

import gzip
import json
import os
import re
import shutil
import subprocess

import pytest

from building import build, configuring, install, run
from program import BUILD, ROOT


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed here"))


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The Debian packages, by their names."""
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "file"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("packages")
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", folder, cwd=folder)
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    root = tmp_path_factory.mktemp("unpacked root")
    for package in packages.values():
        run("dpkg-deb", "-x", package, root)
    return root


def alone(tmp_path):
    """Variables of a user who has nothing of fovea."""
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}


def test_a_project_finds_links_and_runs_the_installed_library(prefix, tmp_path):
    build(ROOT / "tests/install", tmp_path, prefix)
    assert run(tmp_path / "uses_fovea").splitlines() == [
        "row 3 gives 0.797 of its attention to column 1",
        "row 3 gives 0.096 of its attention to column 0",
    ]
    run(prefix / "bin/fovea", "capture", "-m", "en-fr", "The cat sat.", "--target", "Le chat.", "--out", tmp_path / "r.safetensors")
    caption, result = run(tmp_path / "asks_fovea", tmp_path / "r.safetensors").splitlines()
    assert caption.startswith('Row 1 "cat" → what it attends to · layer 0, head 1')
    assert sum(json.loads(result)["weights"][0]) == pytest.approx(1, abs=1e-5)


def test_the_page_about_the_library_shows_the_program_that_is_built_here():
    for program in (ROOT / "tests/install").glob("*.cc"):
        assert program.read_text() in (ROOT / "docs/library.md").read_text()


def test_the_installed_program_runs(prefix):
    assert run(prefix / "bin/fovea", "--version", cwd=prefix).startswith("fovea 0.1")


def test_the_installed_program_finds_its_models_wherever_it_lies(prefix, tmp_path):
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    for part in ("bin", "share"):
        shutil.copytree(prefix / part, elsewhere / part)
    said = run(elsewhere / "bin/fovea", "info", "-m", "en-fr", cwd=tmp_path, env=alone(tmp_path))
    assert str(elsewhere / "share/fovea/models/en-fr") in said
    links = run(elsewhere / "bin/fovea", "translate", "I love music.", "--moses", cwd=tmp_path, env=alone(tmp_path))
    assert re.fullmatch(r"(\d+-\d+ ?)+\n", links)
    assert not (elsewhere / "share/fovea/models/train").exists()


def test_without_a_default_model_it_says_how_to_fetch_one_here(prefix, tmp_path):
    result = subprocess.run([prefix / "bin/fovea", "text", "A cat."], capture_output=True, text=True, env=alone(tmp_path))
    script = prefix / "share/fovea/tools/fetch_models.py"
    assert result.returncode == 1 and f"`python3 {script}`" in result.stderr
    assert "all-minilm-l6-v2" in run("python3", script, "--list")


def verbs(prefix):
    return re.findall(r"^  ([a-z]+) ", run(prefix / "bin/fovea", "--help"), re.MULTILINE)


def test_manual_pages_and_completion_are_where_they_are_looked_for(prefix):
    pages = {path.name for path in (prefix / "share/man/man1").iterdir()}
    assert pages == {"fovea.1.gz", *(f"fovea-{verb}.1.gz" for verb in verbs(prefix))}
    page = gzip.decompress((prefix / "share/man/man1/fovea-text.1.gz").read_bytes()).decode()
    assert page == run(prefix / "bin/fovea", "help", "text", "--man")
    for shell, place in (("bash", "bash-completion/completions/fovea"), ("zsh", "zsh/site-functions/_fovea"),
                         ("fish", "fish/vendor_completions.d/fovea.fish")):
        assert (prefix / "share" / place).read_text() == run(prefix / "bin/fovea", "completion", shell)


def fields(package):
    return dict(re.findall(r"^ (\w[\w-]*): (.*)$", run("dpkg-deb", "-I", package), re.MULTILINE))


def test_the_packages_say_what_they_are_and_need(packages):
    assert set(packages) == {"fovea", "libfovea-dev"}
    program = fields(packages["fovea"])
    version = run(BUILD / "bin/fovea", "--version").split()[1]
    assert (program["Package"], program["Version"], program["Section"]) == ("fovea", version, "science")
    assert "<" in program["Maintainer"]
    for library in ("libc6", "libdnnl2", "libcairo2", "libsentencepiece0"):  # found by dpkg-shlibdeps
        assert re.search(rf"\b{library} \(", program["Depends"])
    assert "libcurl4" in program["Recommends"]  # loaded when used, so that nothing finds it
    development = fields(packages["libfovea-dev"])
    wanted = set(development["Depends"].split(", "))
    assert {"libdnnl-dev", "libhwy-dev", "pkg-config"} <= wanted
    assert wanted <= set(re.findall(r"[\w.+-]+", (ROOT / "tools/setup.sh").read_text())) | {"libjpeg-dev"}


def test_the_packages_hold_what_they_should_and_no_more(packages):
    listing = {name: run("dpkg-deb", "-c", path) for name, path in packages.items()}
    for path in ("bin/fovea", "share/fovea/models/en-fr/model.safetensors", "share/fovea/models/scenes-vit/README.md",
                 "share/fovea/models/scenes-detr/config.json", "share/doc/fovea/copyright", "share/man/man1/fovea.1.gz",
                 "share/bash-completion/completions/fovea", "share/zsh/vendor-completions/_fovea"):
        assert f" ./usr/{path}\n" in listing["fovea"], path
    assert not re.search(r"train|\.a\n|\.h\n|\.pyc\n", listing["fovea"])
    assert " ./usr/share/doc/libfovea-dev/copyright\n" in listing["libfovea-dev"]
    assert re.search(r" \./usr/lib\S*/cmake/fovea/fovea-config.cmake\n", listing["libfovea-dev"])
    assert "/bin/" not in listing["libfovea-dev"]
    for lines in listing.values():
        assert all(re.match(r"(d|-)rw[x-]r-[x-]r-[x-] root/root ", line) for line in lines.splitlines())


def test_the_packed_program_runs_with_its_models(unpacked, tmp_path):
    program = unpacked / "usr/bin/fovea"
    places = [line.split('"')[3] for line in run(program, "models", "--json", env=alone(tmp_path)).splitlines() if '"folder"' in line]
    assert len(places) == 3 and all(place.startswith(f"{unpacked}/usr/share/fovea/models/") for place in places)
    scene = unpacked / "usr/share/fovea/models/scenes-detr/demo/scene-1.png"
    assert "house" in run(program, "detect", scene, cwd=tmp_path, env=alone(tmp_path))


def test_a_project_finds_the_packed_library(unpacked, tmp_path):
    build(ROOT / "tests/install", tmp_path, unpacked / "usr")
    assert "row 3 gives 0.797" in run(tmp_path / "uses_fovea")


def test_the_notice_names_everything_that_the_program_is_linked_with(prefix):
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    known = {"dnnl": "oneDNN", "hwy": "Highway", "jpeg": "libjpeg-turbo", "webp": "libwebp", "webpdemux": "libwebp", "png16": "libpng",
             "pcre2-8": "PCRE2", "z": "zlib", "crypto": "OpenSSL", "gcc_s": "libgcc", "gomp": "libgomp", "stdc++": "libstdc++",
             "pangocairo-1.0": "pango", "pangoft2-1.0": "pango", "pango-1.0": "pango", "gobject-2.0": "GLib", "glib-2.0": "GLib",
             "freetype": "FreeType", "atomic": "libgcc"}
    notice = (ROOT / "NOTICE").read_text().lower()
    linked = re.findall(r"\[lib([^\]]+)\.so", run("readelf", "-d", prefix / "bin/fovea"))
    assert len(linked) > 10
    system = {"c", "m", "dl", "pthread"}  # of the system itself
    assert [name for name in linked if name not in system and known.get(name, name).lower() not in notice] == []


def test_every_bundled_model_has_a_card_that_names_its_data_and_their_terms(prefix):
    models = [path.parent for path in (prefix / "share/fovea/models").glob("*/config.json")]
    assert {path.name for path in models} == {"en-fr", "scenes-detr", "scenes-vit"}
    for model in models:
        card = (model / "README.md").read_text()
        assert "| licence | " in card and "\n## Data and training\n" in card and "CC-BY" in card, model.name
        assert model.name in (ROOT / "NOTICE").read_text()


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


def test_what_run_builds_is_all_that_install_needs():
    """`cmake --install` after ./run: of the files that it copies, those that the build makes are made by the targets of ./run."""
    targets = re.search(r"^targets=\((.*?)\)", (ROOT / "run").read_text(), re.M)[1].split()
    made = {line.rsplit(":", 1)[0] for line in run("ninja", "-C", BUILD, "-t", "targets", "all").splitlines()}
    commands = run("ninja", "-C", BUILD, "-t", "commands", *targets)
    needed = set()
    for script in BUILD.rglob("cmake_install.cmake"):
        for call in re.findall(r"file\(INSTALL (.*?)\)\n", script.read_text(), re.S):
            if "OPTIONAL" not in call:
                needed |= {name.removeprefix(f"{BUILD}/") for name in re.findall(r'"([^"]+)"', call) if name.startswith(f"{BUILD}/")}
    needed = {name for name in needed & made if not name.startswith("python/")}  # that one is pip's
    assert {"bin/fovea", "manual/fovea.bash", "fovea/ask/libfovea_ask.a"} <= needed
    assert [name for name in sorted(needed) if name.rsplit("/", 1)[-1] not in commands] == []
