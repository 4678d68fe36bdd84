"""Checks the rules of the tree that a compiler cannot check. Standard library only.

    python3 tools/check_layout.py [ROOT]

Which folder may include which, and where a dependency may be included, is read from the tables of
docs/architecture.md, so that the text and the check cannot differ. Prints `place: what is wrong`
for each violation and exits with 1 if there is one; what is only worth knowing is a note.
"""

import ast
import collections
import dataclasses
import pathlib
import re
import sys

import cpp_names
from cpp_names import COMMENT_OR_LITERAL, without_comments_and_strings

SOURCE_FOLDERS = ["fovea", "python", "tests", "bench", "examples", "tools", "cmake", "docs", ".ci"]
TOP_FILES = ["README.md", "CHANGELOG.md", "NOTICE", "CMakeLists.txt", "CMakePresets.json", "run", "test"]
TEXT_SUFFIXES = {".h", ".cc", ".cmake", ".in", ".json", ".md", ".py", ".sh", ".txt", ""}
CODE_SUFFIXES = {".h", ".cc", ".py", ".sh"}

SOFT_LINES, HARD_LINES, FUNCTION_LINES = 400, 800, 60
FORBIDDEN_FOLDERS = {"utils", "util", "common", "misc", "helpers"}
# Folders that talk to a terminal and end a process; the rest of fovea/ is a library.
PROGRAM_FOLDERS = {"cli"}
# Every header of these must be included by a test.
TESTED_FOLDERS = ["io", "attention", "kernels", "ops", "checkpoint", "text", "vision", "capture", "layers", "models", "generate",
                  "atlas", "explain", "engine", "figure"]

