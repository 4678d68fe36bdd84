"""docs/adding-a-model.md, walked: its file is built as it stands there and passes the parity test."""

import re

from building import build, install, run
from program import ROOT

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
add_executable(parity "{root}/tests/support/main.cc" "{root}/tests/parity/parity_test.cc" ${{sources}})
target_include_directories(parity PRIVATE "{root}/tests")
target_compile_definitions(parity PRIVATE FOVEA_TEST_DATA="{data}")
target_link_libraries(parity PRIVATE fovea::engine GTest::gmock)
"""


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
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, data=data))
    build(tmp_path, tmp_path / "build", install(tmp_path / "installed"))
    answer = run(tmp_path / "build" / "parity")
    assert f"[       OK ] Fixtures/Parity.EveryMapAndOutputMatchesTransformers/{name}" in answer


def test_the_fixture_of_the_page_is_in_the_table():
    [name] = re.findall(r"make_fixture\.py (\w+)", PAGE.read_text())
    assert f'Fixture("{name}"' in (ROOT / "tools/fixtures/fixture_models.py").read_text()
    assert (ROOT / "tests/data/adding_a_model" / name / "expected.safetensors").exists()
