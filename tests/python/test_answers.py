"""Facts have one schema, docs/answers.schema.json, whatever is asked; and adding a question is adding a file."""

import json
import re

import jsonschema
import models
import pytest
from program import ROOT, assert_fails, ok, run

SCHEMA = json.loads((ROOT / "docs/answers.schema.json").read_text())
QUESTIONS = json.loads(ok("questions", "--json"))
KINDS = {kind: schema for kind, schema in QUESTIONS["$defs"].items() if kind != "input"}
# Views of pictures, each with options of its own.
PICTURES = {"composite": ["--token", "[CLS]", "--mask", "0.3"], "convolution": ["--size", "96x64"], "distances": ["--compat", "keras"],
            "field": ["--at", "60,100"], "kernels": ["--layer", "all", "--radius", "1"], "lost": ["--layer", "2"], "parts": ["--column", "--head", "1", "--of", "weight"], "tokencut": ["--layer", "2"],
            "top_patches": ["--at", "60,100", "--column", "--head", "min"]}
SCENE = ROOT / "models/scenes-vit/demo/scene-1.png"
FARM = ROOT / "models/scenes-detr/demo/scene-1.png"
# What is asked about objects, beside --view.
OF_OBJECTS = {
    "objects": [[]], "queries": [[], ["--query", "3", "--head", "all"]], "points": [[], ["--at", "9,9:90,90", "--column"]],
    "cells": [["--at", "250,300"], ["--at", "250,300", "--column", "--head", "mean", "--layer", "0"]],
    "between": [[], ["--head", "all"]], "why": [["--at", "250,300", "--to", "300,330"]],
    "masks": [[], ["--mask-from", "cross", "--in-box", "--mask-cut", "mass:0.5"]],
    "cell_matrix": [[], ["--rows", "0:9", "--cols", "4:8"], ["--around", "#40:3", "--of", "times-even"]],
    "top_cells": [[], ["--at", "250,300", "--top", "2"], ["--at", "250,300", "--column"], ["--query", "3", "--head", "min"]],
}
# What is counted over many inputs. `align` prints what its own page says; tests/unit/ask looks at its facts.
DEMO, FARMS, TEXTS = SCENE.parent, FARM.parent, ROOT / "examples/english.txt"
OVER_MANY = {
    "align_pairs": [],
    "compare": [["explain", "the cat sat on the mat", "--compare", "--method", "raw,rollout,span-mass", "--check-orders", "2"],
                ["explain", TEXTS, "--compare", "--method", "raw", "--check-orders", "2", "--limit", "2"]],
    "evaluate_boxes": [["evaluate", "boxes", DEMO, "--size", "64x64"]],
    "evaluate_detections": [["evaluate", "detections", FARMS, "--size", "240x192"],
                            ["evaluate", "detections", FARMS, "--size", "240x192", "--baseline", "--threshold", "0.5"]],
    "evaluate_masks": [["evaluate", "masks", DEMO, "--size", "64x64", "--baseline", "--mask", "0.5"],
                       ["evaluate", "masks", FARMS, "-m", "scenes-detr", "--size", "240x192", "--layer", "0"]],
    "stats": [["stats", TEXTS, "--limit", "5"], ["stats", DEMO, "-m", "scenes-vit", "--metric", "distance", "--limit", "1"],
              ["stats", TEXTS, "--limit", "3", "-m", "en-fr", "--site", "cross"]],
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("bert") / "bert")


@pytest.fixture(scope="module")
def picture_run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "scene.fovea.safetensors"
    ok("capture", "-m", "scenes-vit", SCENE, "--out", path)
    return path


def validated(output):
    facts = json.loads(output)
    jsonschema.Draft202012Validator(SCHEMA).validate(facts)
    jsonschema.Draft202012Validator(QUESTIONS).validate(facts["question"])
    return facts


