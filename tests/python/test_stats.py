"""The verb stats: numbers of heads over a corpus, checked by numpy from the dense maps of `export`."""

import csv
import json
import os
import pty
import random
import signal
import subprocess
import time

import numpy
import pytest

import models
from program import ENVIRONMENT, PROGRAM, ROOT, assert_fails, ok, run
from test_picture_files import reading, seeing

VIT = ROOT / "models/scenes-vit"
DETR = ROOT / "models/scenes-detr"
TRANSLATOR = ROOT / "models/en-fr"
NUMBERS = ("entropy", "evenness", "confidence", "distance", "previous", "duplicate", "induction", "delimiter", "sink",
           "retrieval", "positional")
FARTHEST = 16  # offsets beyond are not counted


def corpus(path, lines, seed=1):
    chosen = random.Random(seed)
    words = [word for word in models.WORDS if not word.startswith("#")]
    texts = [" ".join(chosen.choices(words, k=chosen.randint(1, 9))) for _ in range(lines)]
    path.write_text("\n\n".join(texts) + "\n")  # blank lines count for nothing
    return texts


def stats(*arguments):
    """The result, and beside it what the facts say of site and inputs."""
    facts = json.loads(ok("stats", *arguments, "--json"))
    return {**facts["result"], **facts["input"], "site": facts["site"], "model": facts["model"]["name"]}


def null_numbers(answer):
    return [name for name in NUMBERS if all(head[name] is None for head in answer["heads"])]


def dense(prefix, out, *arguments):
    """The maps whose names begin with `prefix`, [layers][heads, rows, cols]."""
    ok("export", *arguments, "--out", out)
    with open(out, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    maps = {}
    for name, entry in header.items():
        if name.startswith(prefix):
            begin, end = entry["data_offsets"]
            maps[int(name[len(prefix):])] = numpy.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).astype(float)
    return [maps[i] for i in range(len(maps))]


def dense_text(model, text, out):
    return dense("self.", out, text, "-m", model), json.loads(ok("tokenize", text, "-m", model, "--json"))


def entropy_of(a):
    return -(a * numpy.log(numpy.where(a > 0, a, 1))).sum(axis=-1)


def sums_of_map(a, tokens, causal):
    """Each number's sum over one map and what it is divided by, by an expression of its own."""
    ids, special = numpy.array(tokens["ids"]), numpy.array(tokens["special"], bool)
    delimiter = special | numpy.array([token in (".", ",") for token in tokens["tokens"]])
    n = len(ids)
    i, j = numpy.indices((n, n))
    duplicate = (ids[:, None] == ids[None, :]) & (j < i)
    induction = numpy.zeros((n, n), bool)
    induction[:, 1:] = duplicate[:, :-1]
    keys = numpy.arange(1, n + 1) if causal else numpy.full(n, n)
    entropy, largest = entropy_of(a), a.argmax(axis=1)
    plain = a[~special][:, ~special]
    answer = {
        "entropy": (entropy.sum(), n),
        "evenness": ((entropy[keys > 1] / numpy.log(keys[keys > 1])).sum(), (keys > 1).sum()),
        "confidence": (plain.max(axis=1).sum() if plain.size else 0, len(plain)),
        "distance": ((a * abs(i - j)).sum(), n),
        "delimiter": (a[:, delimiter].sum(), a.sum()),
        "sink": (a[1:, 0].sum(), n - 1),
    }
    for name, pattern in (("previous", j == i - 1), ("duplicate", duplicate), ("induction", induction)):
        answer[name] = (a[pattern].sum(), a.sum())
    repeats = [t for t in range(n - 1) if ids[t + 1] in ids[:t]]
    hits = [t for t in repeats if largest[t] < t and ids[largest[t]] == ids[t + 1]]
    answer["retrieval"] = (len(hits), len(repeats) if causal else 0)
    offsets = largest - numpy.arange(n)
    counts = [(offsets == offset).sum() for offset in range(-FARTHEST, FARTHEST + 1)]
    return answer, numpy.array(counts), n


