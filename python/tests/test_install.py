"""What pip builds of the checkout works away from it, with the models that it carries."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from PIL import Image

from conftest import ROOT
from program import BUILD


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """As `pip install ./python` builds it, with the kernels and in the folder that find in ccache what ./test has compiled."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", ROOT / "python", "--no-deps", "--no-build-isolation", "-w", folder,
               f"--config-settings=build-dir={BUILD.parent}/python", "--config-settings=cmake.define.FOVEA_SIMD=all"]  # Debian's pip has no -C
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return next(folder.glob("fovea_attention-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_holds_the_package_its_models_and_its_licences(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
        scripts = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    for name in ("fovea/__init__.py", "fovea/py.typed", "fovea/_core.pyi", "fovea/libfovea.so", "fovea/models/en-fr/config.json", "fovea/NOTICE", "fovea/LICENSE",
                 "fovea/_fetch_models.py", "fovea_attention.py"):
        assert name in names
    assert not [name for name in names if "/train/" in name or name.endswith((".a", ".h", ".cc"))]
    assert re.search(r"^Name: fovea-attention$", about, re.MULTILINE) and "Requires-Dist: numpy" in about
    assert "fovea = fovea_attention:main" in scripts
    assert wheel.stat().st_size < 60e6


def test_it_works_away_from_the_checkout(installed, tmp_path):
    """With the library as it was stripped, and only with what it carries."""
    code = f"""
import fovea, pathlib
site = pathlib.Path({str(installed)!r})
assert pathlib.Path(fovea.__file__).is_relative_to(site)
assert all(pathlib.Path(fovea.models()[name].folder).resolve().is_relative_to(site) for name in ("en-fr", "scenes-vit", "scenes-detr"))
session = fovea.load("en-fr")("I love music.")
assert session.written and session.map("cross", 0, 0)[0, 0] > 0
session.align().save("alignment.png")
"""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(installed)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    assert Image.open(tmp_path / "alignment.png").width > 300
    shown = subprocess.run([sys.executable, "-m", "fovea", "translate", "I love music."], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert shown.returncode == 0 and "musique" in shown.stdout, shown.stderr


def test_the_build_uses_the_compiler_of_run(wheel):
    cache = (BUILD.parent / "python/CMakeCache.txt").read_text()
    known = (BUILD / "CMakeCache.txt").read_text()
    compiler = re.compile(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", re.MULTILINE)
    assert shutil.which(compiler.search(cache).group(1)) == shutil.which(compiler.search(known).group(1))
    flags = re.compile(r"^CMAKE_CXX_FLAGS(?:_RELEASE)?:\w+=(.*)$", re.MULTILINE)
    assert flags.findall(cache) == flags.findall(known)
