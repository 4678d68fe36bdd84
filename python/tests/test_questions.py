"""Every kind of question, asked from Python: the facts are those that the program prints."""

import json

import jsonschema
import numpy as np
import pytest
from PIL import Image
from program import assert_fails, ok, run

import fovea
from conftest import ROOT

SCENE = ROOT / "models/scenes-vit/demo/scene-1.png"
FARM = ROOT / "models/scenes-detr/demo/scene-1.png"
SCHEMA = json.loads((ROOT / "docs/answers.schema.json").read_text())
TEXT = "The cat sat on the mat."

# For each kind: which session, the fields, and the words of the program that ask the same.
VIEWS_OF_TEXT = {
    "matrix": ({"head": "mean", "layer": 1}, ["--head", "mean", "--layer", "1"]),
    "read": ({"token": "cat", "layer": 0, "column": True}, ["--token", "cat", "--layer", "0", "--column"]),
    "heads": ({"layer": "all"}, ["--layer", "all"]),
    "lines": ({"token": "sat"}, ["--token", "sat"]),
    "reading": ({"head": 1}, ["--head", "1"]),
    "differ": ({"token": "cat", "most": 3}, ["--token", "cat", "--most", "3"]),
}
VIEWS_OF_PICTURES = {
    "maps": ({"at": [60, 100], "mask": 0.6}, ["--at", "60,100", "--mask", "0.6"]),
    "composite": ({"token": "[CLS]"}, ["--token", "[CLS]"]),
    "convolution": ({}, []), "distances": ({"compat": "keras"}, ["--compat", "keras"]), "field": ({"at": [60, 100]}, ["--at", "60,100"]),
    "kernels": ({"layer": "all", "radius": 1}, ["--layer", "all", "--radius", "1"]), "lost": ({"layer": 2}, ["--layer", "2"]),
    "parts": ({"column": True, "head": 1}, ["--column", "--head", "1"]),
    "tokencut": ({}, []),
}
VIEWS_OF_OBJECTS = {
    "objects": ({}, []), "queries": ({"query": 3}, ["--query", "3"]), "points": ({"at": [[9, 9], [90, 90]]}, ["--at", "9,9:90,90"]),
    "cells": ({"at": [250, 300], "head": "mean"}, ["--at", "250,300", "--head", "mean"]), "between": ({"head": "all"}, ["--head", "all"]),
    "why": ({"at": [250, 300], "to": [300, 330]}, ["--at", "250,300", "--to", "300,330"]),
    "masks": ({"mask_from": "cross"}, ["--mask-from", "cross"]),
    "cell_matrix": ({"rows": [0, 9], "cols": [4, 8]}, ["--rows", "0:9", "--cols", "4:8"]),
}
MANY = {"align_pairs", "compare", "evaluate_boxes", "evaluate_detections", "evaluate_masks", "stats"}


@pytest.fixture(scope="module")
def cases(bert_folder):
    """For each kind a session, the fields, and the program's arguments."""
    bert, vit, detr, translator = (fovea.load(name) for name in (bert_folder, "scenes-vit", "scenes-detr", "en-fr"))
    text, scene = bert(TEXT), vit.image(str(SCENE))
    farm, french = detr.image(str(FARM), size=(240, 192)), translator("I love music.")
    found = {kind: (text, fields, ["text", "-m", bert_folder, TEXT, "--view", kind, *words])
             for kind, (fields, words) in VIEWS_OF_TEXT.items()}
    found |= {kind: (scene, fields, ["image", SCENE, "-m", "scenes-vit", "--view", kind, *words])
              for kind, (fields, words) in VIEWS_OF_PICTURES.items()}
    found |= {kind: (farm, fields, ["detect", FARM, "-m", "scenes-detr", "--size", "240x192", "--view", kind, *words])
              for kind, (fields, words) in VIEWS_OF_OBJECTS.items()}
    found["align"] = (french, {"head": "mean", "links": "mutual"},
                      ["translate", "I love music.", "-m", "en-fr", "--head", "mean", "--links", "mutual"])
    found["steps"] = (text, {"token": "cat", "to_token": "sat", "layer": 0, "head": 1},
                      ["steps", "-m", bert_folder, TEXT, "--token", "cat", "--to-token", "sat", "--layer", "0", "--head", "1"])
    found["change"] = (text, {"hide": ["cat"], "layer": 1, "head": 0},
                       ["change", "-m", bert_folder, TEXT, "--hide", "cat", "--layer", "1", "--head", "0"])
    found["top"] = (text, {"head": 1, "top": 3}, ["text", "-m", bert_folder, TEXT, "--head", "1", "--top", "3"])
    found["top_patches"] = (scene, {"at": [60, 100], "top": 3}, ["image", SCENE, "-m", "scenes-vit", "--at", "60,100", "--top", "3"])
    found["top_cells"] = (farm, {"query": 3, "top": 3},
                          ["detect", FARM, "-m", "scenes-detr", "--size", "240x192", "--query", "3", "--top", "3"])
    found["explain"] = (text, {"method": "rollout", "residual": 0.3, "token": "cat"},
                        ["explain", TEXT, "-m", bert_folder, "--method", "rollout", "--residual", "0.3", "--token", "cat"])
    return found