def asked(kind, bert, picture_run):
    """Ways to ask such a question of the program."""
    if kind == "explain":
        text, checked = ["The cat sat.", "-m", bert], ["--check", "--check-orders", "2"]
        return [["explain", *question] for question in (
            text, [*text, "--method", "rollout", "--residual", "0.3", "--token", "cat"], [*text, "--method", "head-importance", "--class", "cat"],
            [*text, "--method", "raw", "--layer", "0", "--head", "1", *checked], [*text, "--method", "raw", "--check-cascade", *checked],
            ["I love music.", "-m", "en-fr", "--method", "alti+"], ["I love music.", "--target", "La musique.", "--method", "raw", "--site", "decoder"],
            [SCENE, "--size", "48x48", "--class", "cow", "--against", "sheep"], [SCENE, "--size", "48x48", "--method", "raw", "--at", "60,100"],
            [FARM, "-m", "scenes-detr", "--size", "120x96", "--query", "3"], [picture_run, "--token", "patch 2,1"])]
    if kind == "align":
        return [["translate", "I love music."], ["translate", "I love music.", "--target", "La musique.", "--pieces"],
                ["translate", "I love music.", "--head", "mean", "--links", "mutual", "--norms"]]
    if kind == "change":
        return [["change", "-m", bert, "The cat sat.", "--hide", "cat", "--cut", "#0:#2@1", "--silence", "0", "--even", "1.1", "--scale-head", "1.0=2"],
                ["change", "-m", bert, "The [MASK] sat.", "--blank", "sat", "--zero-value", "1", "--layer", "1", "--head", "0"],
                ["change", "-m", "en-fr", "I love music.", "--hide", "love", "--map", "align"],
                ["change", SCENE, "--hide-at", "60,100", "--layer", "0"],
                ["change", FARM, "-m", "scenes-detr", "--size", "240x192", "--silence", "cross.1", "--map", "objects"]]
    if kind in OF_OBJECTS:
        question = ["detect", FARM, "--size", "240x192", "--view", kind]
        return [[*question, *more, *threshold] for more in OF_OBJECTS[kind] for threshold in ([], ["--threshold", "0.9"])]
    if kind == "steps":
        question = ["steps", "-m", bert, "The cat sat."]
        return [question, [*question, "--token", "cat", "--to-token", "sat", "--layer", "0", "--head", "1"], [*question, "--similarity", "all"],
                [*question, "--similarity", "dot"], ["steps", "I love music.", "-m", "en-fr", "--token", "2"],
                ["steps", SCENE, "--size", "40x32", "--at", "100,60", "--to", "1,223"]]
    if kind in OVER_MANY:
        return [[*arguments, *(["-m", bert] if kind in ("stats", "compare") and "-m" not in arguments else [])] for arguments in OVER_MANY[kind]]
    view = ["--view", kind]
    if kind == "maps":
        return [["image", SCENE], ["image", SCENE, "--at", "60,100", "--mask", "0.6", "--head", "mean"],
                ["image", SCENE, "--without-artifacts", "--size", "32x32"], ["open", picture_run],
                ["open", picture_run, "--token", "patch 2,1", "--column", "--layer", "0", "--head", "mean"]]
    if kind in PICTURES:
        return [["image", SCENE, *view], ["image", SCENE, *view, *PICTURES[kind]]]
    more = {"heads": ["--layer", "all", "--head", "1,0"], "lines": ["--token", "cat", "--column", "--head", "0,1"],
            "top": ["--token", "cat", "--column", "--top", "2"], "matrix": ["--words", "--head", "max"],
            "read": ["--words"]}.get(kind, [])
    return [["text", "-m", bert, "The cat sat.", *view, *more],
            ["text", "-m", bert, "The cat sat.", *view], ["text", "-m", bert, "The [MASK] sat.", "--layer", "0", *view],
            ["translate", "I love music.", *view, "--site", "encoder", "--beam", "1"], ["open", picture_run, *view]]


@pytest.mark.parametrize("kind", KINDS)
def test_facts_of_every_kind_keep_their_schema(kind, bert, picture_run):
    for arguments in asked(kind, bert, picture_run):
        if kind == "reading" and arguments[0] == "open":
            continue  # a picture has no words to read
        facts = validated(ok(*arguments, "--json"))
        assert facts["question"]["kind"] == kind


def test_steps_of_a_captured_run_keep_the_schema_and_say_what_is_missing(picture_run):
    found = run("steps", picture_run, "--at", "9,9", "--to-token", "[CLS]", "--json")
    assert found.returncode == 0 and "captured without the blocks" in found.stderr
    facts = validated(found.stdout)
    assert facts["notes"] and "output" not in facts["result"] and facts["result"]["pair"]["token"] == "[CLS]"


