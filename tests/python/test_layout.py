"""The rules of the tree (tools/check_layout.py), and that the check finds what breaks them."""

import re
import shutil
import subprocess
import sys

import pytest

from program import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

import check_layout  # noqa: E402


def test_the_tree_keeps_its_rules():
    assert "\n".join(check_layout.check(ROOT).violations) == ""


def test_three_commands_are_walked_from_argument_to_pixels():
    text = (ROOT / "docs/architecture.md").read_text()
    walks = text.split("## From argument to pixels")[1].split("\n## ")[0].split("\n1. ")[1:]
    calls = [check_layout.CALL.findall(walk) for walk in walks]
    assert len(walks) == 3 and all(4 <= len(walk) <= check_layout.MOST_CALLS for walk in calls)
    assert all(walk[0][0].startswith("run_") and walk[-1][0].startswith("draw_") for walk in calls)


def test_sources_are_formatted():
    clang_format = shutil.which("clang-format-16")
    if clang_format is None:
        pytest.skip("clang-format-16 is not installed here")
    sources = [
        str(path)
        for folder in ("fovea", "python", "tests", "bench", "examples")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".cc", ".h")
    ]
    assert sources
    result = subprocess.run(
        [clang_format, "--dry-run", "-Werror", *sources], capture_output=True, text=True
    )
    unformatted = sorted(set(re.findall(r"^(.+?):\d+:\d+: error", result.stderr, re.MULTILINE)))
    assert "\n".join(unformatted) == "", "run clang-format-16 -i on these"
    assert result.returncode == 0, result.stderr


def test_figures_need_no_drawing_library():
    """What makes figures links without cairo and pango: ldd of its tests names neither."""
    program = next(BUILD.rglob("test_figure"))
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "libstdc++" in needed
    assert not re.search("cairo|pango|harfbuzz|fontconfig", needed), needed


ARCHITECTURE = """
| folder | what lives there | may include | now |
|---|---|---|---|
| fovea/base | errors | – | yes |
| fovea/io | files | base | yes |
| fovea/cli | the program | all above | no |

| dependency | headers | included only in |
|---|---|---|
| zlib | `zlib.h` | `fovea/io/zip.cc` |
"""