@pytest.mark.parametrize("make, causal", [(models.bert, False), (models.causal, True)])
def test_numbers_are_those_of_the_dense_maps(tmp_path, make, causal):
    model = make(tmp_path / "model")
    texts = corpus(tmp_path / "corpus.txt", 12)
    answer = stats(tmp_path / "corpus.txt", "-m", model)
    assert (answer["inputs"], answer["left_out"]) == (12, 0)
    assert null_numbers(answer) == ([] if causal else ["retrieval"])
    runs = [dense_text(model, text, tmp_path / "maps.safetensors") for text in texts]
    assert len(answer["heads"]) == sum(len(layer) for layer in runs[0][0])
    for head in answer["heads"]:
        parts = [sums_of_map(maps[head["layer"]][head["head"]], tokens, causal) for maps, tokens in runs]
        for name in NUMBERS:
            if name == "positional" or head[name] is None:
                continue
            wanted = sum(sums[name][0] for sums, _, _ in parts) / sum(sums[name][1] for sums, _, _ in parts)
            # Maps are right to some 1e-6 a cell; distances are up to 10 times a weight.
            assert head[name] == pytest.approx(wanted, abs=2e-5), (head["layer"], head["head"], name)
        counts = sum(counts for _, counts, _ in parts)
        assert head["positional"] == pytest.approx(counts.max() / sum(n for _, _, n in parts))
        assert counts[head["offset"] + FARTHEST] == counts.max()


def test_a_folder_of_texts_counts_as_their_lines(tmp_path):
    model = models.bert(tmp_path / "model")
    texts = corpus(tmp_path / "corpus.txt", 7)
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / f"texts/{number}.txt").write_text(text)
    (tmp_path / "texts/notes.md").write_text("not counted")
    assert stats(tmp_path / "texts", "-m", model) == stats(tmp_path / "corpus.txt", "-m", model)


def test_texts_are_counted_the_same_side_by_side_and_alone(tmp_path):
    # T5's bias depends on the length of a text, so that its texts run one by one; BERT's run together.
    model = models.bert(tmp_path / "model")
    texts = corpus(tmp_path / "corpus.txt", 30)
    together = stats(tmp_path / "corpus.txt", "-m", model)
    rows, sums = 0, {}
    for text in texts:
        (tmp_path / "one.txt").write_text(text)
        count = len(json.loads(ok("tokenize", text, "-m", model, "--json"))["ids"])
        rows += count
        for head in stats(tmp_path / "one.txt", "-m", model)["heads"]:
            key = head["layer"], head["head"]
            sums[key] = sums.get(key, 0) + count * head["entropy"]
    for head in together["heads"]:
        assert head["entropy"] == pytest.approx(sums[head["layer"], head["head"]] / rows, abs=1e-5)


@pytest.mark.numbers
def test_distances_in_pictures_are_those_of_the_view_of_distances():
    answer = stats(VIT / "demo", "-m", VIT)
    assert (answer["inputs"], answer["layers"], answer["heads_per_layer"]) == (3, 8, 6)
    assert answer["site"] == "self"
    assert null_numbers(answer) == ["previous", "duplicate", "induction", "retrieval", "positional"]
    views = [json.loads(ok("image", path, "-m", VIT, "--view", "distances", "--json"))["result"]
             for path in sorted((VIT / "demo").glob("scene-?.png"))]
    assert len(views) == 3
    for head in answer["heads"]:
        pixels = numpy.mean([view["weights"][head["layer"]][head["head"]] for view in views])
        assert head["distance"] * views[0]["patch_size"] == pytest.approx(pixels, rel=1e-5)


