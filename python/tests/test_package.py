"""The package as a whole: its stubs and types, what it exports, what it says when something is in its way."""

import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from nanobind import stubgen

import fovea
from conftest import ROOT
from program import BUILD, ok, run

SOURCES = ROOT / "python/src/fovea"
PACKAGE = BUILD / "python/fovea"


def python(code, path=BUILD / "python", **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(path), **environment})


@pytest.mark.parametrize("module", ["_core", "_drawing"])
def test_stubs_are_those_of_the_modules(module, tmp_path):
    """To write them: python -m nanobind.stubgen -i <build>/python -m fovea._core -o python/src/fovea/_core.pyi."""
    stub = tmp_path / f"{module}.pyi"
    stubgen.main(["-q", "-i", str(BUILD / "python"), "-m", f"fovea.{module}", "-o", str(stub)])
    assert stub.read_text() == (SOURCES / f"{module}.pyi").read_text()


def test_types_are_complete():
    result = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "python/pyproject.toml", "--cache-dir", os.devnull, SOURCES],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_everything_public_says_what_it_is():
    for name in fovea.__all__:
        value = getattr(fovea, name)
        assert inspect.getdoc(value), name
        for member, of in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and (callable(of) or isinstance(of, property)) and not hasattr(tuple, member):
                assert inspect.getdoc(of), f"{name}.{member}"


@pytest.mark.parametrize("module", ["_core", "_drawing"])
def test_a_module_exports_what_python_looks_for_and_nothing_else(module):
    file = next(PACKAGE.glob(f"{module}.*.so"))
    names = subprocess.run(["nm", "-D", "--defined-only", file], capture_output=True, text=True, check=True).stdout.split("\n")
    assert [line.split()[-1] for line in names if line] == [f"PyInit_{module}"]


def test_the_engine_is_there_once():
    """The module that draws uses the library that the other one does; a second copy would have its own threads."""
    undefined = subprocess.run(["nm", "-D", "--undefined-only", next(PACKAGE.glob("_drawing.*.so"))], capture_output=True, text=True, check=True)
    assert "fovea12give_to_teamE" in undefined.stdout or "fovea7Session3ask" in undefined.stdout.replace("K", "")
    exported = subprocess.run(["nm", "-DC", "--defined-only", PACKAGE / "libfovea.so"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in exported.splitlines() if "fovea" not in line.split(" ", 2)[2]]


def test_nothing_for_drawing_is_loaded_before_a_figure_is_drawn():
    result = python(f"""
import fovea, sys
loaded = lambda: open("/proc/self/maps").read()
session = fovea.load("scenes-vit").image({str(ROOT / 'models/scenes-vit/demo/scene-1.png')!r}, size=(32, 32))
answer = session.ask("maps")
answer.facts, answer.notes, session.map()[0, 0]
assert "cairo" not in loaded() and "pango" not in loaded()
answer._repr_png_()
assert "cairo" in loaded()
assert "fovea._drawing" in sys.modules
""")
    assert result.returncode == 0, result.stderr


def test_importing_is_light():
    result = python("import sys, fovea; print('numpy' in sys.modules, 'PIL' in sys.modules, 'importlib.metadata' in sys.modules)")
    assert result.stdout == "False False False\n", result.stderr


def test_a_missing_library_of_drawing_is_told_with_its_package(tmp_path):
    """As the loader says it; maps and numbers go on."""
    shutil.copytree(PACKAGE, tmp_path / "fovea")
    (tmp_path / "fovea/_drawing.py").write_text("raise ImportError('libpangocairo-1.0.so.0: cannot open shared object file: No such file or directory')")
    next((tmp_path / "fovea").glob("_drawing.*.so")).unlink()
    result = python(f"""
import fovea
answer = fovea.load({str(ROOT / 'tests/data/parity/bert_model')!r}).inputs(input_ids=[2, 5, 3]).ask("matrix", layer=0, head=0)
print(answer.numpy().shape)
answer.save({str(tmp_path / 'x.npy')!r})
try:
    answer.save({str(tmp_path / 'x.png')!r})
except ImportError as error:
    print(error)
""", tmp_path, TMPDIR=str(tmp_path), PWD=str(tmp_path))
    assert result.stdout == ("(3, 3)\nfigures are drawn with libpangocairo-1.0, which this system lacks; install its package libpangocairo-1.0-0 "
                             "(Debian: apt install libpangocairo-1.0-0). Maps, numbers and facts need none of it.\n"), result.stderr
    result = python("import fovea_attention; raise SystemExit(fovea_attention.main())", f"{tmp_path}:{BUILD / 'python'}")
    assert result.returncode == 1 and result.stderr.startswith("fovea: figures are drawn with libpangocairo") and result.stderr.count("\n") == 1


def side_by_side(folder):
    """The package in a folder of packages, as pip puts it."""
    shutil.copytree(PACKAGE, folder / "fovea")
    shutil.copy(ROOT / "python/src/fovea_attention.py", folder)
    (folder / "fovea_attention-0.1.0.dist-info").mkdir()


def test_another_package_of_the_same_name_is_told(tmp_path):
    """PyPI's fovea, installed first: its files are among ours."""
    side_by_side(tmp_path)
    assert python("import fovea", tmp_path).returncode == 0
    (tmp_path / "fovea-0.1.1.dist-info").mkdir()
    result = python("import fovea", tmp_path)
    assert result.returncode == 1 and "ImportError: two packages are installed as 'fovea'" in result.stderr
    assert "pip uninstall -y fovea fovea-attention" in result.stderr


def test_another_package_that_won_is_told_by_the_program(tmp_path):
    """PyPI's fovea, installed later: its __init__ stands in the place of ours."""
    (tmp_path / "fovea").mkdir()
    (tmp_path / "fovea/__init__.py").write_text("from .learn import *")
    (tmp_path / "fovea/learn.py").write_text("")
    shutil.copy(ROOT / "python/src/fovea_attention.py", tmp_path)
    result = python("import sys, fovea_attention; sys.exit(fovea_attention.main())", tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("fovea: PyPI's package 'fovea' is another one") and result.stderr.count("\n") == 1


def program(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "fovea", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(BUILD / "python"), **environment})


def test_the_program_is_the_same_program(bert_folder, tmp_path):
    words = ["text", "-m", bert_folder, "The cat sat.", "--layer", "0"]
    result = program(*words, COLUMNS="80")
    assert (result.returncode, result.stdout) == (0, ok(*words, environment={"COLUMNS": "80"}))
    assert program("--version").stdout == ok("--version")
    wrong, known = program("text", "--layer"), run("text", "--layer")
    assert (wrong.returncode, wrong.stderr) == (known.returncode, known.stderr)
    figure = tmp_path / "x.png"
    assert program(*words, "--out", figure).returncode == 0 and figure.read_bytes().startswith(b"\x89PNG")


def test_version_and_licence_are_those_of_the_project():
    declared = (ROOT / "CMakeLists.txt").read_text()
    project = (ROOT / "python/pyproject.toml").read_text()
    version = re.search(r"project\(fovea VERSION ([\d.]+)", declared).group(1)
    assert fovea.__version__ == version and f'version = "{version}"' in project and 'license = "Apache-2.0"' in project
    assert pathlib.Path(fovea.__file__).parent == PACKAGE