@pytest.fixture
def tree(tmp_path):
    """A small tree without violations; call it with files to add."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layout.check(tmp_path)

    report = write({
        "docs/architecture.md": ARCHITECTURE,
        "fovea/base/error.h": "#pragma once\n",
        "fovea/base/CMakeLists.txt": "fovea_add_folder(base SOURCES error.cc)\n",
        "fovea/io/zip.h": '#include "fovea/base/error.h"\n',
        "fovea/io/zip.cc": '#include <zlib.h>\n\n#include "fovea/io/zip.h"\n',
        "tests/unit/io/zip_test.cc": '#include "fovea/io/zip.h"\n',
    })
    assert report.violations == []
    return write


BROKEN = {
    "include against the direction": (
        {"fovea/base/file.h": '#include "fovea/io/zip.h"\n'},
        "fovea/base/file.h:1: fovea/base must not include fovea/io",
    ),
    "link against the direction": (
        {"fovea/base/CMakeLists.txt": "fovea_add_folder(base SOURCES error.cc USES io)\n"},
        "fovea/base/CMakeLists.txt: fovea/base must not link fovea/io",
    ),
    "include without its path": (
        {"fovea/io/zip.cc": '#include "zip.h"\n'},
        'fovea/io/zip.cc:1: write the whole path in #include "zip.h"',
    ),
    "folder that is not in the table": (
        {"fovea/extra/thing.h": "\n"},
        "fovea/extra/thing.h: folder fovea/extra is not in the table of docs/architecture.md",
    ),
    "table that names a folder below": (
        {"docs/architecture.md": ARCHITECTURE.replace("| errors | – |", "| errors | io |")},
        "docs/architecture.md: fovea/base may include 'io', which is not above it",
    ),
    "table that is wrong about what is there": (
        {"fovea/cli/main.cc": "\n"},
        "docs/architecture.md: fovea/cli is there but the table says now: 'no'",
    ),
    "table gone": (
        {"docs/architecture.md": ""},
        "docs/architecture.md: the table with the heading 'dependency' is missing",
    ),
    "dependency outside its file": (
        {"fovea/io/npy.cc": "\n#include <zlib.h>\n"},
        "fovea/io/npy.cc:2: zlib may be included only in fovea/io/zip.cc",
    ),
    "name of two files that are compiled together": (
        {"fovea/io/npy.cc": "namespace fovea {\nnamespace {\nconstexpr size_t kMost = size_t{1} << 20, kLeast = 2;\n}\n}\n",
         "fovea/io/npz.cc": "namespace fovea {\nnamespace {\nint kLeast(int x = 3) { return x; }\n}\n}\n"},
        "fovea/io/npz.cc: kLeast is a name of fovea/io/npy.cc too; files of a folder are compiled together, rename one",
    ),
    "name that hides a header's": (
        {"fovea/base/error.h": "#pragma once\nnamespace fovea {\n[[noreturn]] void fail(int kind);\n}\n",
         "fovea/io/npy.cc": "namespace fovea {\nnamespace {\ntemplate <typename T>\nvoid fail(T kind) {}\n}\n}\n"},
        "fovea/io/npy.cc: fail hides that of fovea/base/error.h in files compiled with it; rename it",
    ),
    "type of two headers": (
        {"fovea/base/one.h": "#pragma once\nnamespace fovea {\nstruct Reply {\n  int status = 0;\n};\n}\n",
         "fovea/io/other.h": "#pragma once\nnamespace fovea {\nclass Reply final {\n};\n}\n"},
        "fovea/io/other.h:3: Reply is a type of fovea/base/one.h too; rename one",
    ),
    "file too long": (
        {"fovea/base/long.cc": "\n" * 801},
        "fovea/base/long.cc: 801 lines; a file has at most 800, split it",
    ),
    "library that ends the process": (
        {"fovea/base/end.cc": "void f() {\n  std::abort();\n}\n"},
        "fovea/base/end.cc:2: abort() in the library; use fail() or log()",
    ),
    "library that prints": (
        {"fovea/base/print.cc": 'void f() { fprintf(stderr, "x"); }\n'},
        "fovea/base/print.cc:1: fprintf() in the library; use fail() or log()",
    ),
    "folder without a meaning": (
        {"fovea/io/utils/x.cc": "\n"},
        "fovea/io/utils/x.cc: a folder named utils says nothing; name what lives there",
    ),
    "header without a test": (
        {"fovea/io/npy.h": "\n"},
        "fovea/io/npy.h: no file of tests/ includes this header; write its test",
    ),
    "header that another folder uses, without a test": (
        {
            "docs/architecture.md": ARCHITECTURE.replace("the program | all above | no", "x | all above | yes"),
            "fovea/io/npy.h": "\n",
            "fovea/io/zip.cc": '#include "fovea/io/npy.h"\n',
            "fovea/cli/main.cc": '#include "fovea/io/npy.h"\n',
        },
        "fovea/io/npy.h: no file of tests/ includes this header; write its test",
    ),
    "path of one machine": (
        {"fovea/io/zip.cc": '// see "/' + 'home/someone/zip"\n'},
        "fovea/io/zip.cc:1: a machine's path, /" + "home/",
    ),
    "TODO without an issue": (
        {"fovea/io/zip.cc": "// TODO: later\n"},
        "fovea/io/zip.cc:1: a TODO needs its issue: TODO(#12)",
    ),
    "link to a missing file": (
        {"README.md": "see [this](docs/missing.md)\n"},
        "README.md:1: the link to docs/missing.md leads nowhere",
    ),
    "walk to a file that is gone": (
        {"docs/architecture.md": ARCHITECTURE + "1. `read()` (`fovea/io/tar.cc`) reads.\n"},
        "docs/architecture.md:11: there is no fovea/io/tar.cc",
    ),
    "walk through a function that is only called there": (
        {"docs/architecture.md": ARCHITECTURE + "1. `read()`\n   (`fovea/io/npy.cc`) reads.\n",
         "fovea/io/npy.cc": "int open() {\n  return read();\n}\n// int read() {\n"},
        "docs/architecture.md:11: fovea/io/npy.cc has no read()",
    ),
    "walk of many calls": (
        {"docs/architecture.md": ARCHITECTURE + "".join(f"{n}. `read()` (`fovea/io/npy.cc`)\n" for n in range(1, 10)),
         "fovea/io/npy.cc": "int read() {}\n"},
        "docs/architecture.md:19: a walk of more than 8 calls",
    ),
    "link to a missing heading": (
        {"README.md": "# One thing\nsee [this](#another-thing)\n"},
        "README.md:2: there is no heading #another-thing in README.md",
    ),
}


@pytest.mark.parametrize("files, message", BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_found(tree, files, message):
    assert message in tree(files).violations


# A line of the library -> what it must not have.
ILL_MANNERS = {
    'printf("x");': "printf()",
    'std::vfprintf(file, "x", list);': "vfprintf()",
    'dprintf(2, "x");': "dprintf()",
    'fmt::print("x");': "fmt::print",
    'fmt::println(file, "x");': "fmt::println",
    'fmt::vprint(file, "x", args);': "fmt::vprint",
    'std::print("x");': "std::print",
    'std::fputs("x", stderr);': "stderr",
    "fputc('x', stdout);": "stdout",
    "std::fwrite(data, 1, size, stdout);": "stdout",
    "std::fflush(stderr);": "stderr",
    'std::puts("x");': "puts()",
    "putchar('x');": "putchar()",
    'perror("x");': "perror()",
    'std::cout << "x";': "std::cout",
    'std::cerr << "x";': "std::cerr",
    'std::clog << "x";': "std::clog",
    'cout << "x";': "cout",
    "std::ostream& out = std::cerr;": "std::cerr",
    "::write(STDOUT_FILENO, data, size);": "STDOUT_FILENO",
    "::write(STDERR_FILENO, data, size);": "STDERR_FILENO",
    "::write(2, data, size);": "write(2",
    "return ::isatty(fd) == 1;": "isatty()",
    "std::exit(1);": "exit()",
    'fail(kind, "give a larger --size");': "'--size'",
    'fail(kind, "leave it out or"\n     " give --text-file");': "'--text-file'",
    'fail(kind, R"(see --help)");': "'--help'",
    'fail(kind, "use `fovea text` for it");': "'fovea text'",
    "fail(kind, \"fetch it with 'fovea pull {}'\", name);": "'fovea pull'",
    "void show(const Args& args);": "Args of the program",
    "class Args;": "Args of the program",
    "show(Args({}));": "Args of the program",
}


@pytest.mark.parametrize("line, what", ILL_MANNERS.items(), ids=ILL_MANNERS)
def test_the_library_neither_prints_nor_knows_the_program(tree, line, what):
    violations = tree({"fovea/io/zip.cc": f"// fine\n{line}\n"}).violations
    where = f"fovea/io/zip.cc:{2 + line.count(chr(10))}: "
    assert violations and all(text.startswith(where) for text in violations), violations
    assert any(text.startswith(where + what) for text in violations), violations
    program = {"docs/architecture.md": ARCHITECTURE.replace("all above | no", "all above | yes"), "fovea/io/zip.cc": "\n",
               "fovea/cli/show.cc": line + "\n"}
    assert tree(program).violations == []


def test_files_packs_and_decrements_are_no_ill_manners(tree):
    assert tree({"fovea/io/zip.cc": """
