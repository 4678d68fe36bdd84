"""Calls that make no sense: a clear exception each, never a crash, and the package works afterwards."""

import random

import numpy as np
import pytest

import fovea
from conftest import ROOT

COUNT = 2000
# What a caller may see; all else is a bug. IndexError and KeyError say that something is not there.
EXPECTED = (TypeError, ValueError, LookupError, OSError, NotImplementedError, OverflowError)
VALUES = [None, True, False, 0, -1, 1, 5, 99, 2**31, 2**63, -2**70, 0.5, -1e9, float("nan"), float("inf"), "", "cat", "#2", "all", "mean", "self",
          "zebra\ud800", "\0", "x" * 5000, "0:3", [], [1, 2], [[1, 2], [3]], (), {}, {"a": 1}, {1: 2}, [None], b"", b"\x89PNG\r\n\x1a\nno", object(),
          np.float64(0.2), np.arange(3), np.zeros((0, 2)), np.ones((2, 2), complex), slice(None), ..., [[[[[["deep"]]]]]], range(3), len]


def deep(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_two_thousand_random_wrong_calls_raise_clear_exceptions(bert, causal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some are names of files
    chance = random.Random(20261119)
    values = [*VALUES, deep(10_000)]
    vit = fovea.load("scenes-vit")
    sessions = [bert("The cat sat on the mat."), causal("the cat sat"),
                vit.image(ROOT / "models/scenes-vit/demo/scene-1.png", size=(32, 32))]
    maps = [session.map() for session in sessions]
    answer = sessions[0].ask("matrix", layer=0, head=0)
    questions = fovea.questions()
    inputs = list(fovea.input_fields())

    def some():
        return chance.choice(values)

    def question():
        kind = chance.choice([*questions, None, "nothing", some()])
        names = list(questions[kind].fields) if isinstance(kind, str) and kind in questions else ["layer", "token"]
        fields = {chance.choice([*names, "unknown"]): some() for _ in range(chance.randint(0, 3))}
        return chance.choice(sessions).ask(kind, **fields)

    calls = [
        question, question, question, question,
        lambda: chance.choice(maps)[some()], lambda: chance.choice(maps)[some(), some()],
        lambda: chance.choice(maps)[slice(some(), some(), some())],
        lambda: chance.choice(maps).row(some()), lambda: chance.choice(maps).column(some()),
        lambda: chance.choice(maps).tile(some(), some(), some(), some()), lambda: chance.choice(maps).pool(some(), some(), some()),
        lambda: chance.choice(maps).top(some(), some()), lambda: np.array(chance.choice(maps), dtype=chance.choice(VALUES)),
        lambda: chance.choice(sessions).map(some(), some(), some()), lambda: chance.choice(sessions).map("self", some(), some()),
        lambda: chance.choice(sessions).q(some(), some()), lambda: chance.choice(sessions).lse("self", some()),
        lambda: bert(some()).sites, lambda: bert("the cat", **{chance.choice(inputs): some()}).sites,
        lambda: causal.generate("the cat", some()).sites, lambda: vit.image(some()).sites,
        lambda: bert.inputs(**{chance.choice(["input_ids", "attention_mask", "pixel_values", "decoder_input_ids", "nothing"]): some()}).sites,
        lambda: bert.inputs(input_ids=[2, 5, 3], token_type_ids=some()).sites,
        lambda: fovea.load(some()), lambda: fovea.load("scenes-vit", dtype=some()), lambda: fovea.open(some()),
        lambda: answer.save(some()), lambda: answer.save(tmp_path / "x.png", pixels=some(), colors=some()),
        lambda: answer.figure.text(some()), lambda: sessions[0].save(some()),
    ]
    raised = 0
    for number in range(COUNT):
        try:
            chance.choice(calls)()
        except EXPECTED as error:
            raised += 1
            assert str(error).strip() or isinstance(error, KeyError), f"call {number} says nothing"
    assert raised > COUNT / 2  # a random value is sometimes a right one
    assert bert("The cat sat.").map("self", 1, 2)[0].sum() > 0.999


def test_wrong_types_are_named(bert, session):
    """Of arguments of the package's own; those of a question are checked by the engine, which names the field."""

    for call, facts in ((lambda: bert(5), "text: it is of the type int"), (lambda: bert.inputs(inputs=[1]), "inputs: models take no such input"),
                        (lambda: bert.inputs(input_ids=["a"]), "input_ids: it holds"), (lambda: fovea.progress(5).__enter__(), "cannot be called")):
        with pytest.raises(TypeError, match=facts):
            call()
    for call, facts in ((lambda: fovea.load("scenes-vit", dtype="f64"), "dtype: 'f64' is neither 'f32' nor 'i16'"),
                        (lambda: session.ask("read", token=[1]), "token: "), (lambda: session.ask("read", layer=float("nan")), "nan"),
                        (lambda: session.ask("nothing"), "kind: "), (lambda: session.map("cross"), "site: this run has no"),
                        (lambda: session.map("self", 9), "layer: 9 is no layer of self, which has 0 to 1"),
                        (lambda: session.map("self", 0, 9), "9"), (lambda: fovea.load("scenes-vit", threads=0), "0 threads"),
                        (lambda: session.ask("read", token=deep(10_000)), "nested too deeply"),
                        (lambda: session.ask("read", layer=2**70), "too large")):
        with pytest.raises(ValueError, match=facts):
            call()


def test_errors_have_the_classes_of_the_one_table(bert, session, tmp_path):

    cases = [(lambda: fovea.load(tmp_path / "none"), FileNotFoundError), (lambda: fovea.open(tmp_path / "none.safetensors"), FileNotFoundError),
             (lambda: session.ask("matrix").save(tmp_path / "no/such/folder.png"), (OSError, ValueError)),
             (lambda: bert.image(ROOT / "models/scenes-vit/demo/scene-1.png"), (ValueError, NotImplementedError)),
             (lambda: session.align(), (ValueError, NotImplementedError))]
    (tmp_path / "config.json").write_text("{")
    cases.append((lambda: fovea.load(tmp_path), ValueError))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/config.json").write_text('{"model_type": "nothing"}')
    cases.append((lambda: fovea.load(tmp_path / "other"), NotImplementedError))
    for call, error in cases:
        with pytest.raises(error) as raised:
            call()
        assert len(str(raised.value).splitlines()) == 1 and hasattr(raised.value, "field")
    assert issubclass(fovea.Busy, RuntimeError) and issubclass(fovea.Cancelled, RuntimeError)
