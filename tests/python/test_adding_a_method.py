"""docs/adding-a-method.md, walked: its file joins the others, is listed and run, and passes its test and theirs."""

import json
import re

import models
from building import build, install, run
from program import BUILD, ROOT

PAGE = ROOT / "docs/adding-a-method.md"

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(adding_a_method LANGUAGES CXX)
set(PROJECT_SOURCE_DIR "{root}")
set(CMAKE_CXX_STANDARD 20)
find_package(fovea REQUIRED)
find_package(GTest REQUIRED)
include("{root}/cmake/FoveaRegistry.cmake")
fovea_add_registry(FOLDER fovea/explain/methods TYPE Method SUFFIX method
                   HEADER fovea/explain/method.h FUNCTION all_methods OUT sources)
# The other methods are in the library; only the page's file and the new list are compiled.
list(FILTER sources INCLUDE REGEX "/({name}|all_methods)\\\\.cc$")
add_executable(walk "{root}/tests/support/main.cc" "{root}/tests/unit/explain/method_test.cc" {name}_test.cc ${{sources}})
target_include_directories(walk PRIVATE "{root}/tests")
target_compile_definitions(walk PRIVATE FOVEA_TEST_DATA="${{CMAKE_CURRENT_SOURCE_DIR}}/tests/data")
target_link_libraries(walk PRIVATE fovea::explain GTest::gmock)
add_executable(fovea "{root}/fovea/cli/main.cc" ${{sources}})
target_include_directories(fovea PRIVATE "{root}")
target_link_libraries(fovea PRIVATE "{build}/fovea/cli/libfovea_cli_core.a" fovea::server)
"""


def test_the_method_of_the_page_is_listed_and_works(tmp_path):
    page = PAGE.read_text()
    [name] = re.findall(r"^## 2\. Write `fovea/explain/methods/(\w+)\.cc`", page, re.MULTILINE)
    [of_test] = re.findall(r"^## 3\. Write `tests/unit/explain/(\w+)_test\.cc`", page, re.MULTILINE)
    assert of_test == name
    method, test = re.findall(r"^```cpp\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert f"Method {name}_method()" in method

    # What the steps ask for, in a copy of the parts of the tree that they touch.
    methods = tmp_path / "fovea/explain/methods"
    methods.mkdir(parents=True)
    for file in (ROOT / "fovea/explain/methods").glob("*.cc"):
        (methods / file.name).symlink_to(file)
    (methods / f"{name}.cc").write_text(method)
    (tmp_path / f"{name}_test.cc").write_text(test)
    (tmp_path / "tests/data").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    guide = (ROOT / "docs/methods.md").read_text()
    (tmp_path / "docs/methods.md").write_text(f"{guide}\n## {name}\n\n| [{name}](#{name}) | ? | | |\n")

    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, build=BUILD, name=name))
    build(tmp_path, tmp_path / "build", install(tmp_path / "installed"))
    answer = run(tmp_path / "build/walk")
    tests = re.findall(r"^TEST\((\w+), (\w+)\)", test, re.MULTILINE)
    assert len(tests) >= 2
    for suite, case in [*tests, ("Methods", "AreTheFilesOfTheirFolderInOrder"), ("Methods", "HaveTheirSectionInTheGuide")]:
        assert f"[       OK ] {suite}.{case}" in answer

    program = tmp_path / "build/fovea"
    listed = [known["name"] for known in json.loads(run(program, "methods", "--json"))]
    assert name in listed and "rollout" in listed
    model = models.bert(tmp_path / "model")
    answer = json.loads(run(program, "explain", "the cat sat", "-m", model, "--method", name, "--json"))["result"]
    assert all(1 <= score <= len(answer["scores"]) for score in answer["scores"])