INCLUDE = re.compile(r'^[ \t]*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
# What ends a process, and what writes to a terminal or asks about one. fputs, fputc and fwrite do so only where they are given
# stdout or stderr; a file of one's own is nobody's terminal.
FORBIDDEN_CALL = re.compile(
    r"(?<![\w.>])(?:std::)?(abort|exit|_exit|quick_exit|terminate|v?[fd]?printf|puts|putchar|perror|isatty)\s*\("
)
TERMINAL = re.compile(
    r"\b(?:fmt|std)::v?print(?:ln)?\b|(?:\bstd::)?\bw?c(?:out|err|log)\b(?=\s*<<)|\bstd::w?c(?:out|err|log)\b"
    r"|\b(?:stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|(?<![\w.>])write\s*\(\s*[12]\b"
)
# `--size`, and a command line: `fovea text`, 'fovea pull {}'.
PROGRAM_WORD = re.compile(r"(?<![\w}-])--[a-z][a-z-]*|(?<=[`'])fovea [a-z{]\w*")
# Not the parameter pack that templates have under this name.
PROGRAM_ARGS = re.compile(r"(?<!\.\.\. )\bArgs\b(?!>\(|\s*(?:&&)?\s*\.\.\.)")
MACHINE_PATH = re.compile(r"(?<![\w.~$}/:*-])/(home|root|tmp|work|mnt|Users)/")
TODO = re.compile(r"\bTODO\b(?!\(#\d+\))")
# A call of a walk through the code: `draw_heads()` (`fovea/render/draw_heads.cc`).
CALL = re.compile(r"`([\w:]+)\(\)`\s+\(`([\w./]+)`\)")
MOST_CALLS = 8  # of a walk
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


@dataclasses.dataclass
class Report:
    violations: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def violate(self, path, line, text):
        self.violations.append(f"{path}:{line}: {text}" if line else f"{path}: {text}")

    def note(self, path, line, text):
        self.notes.append(f"{path}:{line}: {text}")


class Tree:
    """The text files of a checkout, by their path below its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = {}
        for top in SOURCE_FOLDERS:
            for path in sorted((self.root / top).rglob("*")):
                inner = path.relative_to(self.root)
                if "__pycache__" in inner.parts or "corpus" in inner.parts or "data" in inner.parts:
                    continue  # made by Python, or bytes that tests read
                if path.is_file() and path.suffix in TEXT_SUFFIXES:
                    self.files[inner.as_posix()] = path.read_text(errors="replace")
        for name in TOP_FILES:
            if (self.root / name).is_file():
                self.files[name] = (self.root / name).read_text(errors="replace")

    def select(self, folder, *suffixes):
        """The files with these suffixes below the folder: their paths and texts."""
        return {path: text for path, text in self.files.items()
                if path.startswith(folder + "/") and pathlib.PurePosixPath(path).suffix in suffixes}


TYPE = re.compile(r"^(?:struct|class|enum class)\s+(\w+)(?: final)?\s*(?::[^:;{][^;{]*)?\{", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def read_table(text, first_heading):
    """Rows of the Markdown table whose first heading is that, as dicts by heading."""
    lines = iter(text.splitlines())
    for line in lines:
        headings = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and headings[0] == first_heading:
            break
    else:
        return []
    next(lines)  # the rule under the headings
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(headings, (cell.strip() for cell in line.strip().strip("|").split("|")))))
    return rows


def folder_rules(tree, report):
    """Folder of fovea/ -> folders it may include, from docs/architecture.md."""
    where = "docs/architecture.md"
    rules = {}
    for row in read_table(tree.files.get(where, ""), "folder"):
        name = row["folder"].strip("`")
        if not name.startswith("fovea/"):
            continue
        name = name.removeprefix("fovea/")
        allowed = row["may include"]
        if allowed == "all above":
            rules[name] = set(rules)
        else:
            rules[name] = set() if allowed in ("–", "-", "") else set(allowed.split())
        for unknown in sorted(rules[name] - set(rules) | rules[name] & {name}):
            report.violate(where, 0, f"fovea/{name} may include '{unknown}', which is not above it")
        exists = (tree.root / "fovea" / name).is_dir()
        if exists != (row.get("now") == "yes"):
            found = "is there" if exists else "is not there"
            report.violate(where, 0, f"fovea/{name} {found} but the table says now: '{row.get('now')}'")
    if not rules:
        report.violate(where, 0, "the table with the headings 'folder' and 'may include' is missing")
    return rules


def check_includes(tree, report):
    rules = folder_rules(tree, report)
    for path, text in tree.select("fovea", ".h", ".cc").items():
        folder = path.split("/")[1]
        if folder not in rules:
            report.violate(path, 0, f"folder fovea/{folder} is not in the table of docs/architecture.md")
            continue
        for match in INCLUDE.finditer(text):
            quote, included = match.groups()
            line = line_of(text, match.start())
            if quote == '"' and "/" not in included:
                report.violate(path, line, f'write the whole path in #include "{included}"')
            if not included.startswith("fovea/"):
                continue
            other = included.split("/")[1]
            if other != folder and other not in rules[folder]:
                report.violate(path, line, f"fovea/{folder} must not include fovea/{other}")
    for path, text in tree.select("fovea", ".txt").items():
        folder = path.split("/")[1]
        uses = re.search(r"\bUSES\s+([a-z_\s]+?)\s*(?:\)|[A-Z])", text)
        for other in uses.group(1).split() if uses else []:
            if folder in rules and other not in rules[folder]:
                report.violate(path, 0, f"fovea/{folder} must not link fovea/{other}")


def check_dependencies(tree, report):
    """Each dependency's headers only where the table allows them."""
    where = "docs/architecture.md"
    rows = read_table(tree.files.get(where, ""), "dependency")
    if not rows:
        report.violate(where, 0, "the table with the heading 'dependency' is missing")
    for row in rows:
        headers = re.findall(r"`([^`]+)`", row["headers"])
        allowed = re.findall(r"`([^`]+)`", row["included only in"])
        for path, text in tree.files.items():
            if not path.endswith((".h", ".cc")):
                continue
            if any(path == place or path.startswith(place.rstrip("/") + "/") for place in allowed):
                continue
            for match in INCLUDE.finditer(text):
                if any(match.group(2).startswith(header) for header in headers):
                    report.violate(
                        path,
                        line_of(text, match.start()),
                        f"{row['dependency']} may be included only in {', '.join(allowed)}",
                    )


def function_lengths(text):
    """(line, length) of each C++ function, from its first line to its closing brace."""
    code = re.sub(r"^[ \t]*#.*$", "", without_comments_and_strings(text), flags=re.MULTILINE)
    container = re.compile(r"\b(namespace|class|struct|enum|union|extern)\b(?![^(]*\()")
    open_braces = []  # for each: the function's first line, or None
    statement, start = 0, 1  # where the current statement begins, and its line
    for match in re.finditer(r"[;{}]", code):
        before = code[statement : match.start()]
        if match.group() == "{":
            if not before.strip() or before.lstrip().startswith(","):
                first = start  # the body after a member's {initialiser}
            else:
                start = first = line_of(code, match.start() - len(before.lstrip()))
            inside = any(line is not None for line in open_braces)
            is_function = "(" in before or first == start and not before.strip()
            open_braces.append(first if is_function and not inside and not container.search(before) else None)
        elif match.group() == "}" and open_braces:
            first = open_braces.pop()
            if first is not None:
                yield first, line_of(code, match.start()) - first + 1
        statement = match.end()


def check_sizes(tree, report):
    for path, text in tree.files.items():
        if pathlib.PurePosixPath(path).suffix not in CODE_SUFFIXES:
            continue
        lines = text.count("\n")
        if lines > HARD_LINES:
            report.violate(path, 0, f"{lines} lines; a file has at most {HARD_LINES}, split it")
        elif lines > SOFT_LINES:
            report.note(path, lines, f"{lines} lines, above {SOFT_LINES}")
        if path.endswith(".py"):
            lengths = [
                (node.lineno, node.end_lineno - node.lineno + 1)
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.FunctionDef)
            ]
        else:
            lengths = function_lengths(text) if path.endswith((".h", ".cc")) else []
        for line, length in lengths:
            if length > FUNCTION_LINES:
                report.note(path, line, f"a function of {length} lines, above {FUNCTION_LINES}")