// Given as --size; `fovea text` shows it, on stderr; see Args.
std::fwrite(data, 1, size, file);
std::fputs(text, file);
std::fputc('x', file_);
out.write(1, data);
::write(descriptor, data, size);
write(descriptor, 2);
std::string sprintf_like = fmt::sprintf("%d", 3) + fmt::format("models--{}--x", name) + "a -- b, ---, x--y";
while (count--at > 0) --size;
const char* text = "fovea reads 2 and 3; 'fovea' alone is a name";
template <typename... Args>
void fail(fmt::format_string<Args...> format, Args&&... args) {
  fmt::format(format, std::forward<Args>(args)...);
}
std::ofstream stdout_copy(path);
"""}).violations == []


def test_names_that_cannot_clash_pass(tree):
    own = "namespace fovea {\nnamespace {\nusing Row = std::vector<int>;\n%s\n}\nvoid %s() { int local = 0; }\n}\n"
    assert tree({
        "fovea/io/npy.cc": own % ("struct Reader { int size; };\nvoid Reader::read() {}", "write_npy"),
        "fovea/io/npz.cc": own % ("class Writer final : public Reader { int size; };\nbool operator==(Writer a, Writer b) { return 1; }",
                                  "write_npz"),
        "fovea/base/log.cc": own % ("struct Writer { int local; };", "log"),
        "fovea/io/fast.cc": "#define HWY_TARGET_INCLUDE \"x\"\n" + own % ("struct Writer {};", "fast"),
    }).violations == []


def test_what_only_looks_like_a_violation_passes(tree):
    report = tree({
        "fovea/base/fine.cc":
            "// calls abort() never; exit(1) neither\n"
            'const char* text = "printf(";\n'
            "int n = snprintf(buffer, 3, text);\n"
            "object.exit(); // TODO(#12): name it\n",
        "fovea/io/zip-inl.h": "\n",
        "fovea/io/zip.cc": '#include "fovea/io/zip_format.h"\n',
        "fovea/io/zip_format.h": "// a private part of zip.cc\n",
        "fovea/io/zip.h": '#include "fovea/io/entry.h"\n',
        "fovea/io/entry.h": "// shown by zip.h\n",
        "README.md": "# A (real) heading\n[a](#a-real-heading) [b](https://example.org/home/x) "
                     "[c](docs/architecture.md)\n```\n[d](nowhere.md)\n```\n",
    })
    assert report.violations == []


def test_long_functions_and_files_are_notes(tree):
    slow = "void slow(int x,\n          int y) {\n" + "  if (x) {\n    step();\n  }\n" * 23 + "}\n"
    short = "void quick() {\n" + "  step();\n" * 58 + "}\n"
    made = "Thing::Thing()\n    : size_{1},\n      rest_(2) {\n" + "  step();\n" * 60 + "}\n"
    report = tree({
        "fovea/base/slow.cc": f"namespace fovea {{\n\n{slow}\n{short}\n{made}\n}}  // namespace fovea\n",
        "fovea/base/longish.cc": "\n" * 401,
    })
    assert report.violations == []
    assert report.notes == [
        "fovea/base/longish.cc:401: 401 lines, above 400",
        "fovea/base/slow.cc:3: a function of 72 lines, above 60",
        "fovea/base/slow.cc:137: a function of 64 lines, above 60",
    ]
