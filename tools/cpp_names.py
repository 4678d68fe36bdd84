"""The names that a C++ file declares at namespace scope, read from its text. Standard library only.

It knows the C++ of this project, as clang-format leaves it, and not all of the language.
"""

import dataclasses
import re

COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)
NAMESPACE = re.compile(r"\bnamespace(\s+[\w:]+)?\s*$")
TYPE = re.compile(r"(?:struct|class|union|concept|enum(?:\s+class|\s+struct)?)\s+(\w+)")
NO_NAME = re.compile(r"using\s+(?!\w+\s*=)|namespace\b|static_assert\b|friend\b|extern\b|[A-Z_]+\(")


@dataclasses.dataclass
class Names:
    """Name -> the declaration without its body, for all to see and for this file alone."""

    public: dict[str, str] = dataclasses.field(default_factory=dict)
    own: dict[str, str] = dataclasses.field(default_factory=dict)


def without_comments_and_strings(text):
    """C++ text with comments and literals blanked, lines kept."""
    return COMMENT_OR_LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def without_nested(text, opening, closing):
    """The text without what stands between the brackets, and without them."""
    pattern = re.compile(rf"{re.escape(opening)}[^{re.escape(opening + closing)}]*{re.escape(closing)}")
    while (shorter := pattern.sub(" ", text)) != text:
        text = shorter
    return text


def declared(statement):
    """The names that a statement (its bodies and initialisers are {}) declares."""
    plain = re.sub(r"\[\[.*?\]\]", "", statement).strip()
    plain = re.sub(r"^(template\s+)+", "", without_nested(plain, "<", ">")).strip()
    if not plain or NO_NAME.match(plain):
        return []
    if alias := re.match(r"using\s+(\w+)", plain):
        return [alias.group(1)]
    if (kind := TYPE.match(plain)) and "(" not in plain:
        return [kind.group(1)]
    if "operator" in plain:
        return []
    if function := re.match(r"[^=({]*?([\w:~]+)\s*\(", plain):
        return [] if "::" in function.group(1) else [function.group(1)]
    values = without_nested(without_nested(plain, "(", ")"), "{", "}")
    names = (re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", part.strip(), re.DOTALL) for part in values.split(","))
    return [name.group(1) for name in names if name]


def goes_on_after(statement):
    """Whether the } that ended closed a value rather than a body: `= size_t{1} << 20;`."""
    outside = without_nested(without_nested(re.sub(r"operator\S+", "", statement), "<", ">"), "(", ")")
    return "=" in outside


def names_in(text):
    code = DIRECTIVE.sub("", without_comments_and_strings(text))
    names, scopes, statement = Names(), [], ""  # scopes: of the open braces, None where no namespace was opened

    def note(whole):
        kept = names.own if "" in scopes else names.public
        kept.update({name: " ".join(whole.split()) for name in declared(whole)})

    for match in re.finditer(r"([^;{}]*)([;{}])", code):
        before, mark = match.groups()
        inside = None in scopes
        if not inside:
            statement += before
        if mark == "{":
            opened = None if inside else NAMESPACE.search(statement)
            scopes.append((opened.group(1) or "").strip() if opened else None)
            statement = "" if opened else statement
        elif mark == "}":
            ended = scopes.pop() if scopes else None
            if ended is not None:
                statement = ""
            elif None not in scopes:
                statement += "{}"
                if not goes_on_after(statement):
                    note(statement)
                    statement = ""
        elif not inside:
            note(statement)
            statement = ""
    return names
