"""docs/adding-a-model.md, walked: its file is built as it stands there and passes the parity test."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FOVEA_BUILD", ROOT / "build/release")).resolve()
PAGE = ROOT / "docs/adding-a-model.md"

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(adding_a_model LANGUAGES CXX)
set(PROJECT_SOURCE_DIR "{root}")
set(CMAKE_CXX_STANDARD 20)
find_package(fovea REQUIRED)
find_package(GTest REQUIRED)
include("{root}/cmake/FoveaRegistry.cmake")
# The folder holds the page's file only, so the list that is made from it replaces the library's own.
fovea_add_registry(FOLDER architectures TYPE Architecture SUFFIX architecture
                   HEADER fovea/models/model.h FUNCTION all_architectures OUT sources)
add_executable(parity "{root}/tests/parity/parity_test.cc" ${{sources}})
target_compile_definitions(parity PRIVATE FOVEA_TEST_DATA="{data}")
target_link_libraries(parity PRIVATE fovea::engine GTest::gmock_main)
"""


def run(*command):
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"
    return result.stdout


def test_the_architecture_of_the_page_builds_and_matches_transformers(tmp_path):
    page = PAGE.read_text()
    [name] = re.findall(r"^## 2\. Write `fovea/models/architectures/(\w+)\.cc`", page, re.MULTILINE)
    [code] = re.findall(r"^```cpp\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert f"Architecture {name}_architecture()" in code

    (tmp_path / "architectures").mkdir()
    (tmp_path / "architectures" / f"{name}.cc").write_text(code)
    data = tmp_path / "data"
    data.mkdir()
    (data / "parity").symlink_to(ROOT / "tests/data/adding_a_model")
    prefix = tmp_path / "installed"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, data=data))
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    answer = run(tmp_path / "build" / "parity")
    assert f"[       OK ] Fixtures/Parity.EveryMapAndOutputMatchesTransformers/{name}" in answer


def test_the_fixture_of_the_page_is_in_the_table():
    [name] = re.findall(r"make_fixture\.py (\w+)", PAGE.read_text())
    assert f'Fixture("{name}"' in (ROOT / "tools/fixture_models.py").read_text()
    assert (ROOT / "tests/data/adding_a_model" / name / "expected.safetensors").exists()