def check_library_manners(tree, report):
    """A library throws; it neither ends the process nor prints, and knows no front end's words."""
    for path, text in tree.select("fovea", ".h", ".cc").items():
        if path.split("/")[1] in PROGRAM_FOLDERS:
            continue
        code = without_comments_and_strings(text)
        found = [(match.start(), f"{match.group(1)}() in the library; use fail() or log()") for match in FORBIDDEN_CALL.finditer(code)]
        found += [(match.start(), f"{match.group()} in the library; use fail() or log()") for match in TERMINAL.finditer(code)]
        found += [(match.start(), "Args of the program in the library; take values") for match in PROGRAM_ARGS.finditer(code)]
        for literal in COMMENT_OR_LITERAL.finditer(text):
            if literal.group().startswith("/"):
                continue
            found += [
                (literal.start() + match.start(), f"'{match.group()}' is the program's word; name the field: fail(kind, Field{{…}}, …)")
                for match in PROGRAM_WORD.finditer(literal.group())
            ]
        for position, what in sorted(found):
            report.violate(path, line_of(text, position), what)


def check_names(tree, report):
    for path in tree.files:
        for part in pathlib.PurePosixPath(path).parts[:-1]:
            if part in FORBIDDEN_FOLDERS:
                report.violate(path, 0, f"a folder named {part} says nothing; name what lives there")


def check_own_names(tree, report):
    """Sources of a folder are compiled together: what is one file's own must be no other's, nor a header's, which it would hide."""
    rules = folder_rules(tree, Report())
    headers = collections.defaultdict(list)  # name -> where it is declared
    for path, text in (tree.select("fovea", ".h") | tree.select("tests", ".h")).items():
        if not path.endswith("-inl.h"):
            for name in cpp_names.names_in(text).public:
                headers[name].append(path)
    first = {}  # (folder, name) -> where it was first found, and as what
    for path, text in (tree.select("fovea", ".cc") | tree.select("tests/unit", ".cc")).items():
        folder = re.match(r"(?:fovea|tests/unit)/[^/]+", path).group()
        if "#define HWY_TARGET_INCLUDE" in text:
            continue  # compiled alone
        seen = (f"{folder}/", "tests/support/")
        if folder.startswith("fovea/"):
            seen = tuple(f"fovea/{name}/" for name in {folder[6:], *rules.get(folder[6:], ())})
        for name, statement in cpp_names.names_in(text).own.items():
            other, same = first.setdefault((folder, name), (path, statement))
            if other != path and not (statement.startswith("using ") and statement == same):
                report.violate(path, 0, f"{name} is a name of {other} too; files of a folder are compiled together, rename one")
            for header in headers[name]:
                if header.startswith(seen):
                    report.violate(path, 0, f"{name} hides that of {header} in files compiled with it; rename it")


