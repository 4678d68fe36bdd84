"""Texts that are counted and translated."""

import math
import pathlib
import random

SENTENCES = pathlib.Path(__file__).resolve().parent / "sentences.txt"
NUMBERS = ("distance", "previous", "duplicate", "induction", "delimiter", "sink", "entropy", "evenness", "confidence",
           "positional", "offset")  # of a head, as `fovea stats` names them


def write_corpus(vocabulary, path, sentences):
    """Words by Zipf's law, lengths spread like those of sentences, commas and a full stop."""
    chosen = random.Random(1)
    words = sorted(word for word in vocabulary.read_text().split() if word.isascii() and word.isalpha() and 2 <= len(word) <= 12)
    chosen.shuffle(words)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    lines = []
    for _ in range(sentences):
        length = min(max(round(chosen.lognormvariate(math.log(18), 0.45)), 5), 40)
        line = chosen.choices(words, weights, k=length)
        line = [word + "," if chosen.random() < 0.06 and i + 1 < length else word for i, word in enumerate(line)]
        lines.append(" ".join(line).capitalize() + ".")
    path.write_text("\n".join(lines) + "\n")
