"""What `fovea stats` cannot count: inputs that are left out, and command lines and files that are refused."""

import json
from unittest.mock import ANY

import pytest

import models
from program import assert_fails, run
from test_stats import DETR, VIT, corpus, stats


def test_texts_that_are_too_long_are_left_out_and_told(tmp_path):
    model = models.bert(tmp_path / "model")
    most = json.loads((model / "config.json").read_text())["max_position_embeddings"]
    (tmp_path / "corpus.txt").write_text("the cat sat\n" + "cat " * (most + 5) + "\na dog ran\n")
    result = run("stats", tmp_path / "corpus.txt", "-m", model, "--json")
    assert json.loads(result.stdout)["input"]["inputs"] == 2
    assert "1 of 3 inputs were left out" in result.stderr and "line 2" in result.stderr
    (tmp_path / "corpus.txt").write_text("cat " * (most + 5) + "\n")
    assert_fails(run("stats", tmp_path / "corpus.txt", "-m", model), 1, "no input", "line 1", most)


def test_lines_that_are_no_text_are_left_out_and_told(tmp_path):
    model = models.bert(tmp_path / "model")
    (tmp_path / "latin.txt").write_bytes("the cat\nun café\n".encode("latin-1"))
    result = run("stats", tmp_path / "latin.txt", "-m", model, "--json")
    assert json.loads(result.stdout)["input"]["inputs"] == 1
    for fact in ("1 of 2 inputs were left out", "latin.txt, line 2", "0xe9", "UTF-8"):
        assert fact in result.stderr


def test_pictures_that_cannot_be_read_are_left_out_and_told(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/a.png").write_bytes((VIT / "demo/scene-1.png").read_bytes()[:500])
    (tmp_path / "pictures/b.png").write_bytes((VIT / "demo/scene-1.png").read_bytes())
    result = run("stats", tmp_path / "pictures", "-m", VIT, "--json")
    assert json.loads(result.stdout)["input"] == {"inputs": 1, "left_out": 1, "first_reason": ANY}
    assert "1 of 2 inputs were left out" in result.stderr and result.stderr.count("a.png") == 1


def test_a_folder_of_pictures_is_counted_by_the_model_for_pictures(tmp_path):
    (tmp_path / "scene.png").write_bytes((VIT / "demo/scene-1.png").read_bytes())
    answer = stats(tmp_path)
    assert answer["inputs"] == 1 and answer["model"] == "scenes-vit"


@pytest.mark.parametrize("arguments, code, facts", [
    (["missing.txt"], 1, ["missing.txt"]),
    (["empty.txt"], 1, ["no text"]),
    (["folder"], 1, ["no .txt files"]),
    (["corpus.txt", "--metric", "beauty"], 2, ["beauty", "entropy"]),
    (["corpus.txt", "--metric", "retrieval"], 2, ["retrieval", "self-attention", "entropy"]),
    (["corpus.txt", "--out", "x.html"], 2, [".html", ".csv"]),
    (["corpus.txt", "--out", "no/x.csv"], 1, ["no folder 'no'"]),
    (["corpus.txt", "--out", "corpus.txt"], 2, ["corpus.txt"]),
    (["corpus.txt", "--limit", "0"], 2, ["limit"]),
    (["corpus.txt", "--site", "cross"], 2, ["--site: cross", "choose self"]),
    (["corpus.txt", "--texts"], 2, ["--texts", "two towers"]),
    (["corpus.txt", "--targets", "corpus.txt"], 2, ["--targets"]),
    (["corpus.txt", "--pixels", "2"], 2, ["--pixels", "figures"]),
    (["corpus.txt", "--state", "old.part"], 1, ["old.part", "format 1", "remove it"]),
    (["corpus.txt", "--state", "old2.part"], 1, ["old2.part", "format 2", "goes on from 3", "remove it"]),
    (["corpus.txt", "--state", "broken.part"], 1, ["broken.part is no count to go on from", "remove it"]),
    (["corpus.txt", "--state", "other.json"], 1, ["other.json", "another JSON file"]),
    (["corpus.txt", "--json", "--colors", "viridis"], 2, ["--colors", "leave it out"]),
    (["binary.txt"], 1, ["binary.txt, line 1", "NUL"]),
])
def test_what_cannot_be_counted_is_told_in_one_line(tmp_path, arguments, code, facts):
    model = models.bert(tmp_path / "model")
    corpus(tmp_path / "corpus.txt", 3)
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.part").write_text(json.dumps({"fovea_stats": 1, "of": {"model": "x"}, "next": 1}))
    (tmp_path / "broken.part").write_text("{")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "old2.part").write_text(json.dumps({"fovea_stats": 2, "of": {"model": "x"}, "next": 1}))
    (tmp_path / "binary.txt").write_bytes(b"\x7fELF\0\0\n")
    assert_fails(run("stats", *arguments, "-m", model, cwd=tmp_path), code, *facts)


@pytest.mark.parametrize("model, arguments, facts", [
    (VIT, ["--metric", "induction"], ["induction", "distance"]),
    (VIT, ["--texts"], ["--texts"]),
    (DETR, ["--site", "vision"], ["--site: vision", "encoder or cross"]),
    (DETR, ["--site", "decoder", "--targets", "x"], ["--targets"]),
])
def test_what_pictures_do_not_have_is_told_before_anything_is_counted(model, arguments, facts):
    assert_fails(run("stats", model / "demo", "-m", model, *arguments), 2, *facts)


def test_a_folder_without_pictures_is_told(tmp_path):
    assert_fails(run("stats", tmp_path, "-m", VIT), 1, "no pictures", "PNG")