def without_precision(facts):
    """The program and the package share every computation; another number of threads may sum in another order."""
    if isinstance(facts, float):
        return pytest.approx(facts, rel=1e-5, abs=1e-6)
    if isinstance(facts, list):
        return [without_precision(fact) for fact in facts]
    return {name: without_precision(fact) for name, fact in facts.items()} if isinstance(facts, dict) else facts


@pytest.mark.parametrize("kind", sorted(set(fovea.questions()) - MANY))
def test_the_facts_are_those_of_the_program(kind, cases):
    session, fields, arguments = cases[kind]
    exact = {"exact": True} if "exact" in fovea.questions()[kind].fields else {}
    answer = session.ask(kind, **fields, **exact)
    assert answer.kind == kind
    jsonschema.Draft202012Validator(SCHEMA).validate(answer.facts)
    assert json.loads(json.dumps(answer.facts)) == without_precision(json.loads(ok(*arguments, "--json")))


SCENES, FARMS = SCENE.parent, FARM.parent
OVER_MANY = {
    "stats": ("bert", {}, ["stats", ROOT / "examples/english.txt"]),
    "align_pairs": ("en-fr", {}, None),
    "compare": ("bert", {"methods": ["raw", "rollout"], "check_orders": 2},
                ["explain", ROOT / "examples/english.txt", "--compare", "--method", "raw,rollout", "--check-orders", "2", "--limit", "3"]),
    "evaluate_masks": ("scenes-vit", {"mask": 0.5}, ["evaluate", "masks", SCENES, "--size", "64x64", "--mask", "0.5"]),
    "evaluate_boxes": ("scenes-vit", {}, ["evaluate", "boxes", SCENES, "--size", "64x64"]),
    "evaluate_detections": ("scenes-detr", {}, ["evaluate", "detections", FARMS, "--size", "240x192"]),
}


def pictures_with_truth(folder, size):
    for path in sorted(folder.glob("*.png")):
        if path.name.endswith(".mask.png"):
            continue
        objects = path.with_suffix(".json")
        yield {"name": path.name, "picture": path, "size": size, "mask": np.asarray(Image.open(path.with_suffix(".mask.png"))),
               "objects": json.loads(objects.read_text())["objects"] if objects.exists() else None}


@pytest.mark.parametrize("kind", sorted(MANY))
def test_what_is_counted_over_many_inputs_is_what_the_program_counts(kind, bert, session):
    with pytest.raises(ValueError, match=f"kind: {kind} is counted over many inputs"):
        session.ask(kind)
    name, fields, arguments = OVER_MANY[kind]
    model = bert if name == "bert" else fovea.load(name)
    if kind in ("stats", "align_pairs", "compare"):
        texts, targets = ((ROOT / f"examples/{language}.txt").read_text().splitlines() for language in ("english", "french"))
        inputs = {"stats": texts, "align_pairs": list(zip(texts, targets))[:4], "compare": texts[:3]}[kind]
    else:
        inputs = pictures_with_truth(FARMS if name == "scenes-detr" else SCENES, (240, 192) if name == "scenes-detr" else (64, 64))
    answer = fovea.ask_many(model, inputs, kind, **fields)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer.facts)
    if arguments is None:  # the program prints what its own page says
        assert answer.facts["result"]["pairs"] == 4 and answer.facts["input"]["left_out"] == 0
        return
    printed = json.loads(ok(*arguments, "-m", model.name, "--json"))
    assert json.loads(json.dumps(answer.facts["result"])) == without_precision(printed["result"])


