#!/usr/bin/env python3
"""Brings the chapters of docs/learn up to date: runs their commands, writes what they print into the text blocks, and the pictures
into docs/learn/images.

    build/venv/bin/python tools/write_learn.py [CHAPTER…]      beginnings of names, 1 or 5-pictures; none: all

Lines of a text block are found again by all but their numbers; where a line is gone, the block is left as it is and named. Prose
is never written: numbers in it that no block of their section has any more are listed.
"""

import pathlib
import sys
import tempfile

import learn_pages as learn

MODELS = learn.ROOT / "build/models"


def update(page, folder):
    """What is left to do by hand."""
    text, complaints = page.read_text(), []
    updated, place = "", 0
    for example in learn.examples(text):
        printed = []
        for command in example.commands:
            result = learn.run(command, folder, MODELS)
            if result.returncode != 0:
                complaints.append(f"{page.name}:{example.line}: {command}: {result.stderr.strip()}")
            printed = result.stdout.splitlines()
            name = learn.picture_of(command)
            if name and result.returncode == 0 and f"(images/{name})" in text:
                learn.store_picture(folder / name, learn.IMAGES / name)
        if example.shown is not None:
            now = learn.as_printed(example.shown, printed)
            if now is None:
                complaints.append(f"{page.name}:{example.line}: these lines are not printed any more; copy them anew")
            else:
                start, end = example.shown_span
                updated += text[place:start] + "".join(line + "\n" for line in now)
                place = end
    text = updated + text[place:]
    page.write_text(text)
    for line, section in learn.sections(text):
        for number in learn.numbers_without_source(section):
            complaints.append(f"{page.name}: the section at line {line} says {number}, and no block of it does")
    return complaints


def main(wanted):
    learn.IMAGES.mkdir(parents=True, exist_ok=True)
    complaints = []
    with tempfile.TemporaryDirectory() as place:
        learn.prepare(pathlib.Path(place))
        for page in learn.chapters():
            if not wanted or page.name.startswith(tuple(wanted)):
                complaints += update(page, pathlib.Path(place))
    print("\n".join(complaints) or "all chapters are up to date")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
