"""The verb stats: numbers of heads over a corpus, checked by numpy from the dense maps of `export`."""

import csv
import json
import random
import signal
import subprocess
import time

import numpy
import pytest

import models
from program import ENVIRONMENT, PROGRAM, ROOT, assert_fails, ok, run

SCENES = ROOT / "models/scenes-vit"


def corpus(path, lines, seed=1):
    chosen = random.Random(seed)
    words = [word for word in models.WORDS if not word.startswith("#")]
    texts = [" ".join(chosen.choices(words, k=chosen.randint(1, 9))) for _ in range(lines)]
    path.write_text("\n\n".join(texts) + "\n")  # blank lines count for nothing
    return texts


def stats(*arguments):
    return json.loads(ok("stats", *arguments, "--json"))


def dense(model, text, out):
    """The maps of one text, [layers][heads, rows, cols], and its tokens."""
    ok("export", text, "-m", model, "--out", out)
    with open(out, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    maps = {}
    for name, entry in header.items():
        if name.startswith("self."):
            begin, end = entry["data_offsets"]
            maps[int(name[5:])] = numpy.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).astype(float)
    tokens = json.loads(ok("tokenize", text, "-m", model, "--json"))
    return [maps[i] for i in range(len(maps))], tokens


def reference(maps_of_texts, causal):
    """Entropy, distance, shares of patterns and the rest, each by its own expression."""
    sums = {}
    for maps, tokens in maps_of_texts:
        ids, special = numpy.array(tokens["ids"]), numpy.array(tokens["special"], bool)
        delimiter = special | numpy.array([token in (".", ",") for token in tokens["tokens"]])
        n = len(ids)
        i, j = numpy.indices((n, n))
        duplicate = (ids[:, None] == ids[None, :]) & (j < i)
        induction = numpy.zeros((n, n), bool)
        induction[:, 1:] = duplicate[:, :-1]
        for layer, heads in enumerate(maps):
            for head, a in enumerate(heads):
                one = sums.setdefault((layer, head), {key: 0.0 for key in (
                    "rows", "entropy", "distance", "weight", "previous", "duplicate", "induction", "delimiter", "sink",
                    "later", "plain", "confidence")})
                one["rows"] += n
                one["entropy"] -= (a * numpy.log(numpy.where(a > 0, a, 1))).sum()
                one["distance"] += (a * abs(i - j)).sum()
                one["weight"] += a.sum()
                for key, pattern in (("previous", j == i - 1), ("duplicate", duplicate), ("induction", induction)):
                    one[key] += a[pattern].sum()
                one["delimiter"] += a[:, delimiter].sum()
                one["sink"] += a[1:, 0].sum()
                one["later"] += n - 1
                if (~special).any():
                    one["plain"] += (~special).sum()
                    one["confidence"] += a[~special][:, ~special].max(axis=1).sum()
    return {key: {
        "entropy": s["entropy"] / s["rows"], "distance": s["distance"] / s["rows"], "previous": s["previous"] / s["weight"],
        "duplicate": s["duplicate"] / s["weight"], "induction": s["induction"] / s["weight"],
        "delimiter": s["delimiter"] / s["weight"], "sink": s["sink"] / s["later"],
        "confidence": s["confidence"] / s["plain"],
    } for key, s in sums.items()}


@pytest.mark.parametrize("make, causal", [(models.bert, False), (models.causal, True)])
def test_numbers_are_those_of_the_dense_maps(tmp_path, make, causal):
    model = make(tmp_path / "model")
    texts = corpus(tmp_path / "corpus.txt", 12)
    answer = stats(tmp_path / "corpus.txt", "-m", model)
    assert (answer["inputs"], answer["left_out"]) == (12, 0)
    expected = reference([dense(model, text, tmp_path / "maps.safetensors") for text in texts], causal)
    assert len(answer["heads"]) == len(expected)
    for head in answer["heads"]:
        for name, value in expected[head["layer"], head["head"]].items():
            assert head[name] == pytest.approx(value, abs=2e-5), (head["layer"], head["head"], name)