def test_a_damaged_input_of_many_is_left_out_and_what_is_none_is_refused(bert):
    answer = fovea.ask_many(bert, ["The cat sat.", "x " * 99, "A dog ran."], "stats")
    assert answer.facts["input"]["left_out"] == 1 and any("input 1" in note for note in answer.notes)
    for inputs in (["The cat.", 5], "The cat.", [("a", "b", "c")], [{}], [{"txt": "a"}]):
        with pytest.raises(TypeError, match="input"):
            fovea.ask_many(bert, inputs, "stats")

    def broken():
        yield "The cat sat."
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fovea.ask_many(bert, broken(), "stats")
    with pytest.raises(ValueError):
        fovea.ask_many(bert, ["The cat sat."], "read")


def test_named_questions_are_the_same_questions(cases):
    text, french = cases["read"][0], cases["align"][0]
    assert text.explain("rollout", token="cat").facts == text.ask("explain", method="rollout", token="cat").facts
    assert text.steps(token="cat").facts == text.ask("steps", token="cat").facts
    assert text.change(hide="cat").kind == "change" and french.align().kind == "align"
    assert text.ask(token="cat").kind == "read"  # the fields decide
    assert cases["maps"][0].explain(class_=0).facts["result"]["target"]  # class is a word of Python


def test_numbers_are_those_of_the_files(cases, tmp_path):
    session = cases["matrix"][0]
    matrix = session.ask("matrix", layer=1, head=2)
    np.testing.assert_allclose(matrix.numpy(), session.map("self", 1, 2).numpy(), atol=1e-6)
    assert matrix.labels == (session.tokens, session.tokens)
    explained = session.explain("rollout", token="cat")
    assert explained.numpy().shape == (len(session.tokens),)
    for answer in (matrix, explained):
        answer.save(tmp_path / "a.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), answer.numpy())
        answer.save(tmp_path / "a.json")
        assert json.loads((tmp_path / "a.json").read_text()) == answer.facts
        answer.save(tmp_path / "a.csv")
        assert "cat" in (tmp_path / "a.csv").read_text()
    steps = session.steps(token="cat")
    steps.save(tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as file:
        assert set(file) - {"about"} == set(steps.arrays()) >= {"q", "k", "v", "weights"}
    with pytest.raises(NotImplementedError, match="several"):
        steps.save(tmp_path / "s.npy")
    assert matrix.arrays() == {}


def test_figures_are_those_of_the_program(cases, bert_folder, tmp_path):
    session, fields, arguments = cases["read"]
    answer = session.ask("read", **fields)
    for suffix in (".png", ".svg", ".pdf", ".html"):
        ok(*arguments, "--out", tmp_path / f"program{suffix}")
        answer.save(tmp_path / f"package{suffix}")
        assert (tmp_path / f"package{suffix}").read_bytes() == (tmp_path / f"program{suffix}").read_bytes(), suffix
    answer.save(tmp_path / "large.png", pixels=4, colors="viridis")
    large, usual = (Image.open(tmp_path / name) for name in ("large.png", "package.png"))
    assert abs(large.width - 2 * usual.width) <= 1
    page = tmp_path / "why.html"
    session.explain("rollout", token="cat").save(page)
    assert "What rollout answers" in page.read_text()


def test_an_answer_shows_itself_in_a_notebook_and_in_a_terminal(cases):
    session, fields, arguments = cases["read"]
    answer = session.ask("read", **fields)
    assert answer._repr_png_().startswith(b"\x89PNG") and "<img alt=" in answer._repr_html_() and "base64," in answer._repr_html_()
    assert repr(answer).startswith("<Answer read: ") and answer.figure.title in repr(answer.figure)
    assert str(answer) == str(answer.figure)
    assert answer.figure.caption and answer.figure.metadata
    assert max(map(len, answer.figure.text(60).splitlines())) <= 60
    assert "\x1b[" in answer.figure.text(colored=True) and "\x1b[" not in answer.figure.text()


def test_wrong_questions_are_answered_as_the_program_answers(cases, bert_folder):
    session = cases["read"][0]
    for fields, words in (({"layer": 99}, ["--layer", "99"]), ({"token": "zebra"}, ["--token", "zebra"]), ({"head": 7}, ["--head", "7"])):
        with pytest.raises(ValueError) as raised:
            session.ask("read", **fields)
        result = run("text", "-m", bert_folder, TEXT, "--view", "read", *words)
        assert_fails(result, 2)
        field = raised.value.field  # None where the message names what it is about
        assert result.stderr == f"fovea: {'--' if field else ''}{raised.value}\n" and field in (None, words[0][2:])
    with pytest.raises(ValueError, match="colour"):
        session.ask("read", colour="red")
    with pytest.raises(ValueError, match="path: 'x.gif' has none of the suffixes"):
        session.ask("read").save("x.gif")
    with pytest.raises(ValueError, match="page"):
        session.ask("differ").save("x.html")
