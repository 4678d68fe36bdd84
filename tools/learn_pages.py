"""The chapters of docs/learn: what their commands print, what the pages say they print, and how the two are compared.

A ```sh block holds commands; where a ```text block follows, the sh block holds one and the text is what it prints, with `[…]` for
lines left out. `![…](images/NAME.png)` is what a command of the chapter writes with `--out NAME.png`.
tools/write_learn.py brings the pages up to date, tests/python/test_learn.py checks that they are.
"""

import dataclasses
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/learn"
IMAGES = FOLDER / "images"
BUILD = pathlib.Path(os.environ.get("FOVEA_BUILD", ROOT / "build/release")).resolve()
LEFT_OUT = "[…]"

BARS = re.compile("[▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐░▒▓]+")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
# 1,024 and 0.25 and .25, but not the 6 of "l6"; a comma between two pixels is none of thousands.
NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+)(?![\d.]*\d|[a-z_])|[⁰¹²³⁴⁵⁶⁷⁸⁹]+")


@dataclasses.dataclass
class Example:
    line: int  # of the first command, from 1
    commands: list[str]
    shown: list[str] | None  # the text block behind it
    shown_span: tuple[int, int]  # its place in the page


def chapters():
    return sorted(FOLDER.glob("[1-9]-*.md"))


def examples(text):
    blocks = r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?"
    for block in re.finditer(blocks, text, re.DOTALL | re.MULTILINE):
        lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in block[1].replace("\\\n", " ").splitlines())
        shown = block[2].splitlines() if block[2] is not None else None
        yield Example(text.count("\n", 0, block.start(1)) + 1, [line for line in lines if line], shown, block.span(2))


def picture_of(command):
    """The file that a command draws, or None."""
    found = re.search(r"--out (\S+\.png)", command)
    return found and found[1]


# Running --------------------------------------------------------------------------------------------------------------------------


def prepare(folder):
    """Makes `folder` look like the repository to a command of a chapter; ./run is the program that was built."""
    (folder / "run").write_text(f'#!/bin/sh\nexec "{BUILD / "bin/fovea"}" "$@"\n')
    (folder / "run").chmod(0o755)
    for name in ("examples", "models"):
        (folder / name).symlink_to(ROOT / name)


def models_of(command):
    """The fetched models that a command needs; the others are bundled."""
    words = shlex.split(command)
    if "-m" in words:
        name = words[words.index("-m") + 1]
        return [] if (ROOT / "models" / name).exists() else [name]
    verb, first = words[1], words[2] if len(words) > 2 else ""
    if verb == "text" and "--generate" in words:
        return ["smollm2-135m-instruct"]
    of_text = verb in ("text", "tokenize") or (verb == "stats" and first.endswith(".txt"))
    of_text |= verb in ("steps", "explain", "capture") and " " in first and "--target" not in words
    return ["all-minilm-l6-v2"] if of_text else []


def run(command, folder, models):
    """Runs a command with a terminal of 100 columns, without colours; its picture has one pixel per unit, which is what a page shows."""
    picture, knows_pixels = picture_of(command), not command.startswith("./run steps ")
    scaled = f"{command} --pixels 1" if picture and knows_pixels else command
    foreign = ("COLORTERM", "FORCE_COLOR", "CLICOLOR_FORCE", "FOVEA_LOG")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {scaled}"], cwd=folder, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=120,
        env={"GOMP_SPINCOUNT": "1000", **environment, "FOVEA_CACHE": str(models), "COLUMNS": "100", "NO_COLOR": "1"},  # as ./run
    )
    if picture and not knows_pixels and result.returncode == 0:
        halve_picture(folder / picture)
    return result


# Text -----------------------------------------------------------------------------------------------------------------------------


def parts_of(line):
    """(the line without numbers, bars and repeated spaces; its numbers as they are printed)."""
    line = BARS.sub(" ", line)
    return " ".join(NUMBER.sub(" # ", line).split()), NUMBER.findall(line)


def digits(number):
    return len(number.partition(".")[2])


def plain(number):
    """One spelling for .5 and 0.5, −1 and -1, 1,024 and 1024, ⁵¹ and 51."""
    number = number.translate(RAISED).replace("−", "-").replace(",", "")
    return re.sub(r"^(-?)\.", r"\g<1>0.", number)