def test_pictures_are_counted_one_by_one(tmp_path):
    answer = stats(SCENES / "demo", "-m", SCENES)
    assert (answer["inputs"], answer["layers"], answer["heads_per_layer"]) == (3, 8, 6)
    distances = [json.loads(ok("image", path, "--view", "distances", "--json")) for path in
                 sorted((SCENES / "demo").glob("scene-?.png"))]
    assert all(0 < head["distance"] < 28 * 2**0.5 for head in answer["heads"])
    assert len(distances) == 3


def test_a_killed_count_goes_on_and_gives_the_same(tmp_path):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 40000)
    whole = ok("stats", tmp_path / "corpus.txt", "-m", model, "--json")
    out, state = tmp_path / "stats.json", tmp_path / "stats.json.part"
    command = [str(PROGRAM), "stats", str(tmp_path / "corpus.txt"), "-m", str(model), "--out", str(out)]
    # Killed as soon as something is on disk; a run that ends before that would show nothing.
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not state.exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert state.exists() and not out.exists()
    counted = json.loads(state.read_text())["next"]
    assert 0 < counted < 40000
    ok(*command[1:])
    assert not state.exists()
    assert json.loads(out.read_text()) == json.loads(whole)


def test_files_are_tables_and_figures(tmp_path):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 5)
    ok("stats", tmp_path / "corpus.txt", "-m", model, "--out", tmp_path / "heads.csv")
    rows = list(csv.DictReader((tmp_path / "heads.csv").open()))
    answer = stats(tmp_path / "corpus.txt", "-m", model)
    assert [float(row["entropy"]) for row in rows] == pytest.approx([head["entropy"] for head in answer["heads"]])
    ok("stats", tmp_path / "corpus.txt", "-m", model, "--out", tmp_path / "heads.npy")
    values = numpy.load(tmp_path / "heads.npy")
    assert values.shape == (11, answer["layers"], answer["heads_per_layer"])
    assert values[0].ravel() == pytest.approx([head["entropy"] for head in answer["heads"]], rel=1e-6)
    ok("stats", tmp_path / "corpus.txt", "-m", model, "--metric", "sink", "--out", tmp_path / "sink.png")
    assert (tmp_path / "sink.png").read_bytes().startswith(b"\x89PNG")
    text = ok("stats", tmp_path / "corpus.txt", "-m", model, "--limit", "3")
    assert "mean over the rows of 3 inputs" in " ".join(text.split())


def test_texts_that_are_too_long_are_left_out_and_told(tmp_path):
    model = models.bert(tmp_path / "model")
    most = json.loads((model / "config.json").read_text())["max_position_embeddings"]
    (tmp_path / "corpus.txt").write_text("the cat sat\n" + "cat " * (most + 5) + "\na dog ran\n")
    result = run("stats", tmp_path / "corpus.txt", "-m", model, "--json")
    assert json.loads(result.stdout)["inputs"] == 2
    assert "1 of 3 inputs were left out" in result.stderr and "line 2" in result.stderr


@pytest.mark.parametrize("arguments, facts", [
    (["missing.txt"], ["missing.txt"]),
    (["empty.txt"], ["no text"]),
    (["folder"], ["no .txt files"]),
    (["corpus.txt", "--metric", "beauty"], ["beauty", "entropy"]),
    (["corpus.txt", "--out", "x.html"], [".html", ".csv"]),
    (["corpus.txt", "--limit", "0"], ["limit"]),
    (["corpus.txt", "--state", "old.part"], ["another count"]),
    (["corpus.txt", "--state", "broken.part"], ["broken.part"]),
])
def test_what_cannot_be_counted_is_told_in_one_line(tmp_path, arguments, facts):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 3)
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.part").write_text(json.dumps({"fovea_stats": 1, "model": "x", "corpus": "y", "limit": 0, "next": 1}))
    (tmp_path / "broken.part").write_text("{")
    result = run("stats", *arguments, "-m", model, cwd=tmp_path)
    assert_fails(result, result.returncode if result.returncode in (1, 2) else 1, *facts)