def test_pictures_count_their_class_token_as_sink_and_delimiter(tmp_path):
    picture = VIT / "demo/scene-1.png"
    maps = dense("self.", tmp_path / "maps.safetensors", picture, "-m", VIT)
    (tmp_path / "one").mkdir()
    (tmp_path / "one/scene.png").write_bytes(picture.read_bytes())
    for head in stats(tmp_path / "one", "-m", VIT)["heads"]:
        a = maps[head["layer"]][head["head"]]
        assert head["sink"] == pytest.approx(a[1:, 0].mean(), abs=1e-5)
        assert head["delimiter"] == pytest.approx(a[:, 0].mean(), abs=1e-5)
        assert head["confidence"] == pytest.approx(a[1:, 1:].max(axis=1).mean(), abs=1e-5)
        assert head["entropy"] == pytest.approx(entropy_of(a).mean(), abs=1e-4)


@pytest.mark.parametrize("site, name, prefix, missing", [
    (None, "encoder_self", "encoder_self.", ["previous", "duplicate", "induction", "delimiter", "sink", "retrieval",
                                                        "positional"]),
    ("decoder", "decoder_self", "decoder_self.", NUMBERS[3:]),
    ("cross", "cross", "cross.", NUMBERS[3:]),
])
def test_a_detector_has_three_attentions(tmp_path, site, name, prefix, missing):
    (tmp_path / "one").mkdir()
    (tmp_path / "one/scene.png").write_bytes((DETR / "demo/scene-1.png").read_bytes())
    answer = stats(tmp_path / "one", "-m", DETR, *(["--site", site] if site else []))
    assert (answer["site"], answer["inputs"], null_numbers(answer)) == (name, 1, list(missing))
    maps = dense(prefix, tmp_path / "maps.safetensors", DETR / "demo/scene-1.png", "-m", DETR)
    assert (answer["layers"], answer["heads_per_layer"]) == (len(maps), len(maps[0]))
    for head in answer["heads"]:
        a = maps[head["layer"]][head["head"]]
        assert head["entropy"] == pytest.approx(entropy_of(a).mean(), abs=1e-4)
        assert head["confidence"] == pytest.approx(a.max(axis=1).mean(), abs=1e-5)


def test_a_translation_model_has_three_attentions(tmp_path):
    pairs = [line.split("\t") for line in (TRANSLATOR / "demo/sentences.tsv").read_text().splitlines()[:3]]
    english, french = tmp_path / "english.txt", tmp_path / "french.txt"
    english.write_text("\n".join(pair[0] for pair in pairs))
    french.write_text("\n".join(pair[1] for pair in pairs))
    encoder = stats(english, "-m", TRANSLATOR)
    decoder = stats(english, "-m", TRANSLATOR, "--site", "decoder", "--targets", french)
    cross = stats(english, "-m", TRANSLATOR, "--site", "cross", "--targets", french)
    # The demo holds what the model itself writes.
    assert stats(english, "-m", TRANSLATOR, "--site", "cross") == cross
    (tmp_path / "other.txt").write_text("Oui.\nNon.\nPeut-être.\n")
    other = stats(english, "-m", TRANSLATOR, "--site", "cross", "--targets", tmp_path / "other.txt")
    assert [answer["site"] for answer in (encoder, decoder, cross)] == ["encoder_self", "decoder_self", "cross"]
    assert null_numbers(encoder) == ["retrieval"]
    assert null_numbers(cross) == ["distance", "previous", "duplicate", "induction", "sink", "retrieval", "positional"]
    assert other["inputs"] == 3 and other["heads"] != cross["heads"]
    for answer, prefix in ((encoder, "encoder_self."), (decoder, "decoder_self."), (cross, "cross.")):
        maps = [dense(prefix, tmp_path / "maps.safetensors", source, "-m", TRANSLATOR, "--target", target)
                for source, target in pairs]
        rows = sum(layers[0].shape[1] for layers in maps)
        for head in answer["heads"]:
            layer, number = head["layer"], head["head"]
            wanted = sum(entropy_of(layers[layer][number]).sum() for layers in maps) / rows
            assert head["entropy"] == pytest.approx(wanted, abs=1e-4)