def same_number(shown, printed):
    """Equal, or apart by one in the last printed digit: processors add up in different orders, and a value may lie on the edge
    between two roundings. Whole numbers are counts and names and must be equal; raised ones are rounded percents."""
    if plain(shown) == plain(printed):
        return True
    raised = shown[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹" and printed[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹"
    places = max(digits(shown), digits(printed))
    return (raised or places > 0) and abs(float(plain(shown)) - float(plain(printed))) <= 1.01 * 10.0**-places


def same_line(shown, printed):
    (text, numbers), (other, others) = parts_of(shown), parts_of(printed)
    return text == other and all(map(same_number, numbers, others))


def chunks_of(shown):
    """The runs of lines between those left out; the first and the last are empty where something is left out there."""
    chunks = [[]]
    for line in shown:
        if line == LEFT_OUT:
            chunks.append([])
        else:
            chunks[-1].append(line)
    return chunks


def is_printed(shown, printed):
    """Whether `shown`, with its gaps, is what was printed."""
    chunks = chunks_of(shown)
    place = 0
    for number, chunk in enumerate(chunks):
        starts = range(place, len(printed) - len(chunk) + 1)
        if number == 0:
            starts = starts[:1]
        if number == len(chunks) - 1:
            starts = [start for start in starts if start == len(printed) - len(chunk)]
        found = next((s for s in starts if all(map(same_line, chunk, printed[s : s + len(chunk)]))), None)
        if found is None:
            return False
        place = found + len(chunk)
    return True


def as_printed(shown, printed):
    """`shown` with the numbers of `printed`; None where its lines are not there at all."""
    result, place = [], 0
    for number, chunk in enumerate(chunks_of(shown)):
        if number:
            result.append(LEFT_OUT)
        wanted = [parts_of(line) for line in chunk]
        best = None
        for start in range(place, len(printed) - len(chunk) + 1):
            found = [parts_of(line) for line in printed[start : start + len(chunk)]]
            if [text for text, _ in found] == [text for text, _ in wanted]:
                equal = sum(a == b for (_, x), (_, y) in zip(found, wanted) for a, b in zip(x, y))
                if best is None or equal > best[0]:
                    best = (equal, start)
        if best is None:
            return None
        place = best[1] + len(chunk)
        result += [line.rstrip() for line in printed[best[1] : place]]
    return result


# Prose ----------------------------------------------------------------------------------------------------------------------------


def sections(text):
    """(line, text) of each part of a page that a heading begins."""
    starts = [0, *(match.start() for match in re.finditer(r"^## ", text, re.MULTILINE)), len(text)]
    for start, end in zip(starts, starts[1:]):
        yield text.count("\n", 0, start) + 1, text[start:end]


def prose_of(section):
    """What a reader reads outside of blocks, without the title and without links, whose texts name chapters and years of papers."""
    prose = re.sub(r"^```.*?^```$", "", section, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^# .*$", "", prose, flags=re.MULTILINE)
    prose = re.sub(r"(?<!!)\[[^]]*\]\([^)]*\)", "", prose)
    return re.sub(r"\]\([^)]*\)", "]", prose)  # of pictures the place, not the words


def numbers_without_source(section):
    """Numbers of the prose that no block of the same section has, neither in a command nor in what it prints."""
    blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE))
    known = {plain(number) for number in NUMBER.findall(blocks)}
    return [number for number in NUMBER.findall(prose_of(section)) if plain(number) not in known]


# Pictures -------------------------------------------------------------------------------------------------------------------------


# Half of the bits of a photograph are noise; 32 levels of each colour look the same and keep the repository small.
FEWER_LEVELS = [round(round(level * 31 / 255) * 255 / 31) for level in range(256)] * 3


def read_picture(path):
    from PIL import Image  # here, so that the rest goes without it

    with Image.open(path) as picture:
        return picture.convert("RGB").point(FEWER_LEVELS)


def halve_picture(path):
    from PIL import Image

    with Image.open(path) as picture:
        half = picture.convert("RGB").reduce(2)
    half.save(path)


def store_picture(drawn, path):
    read_picture(drawn).save(path, optimize=True)


def picture_difference(drawn, stored):
    """Mean absolute difference of the colours, of 255; None where the sizes differ."""
    from PIL import ImageChops, ImageStat

    drawn, stored = read_picture(drawn), read_picture(stored)
    if drawn.size != stored.size:
        return None
    return sum(ImageStat.Stat(ImageChops.difference(drawn, stored)).mean) / 3