def check_types(tree, report):
    """No two headers define a type of one name and namespace: linked together, one takes the other's destructor."""
    first = {}  # (namespace, name) -> where it was first found
    for path, text in tree.select("fovea", ".h").items():
        text = without_comments_and_strings(text)
        for match in TYPE.finditer(text):
            opened = NAMESPACE.findall(text, 0, match.start())
            name = match.group(1)
            other = first.setdefault((opened[-1] if opened else "", name), path)
            if other != path:
                report.violate(path, line_of(text, match.start()), f"{name} is a type of {other} too; rename one")


def check_tested(tree, report):
    """A test includes the header itself, or one that shows it, or it is a private part of one."""
    includes = {
        path: {match.group(2) for match in INCLUDE.finditer(text)}
        for path, text in tree.files.items()
        if path.endswith((".h", ".cc"))
    }
    tested = set().union(*(found for path, found in includes.items() if path.startswith("tests/")))

    def same_folder(one, other):
        return one.split("/")[:2] == other.split("/")[:2]

    def reached(header):
        users = [path for path, found in includes.items() if header in found and path.startswith("fovea/")]
        tested_users = [path for path in users if path.replace(".cc", ".h") in tested and same_folder(path, header)]
        private = all(same_folder(path, header) for path in users)
        return any(path.endswith(".h") or private for path in tested_users)

    headers = [path for folder in TESTED_FOLDERS for path, _ in tree.select(f"fovea/{folder}", ".h").items()]
    while more := [header for header in headers if header not in tested and reached(header)]:
        tested.update(more)
    for header in headers:
        if not header.endswith("-inl.h") and header not in tested:
            report.violate(header, 0, "no file of tests/ includes this header; write its test")


def check_words(tree, report):
    for path, text in tree.files.items():
        for match in MACHINE_PATH.finditer(text):
            report.violate(path, line_of(text, match.start()), f"a machine's path, {match.group()}")
        if path.endswith((".py", ".md")):
            continue
        for match in TODO.finditer(text):
            report.violate(path, line_of(text, match.start()), "a TODO needs its issue: TODO(#12)")


def anchors(text):
    """The names that headings get on a rendered page; the second of a name ends with -1, the third with -2."""
    names, counts = set(), collections.Counter()
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.add(f"{name}-{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return names


def check_links(tree, report):
    for path, text in tree.files.items():
        if not path.endswith(".md"):
            continue
        prose = re.sub(r"^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                       flags=re.DOTALL | re.MULTILINE)
        for match in LINK.finditer(prose):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            place = (tree.root / path).parent / name if name else tree.root / path
            line = line_of(prose, match.start())
            if not place.exists():
                report.violate(path, line, f"the link to {target} leads nowhere")
            elif anchor and place.suffix == ".md" and anchor not in anchors(place.read_text()):
                report.violate(path, line, f"there is no heading #{anchor} in {name or path}")


def check_walks(tree, report):
    """docs/architecture.md walks from argument to pixels in few calls, of functions that are where it says."""
    where = "docs/architecture.md"
    text = tree.files.get(where, "")
    calls = 0  # of this walk
    for match in CALL.finditer(text):
        name, path = match.groups()
        line = line_of(text, match.start())
        first = text[: match.start()].endswith("\n1. ")
        calls = 1 if first else calls + 1
        if calls > MOST_CALLS:
            report.violate(where, line, f"a walk of more than {MOST_CALLS} calls")
        if path not in tree.files:
            report.violate(where, line, f"there is no {path}")
        elif not re.search(rf"^(?! |return).*\b{name}\(", without_comments_and_strings(tree.files[path]), re.MULTILINE):
            report.violate(where, line, f"{path} has no {name}()")


CHECKS = [
    check_includes, check_dependencies, check_sizes, check_library_manners, check_names, check_own_names, check_types,
    check_tested, check_words, check_links, check_walks,
]


def check(root):
    """All checks over the checkout at `root`."""
    tree, report = Tree(root), Report()
    for one in CHECKS:
        one(tree, report)
    return report


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    report = check(root)
    for note in report.notes:
        print(f"note: {note}")
    for violation in report.violations:
        print(violation)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