def test_each_tower_is_counted_by_itself(tmp_path):
    model = reading(seeing(tmp_path / "clip", "clip_model"), 59)
    (tmp_path / "corpus.txt").write_text("a cat\na photo of a dog\n")
    texts = stats(tmp_path / "corpus.txt", "-m", model, "--texts")
    assert (texts["site"], texts["inputs"]) == ("text.self", 2)
    assert stats(tmp_path / "corpus.txt", "-m", model, "--site", "text") == texts
    maps = [dense("text.self.", tmp_path / "maps.safetensors", text, "-m", model) for text in ("a cat", "a photo of a dog")]
    for head in texts["heads"]:
        rows = [a for layers in maps for a in entropy_of(layers[head["layer"]][head["head"]])]
        assert head["entropy"] == pytest.approx(numpy.mean(rows), abs=1e-5)


def test_padding_is_no_row(tmp_path):
    # SigLIP fills every text up, and attends to that too.
    model = reading(seeing(tmp_path / "siglip", "siglip_model"), 58)
    (tmp_path / "corpus.txt").write_text("a cat\n")
    maps = dense("text.self.", tmp_path / "maps.safetensors", "a cat", "-m", model)
    assert maps[0].shape[1] > 3
    for head in stats(tmp_path / "corpus.txt", "-m", model, "--texts")["heads"]:
        a = maps[head["layer"]][head["head"]]
        assert head["entropy"] == pytest.approx(entropy_of(a)[:3].mean(), abs=1e-5)


def start_counting(command, state):
    """A run that has begun to keep its count, and cannot have ended."""
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not state.exists():
        time.sleep(0.001)
    return process


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_count_goes_on_and_gives_the_same_bytes(tmp_path, how):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 20000)
    out, state = tmp_path / "stats.json", tmp_path / "stats.json.part"
    command = [str(PROGRAM), "stats", str(tmp_path / "corpus.txt"), "-m", str(model), "--out", str(out)]
    process = start_counting(command, state)
    process.send_signal(how)
    notes = process.communicate()[1]
    assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    assert state.exists() and not out.exists()
    [[begin, counted]] = json.loads(state.read_text())["counted"]
    assert begin == 0
    assert 0 < counted < 20000
    if how == signal.SIGINT:
        assert f"{counted} of 20000 inputs are counted" in notes and str(state) in notes
    result = run(*command[1:])
    assert (result.returncode, result.stderr) == (0, f"fovea: note: {counted} inputs were counted by an earlier run\n")
    assert not state.exists()
    ok(*command[1:-1], tmp_path / "whole.json")
    assert out.read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_threads_and_interrupts_do_not_change_a_bit(tmp_path):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 12000)
    whole = []
    for threads in ("1", "2"):
        out = tmp_path / f"whole{threads}.json"
        ok("stats", tmp_path / "corpus.txt", "-m", model, "--threads", threads, "--out", out)
        whole.append(out.read_bytes())
    assert whole[0] == whole[1]
    out, state = tmp_path / "parts.json", tmp_path / "parts.json.part"
    command = [str(PROGRAM), "stats", str(tmp_path / "corpus.txt"), "-m", str(model), "--threads", "1", "--out", str(out)]
    counted = [0]
    for _ in range(5):
        before = state.stat().st_mtime_ns if state.exists() else 0
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and (not state.exists() or state.stat().st_mtime_ns == before):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130, process.communicate()[1]
        process.communicate()
        counted.append(json.loads(state.read_text())["counted"][-1][1])
    assert counted == sorted(set(counted)) and counted[-1] < 12000
    assert run(*command[1:]).returncode == 0
    assert out.read_bytes() == whole[0]