def test_a_question_is_known_wherever_questions_are_listed(bert):
    """From the one file that defines it: help, completion, the manual page and the schema."""
    jsonschema.Draft202012Validator.check_schema(QUESTIONS)
    text = ok("questions")
    for kind, schema in KINDS.items():
        if kind in OVER_MANY:
            continue  # the test below
        assert f"\n{kind}\n" in "\n" + text
        verbs, view = re.search(rf"^{kind}\n(?:  .*\n)*?  fovea ([a-z, ]+?)(?: --view (\S+))?$", text, re.MULTILINE).groups()
        for verb in verbs.split(", ") if kind != "align" else []:
            assert view is None or view in ok("--complete", verb, "--view", "").split()
            for page in (ok(verb, "--help"), ok("help", verb, "--man")):
                assert (view or kind) in page
                for field in schema["properties"]:
                    assert field in ("kind", "exact") or field.replace("_", "-") in page.replace("\\-", "-")


def test_a_question_over_many_inputs_is_known_by_its_verb():
    for kind in OVER_MANY:
        about = re.search(rf"^{kind}\n(?:  .*\n)*?  fovea (\w+)(?: (\w+))?, over many inputs$", ok("questions"), re.MULTILINE)
        help_text = ok(about.group(1), "--help")
        for name in [*KINDS[kind]["properties"], about.group(2) or about.group(1)]:
            assert name == "kind" or name.replace("_", "-") in help_text


def test_the_schema_refuses_what_the_program_refuses():
    wrong = [{"kind": "matrix", "column": True}, {"kind": "align", "threshold": 0.3}, {"kind": "matrix", "layer": "all"},
             {"kind": "heads", "token": "it"}, {"kind": "align", "links": "threshold", "threshold": 3},
             {"kind": "cells"}, {"kind": "why", "to": [1, 1]}, {"kind": "objects", "threshold": 1.5},
             {"kind": "steps", "head": "mean"}, {"kind": "steps", "at": [1, 1], "token": "it"}, {"kind": "steps", "to": [1, 1], "similarity": "all"},
             {"kind": "points", "at": [[1, 1]] * 9}, {"kind": "explain", "check_orders": 4}, {"kind": "explain", "method": "magic"},
             {"kind": "explain", "at": [1, 1], "token": 2}, {"kind": "explain", "residual": 2}, {"kind": "explain", "method": "raw", "residual": 0.5},
             {"kind": "explain", "method": "rollout", "layer": 2}, {"kind": "explain", "method": "rollout", "head": 2}, {"kind": "queries", "head": "all"}, {"kind": "cell_matrix", "rows": [1]}]
    right = [{"kind": "matrix", "column": True, "token": "it"}, {"kind": "align", "threshold": 0.3, "links": "threshold"},
             {"kind": "heads", "layer": "all"}, {"kind": "explain", "method": "rollout", "residual": 0.3, "class": 3, "head": "mean"},
             {"kind": "explain", "residual": 0.3}, {"kind": "explain", "method": "raw", "layer": 2, "head": 2},
             {"kind": "explain", "check": True, "check_orders": 4}, {"kind": "align", "links": "threshold", "threshold": 3, "norms": True},
             {"kind": "steps", "at": [1, 1], "to_token": "[CLS]", "similarity": "dot"}, {"kind": "steps", "token": 5, "to": [1, 1]},
             {"kind": "points", "at": [[1, 1], [2, 2]]}, {"kind": "cells", "at": [1, 1]}, {"kind": "queries", "head": "all", "query": 0}]
    for question in wrong:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(KINDS[question["kind"]]).validate(question)
    for question in right:
        jsonschema.Draft202012Validator(KINDS[question["kind"]]).validate(question)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(QUESTIONS["$defs"]["input"]).validate({"text": "a", "target": "b", "beam": 2})


def test_a_table_is_written_as_a_table(bert, tmp_path):
    arguments = ["text", "-m", bert, "The cat sat on the mat.", "--view", "differ", "--token", "cat", "--most", "3"]
    shown = ok(*arguments)
    assert "2 cat" in shown and "3 sat" in shown and "The 3 columns in which rows 2 and 3 differ most" in shown
    ok(*arguments, "--out", tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0] == "column,2 cat,3 sat,change" and len(lines) == 4
    assert_fails(run(*arguments, "--out", tmp_path / "t.npy"), 2, "would hold maps but differ is a table", ".csv")
    assert_fails(run(*arguments, "--out", tmp_path / "t.html"), 2, "--view: a page has no differ")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