def test_a_count_goes_on_only_with_what_it_was_begun(tmp_path):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 20000)
    state = tmp_path / "count.part"
    command = [str(PROGRAM), "stats", str(tmp_path / "corpus.txt"), "-m", str(model), "--state", str(state)]
    process = start_counting(command, state)
    process.send_signal(signal.SIGINT)
    process.communicate()
    for other, fact in ((["--limit", "7"], "limit was 0 and is now 7"), (["--dtype", "i16"], "dtype was f32 and is now i16"),
                        (["--dtype", "bf16"], "dtype was f32 and is now i16")):
        assert_fails(run(*command[1:], *other), 1, "count.part", "another count", fact, "remove it")
    with (tmp_path / "corpus.txt").open("a") as file:
        file.write("the cat sat\n")
    assert_fails(run(*command[1:]), 1, "count.part", "another count", "its inputs or their files are others")


def test_files_are_tables_and_figures(tmp_path):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 5)
    ok("stats", tmp_path / "corpus.txt", "-m", model, "--out", tmp_path / "heads.csv")
    rows = list(csv.DictReader((tmp_path / "heads.csv").open()))
    answer = stats(tmp_path / "corpus.txt", "-m", model)
    for name in NUMBERS:
        if name == "retrieval":
            assert {row[name] for row in rows} == {""}  # not counted, which is not 0
        else:
            assert [float(row[name]) for row in rows] == pytest.approx([head[name] for head in answer["heads"]])
    assert [row["type"] for row in rows] == [head["type"] for head in answer["heads"]]
    ok("stats", tmp_path / "corpus.txt", "-m", model, "--out", tmp_path / "heads.npy")
    values = numpy.load(tmp_path / "heads.npy")
    assert values.shape == (10, answer["layers"], answer["heads_per_layer"])
    assert values[0].ravel() == pytest.approx([head["entropy"] for head in answer["heads"]], rel=1e-6)
    for suffix, magic in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        ok("stats", tmp_path / "corpus.txt", "-m", model, "--metric", "sink", "--out", tmp_path / f"sink{suffix}")
        assert (tmp_path / f"sink{suffix}").read_bytes().startswith(magic)
    assert {path.suffix for path in tmp_path.iterdir()}.isdisjoint({".part"})


@pytest.mark.parametrize("width", [80, 200])
def test_the_terminal_shows_kinds_of_heads_and_a_grid(tmp_path, width):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 5)
    text = ok("stats", tmp_path / "corpus.txt", "-m", model, "--limit", "3", environment={"COLUMNS": str(width)})
    answer = stats(tmp_path / "corpus.txt", "-m", model, "--limit", "3")
    assert "mean over the rows of 3 inputs" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= width
    for head in answer["heads"]:
        assert head["type"] in text


def test_a_terminal_sees_how_far_it_is(tmp_path):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 20000)
    ours, theirs = pty.openpty()
    command = [str(PROGRAM), "stats", str(tmp_path / "corpus.txt"), "-m", str(model), "--json"]
    process = subprocess.Popen(command, env={**ENVIRONMENT, "TERM": "xterm"}, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while b"counting" not in seen and (chunk := os.read(ours, 4096)):
        seen += chunk
    process.kill()
    process.wait()
    os.close(ours)
    assert "%".encode() in seen


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_who_wants_no_escapes_gets_none(tmp_path, environment):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 2000)
    ours, theirs = pty.openpty()
    command = [str(PROGRAM), "stats", str(tmp_path / "corpus.txt"), "-m", str(model), "--json"]
    process = subprocess.Popen(command, env={**ENVIRONMENT, **environment}, stdout=subprocess.DEVNULL, stderr=theirs)
    assert process.wait() == 0
    os.write(theirs, b"end")
    assert os.read(ours, 4096) == b"end"
    os.close(theirs)
    os.close(ours)


def test_help_says_what_every_number_and_kind_is():
    text = ok("stats", "--help")
    for name in (*NUMBERS, "previous token", "current token", "duplicate token", "broad", "confident", "mixed"):
        assert f"  {name} " in text
    assert max(map(len, text.splitlines())) <= 80
