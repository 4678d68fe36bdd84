"""Models, sessions and their arrays."""

import gc
import io
import logging
import pathlib
import weakref

import numpy as np
import pytest
from PIL import Image

import fovea
from conftest import ROOT

SCENE = ROOT / "models/scenes-vit/demo/scene-1.png"


def test_a_text_becomes_tokens_and_sites(session):
    assert session.tokens[:4] == ["[CLS]", "the", "cat", "sat"] and session.tokens[-1] == "[SEP]"
    assert session.axes == {"tokens": session.tokens}
    assert session.sites == {"self": fovea.Site(layers=2, heads=3, rows=13, columns=13)}
    assert repr(session).startswith("<Session of ")


def test_a_map_is_computed_from_the_arrays_of_its_record(session):
    q, k, lse = session.q("self", 1), session.k("self", 1), session.lse("self", 1)
    scores = q[2].astype(float) @ k[2].T.astype(float) / np.sqrt(q.shape[-1])
    np.testing.assert_allclose(np.exp(scores - lse[2][:, None]), session.map("self", 1, 2).numpy(), atol=1e-6)
    assert session.v("self", 1).shape == k.shape


def test_arrays_are_views_that_cannot_be_written_to_and_outlive_their_session(bert):
    session = bert("The cat sat.")
    arrays = [session.logits, session.hidden, session.q("self", 0), session.lse("self", 1)]
    again = session.q("self", 0)
    assert again.__array_interface__["data"] == arrays[2].__array_interface__["data"]  # the same memory
    before = [array.copy() for array in arrays]
    for array in arrays:
        assert not array.flags.writeable and not array.flags.owndata
        with pytest.raises(ValueError):
            array[:] = 0
        with pytest.raises(ValueError):
            array.flags.writeable = True
    gone = weakref.ref(session)
    part = arrays[2][1, 2:]
    del session
    gc.collect()
    assert gone() is None
    _ = [bert("A dog ran because it was tired." * 3).q("self", 0) for _ in range(3)]  # takes memory that is free
    for array, copy in zip(arrays, before):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(part, before[2][1, 2:])


def test_a_map_outlives_its_session_and_its_model(bert_folder):
    attention = fovea.load(bert_folder)("The cat sat.").map("self", 1, 1)
    gc.collect()
    assert attention[1].sum() == pytest.approx(1, abs=1e-6)


def test_a_pair_and_a_target_are_read(bert):
    assert bert("The cat sat.", pair="a dog").tokens == ["[CLS]", "the", "cat", "sat", ".", "[SEP]", "a", "dog", "[SEP]"]
    translator = fovea.load("en-fr")
    forced = translator("I love music.", target="La musique.")
    assert forced.written == "La musique."
    assert set(forced.sites) == {"encoder_self", "decoder_self", "cross"}
    assert forced.sites["cross"].columns == len(forced.axes["source"]) and forced.tokens == forced.axes["source"]
    free = translator("I love music.", beam=1)
    assert free.written and free.map("cross", 0, 0).shape == (free.sites["cross"].rows, free.sites["cross"].columns)
    assert free.map("encoder", 0, 0).shape == free.map("encoder_self", 0, 0).shape


def test_a_causal_model_goes_on_with_a_text(causal):
    session = causal.generate("the cat", tokens=4)
    assert session.sites["self"].rows == 2 + 4 - 1 or session.sites["self"].rows == 2 + 4
    assert isinstance(session.written, str) and session.written
    assert causal("the cat").written is None


def test_a_picture_may_be_a_path_bytes_a_picture_of_pillow_or_an_array():
    model = fovea.load("scenes-vit")
    picture = Image.open(SCENE).convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    given = [SCENE, str(SCENE), SCENE.read_bytes(), buffer.getvalue(), picture, np.asarray(picture), np.asarray(picture.convert("RGBA"))]
    maps = [model.image(one, size=(64, 48)).map("self", 0, 0).numpy() for one in given]
    for each in maps[1:]:
        np.testing.assert_array_equal(each, maps[0])
    grey = model.image(np.asarray(picture.convert("L")), size=(64, 48))
    assert grey.sites["self"] == model.image(SCENE, size=(64, 48)).sites["self"]


@pytest.mark.parametrize("picture, error, facts", [
    (np.ones((4, 4, 3), np.float32), ValueError, "float32.*uint8"), (np.ones((4, 4, 2), np.uint8), ValueError, r"\(4, 4, 2\)"),
    (b"no picture", ValueError, "picture"), (ROOT / "none.png", FileNotFoundError, "none.png"), (5, TypeError, "int"), (None, TypeError, "NoneType")])
def test_what_is_no_picture_is_refused(picture, error, facts):
    with pytest.raises(error, match=facts):
        fovea.load("scenes-vit").image(picture)


def test_inputs_may_be_lists_and_have_a_batch_axis_of_one(bert):
    one = bert.inputs(input_ids=[2, 5, 6, 3])
    for other in (bert.inputs(input_ids=np.array([[2, 5, 6, 3]], np.int32)), bert.inputs(input_ids=(2, 5, 6, 3), attention_mask=None)):
        np.testing.assert_array_equal(one.hidden, other.hidden)
    assert one.outputs.keys() >= {"last_hidden_state", "logits"} and one.logits.shape[0] == 4


def test_a_run_is_saved_and_opened_again(session, tmp_path):
    path = tmp_path / "run.fovea.safetensors"
    session.save(path)
    again = fovea.open(path)
    assert again.tokens == session.tokens and again.sites == session.sites
    np.testing.assert_array_equal(again.map("self", 1, 2).numpy(), session.map("self", 1, 2).numpy())
    np.testing.assert_array_equal(again.v("self", 0), session.v("self", 0))
    assert not again.q("self", 0).flags.writeable
    with pytest.raises(NotImplementedError, match="captured"):
        _ = again.logits
    assert again.written is None


def test_models_say_what_they_are(bert):
    assert bert.architecture == "bert" and bert.labels == [] and len(bert.hash) > 8
    assert bert.info()["model_type"] == "bert" and repr(bert).endswith("(bert)>")
    assert fovea.load("scenes-vit").labels


def test_threads_and_dtype_are_chosen_when_a_model_is_loaded(bert_folder):
    from fovea import _core

    before = _core.thread_count()
    fovea.load(bert_folder, threads=1)
    assert _core.thread_count() == 1
    _core.set_thread_count(before)
    exact, rounded = (fovea.load(bert_folder, dtype=dtype)("The cat sat.").hidden for dtype in ("f32", "i16"))
    assert 0 < np.abs(exact - rounded).max() < 0.05


def test_registries_describe_themselves():
    assert {"en-fr", "scenes-vit", "scenes-detr"} <= set(fovea.models())
    assert fovea.models()["en-fr"].supported
    rollout = fovea.methods()["rollout"]
    assert {"residual", "start_layer"} <= set(rollout.fields) and "otherwise" in rollout.__doc__ and rollout.summary in str(rollout)
    read = fovea.questions()["read"]
    assert {"layer", "head", "token"} <= set(read.fields) and "token:" in read.__doc__
    assert "many inputs" in fovea.questions()["stats"].__doc__
    assert "beam" in fovea.input_fields() and "text" not in fovea.input_fields()
    assert "read" in fovea.question_schema()["$defs"]


def test_notes_are_logged_once(caplog):
    """Of a text that is longer than those of the model's training."""
    with caplog.at_level(logging.WARNING, "fovea"):
        session = fovea.load(ROOT / "tests/data/parity/llama_gqa").inputs(input_ids=[1] * 100)
        notes = session.notes
        assert len(notes) == 1 and "100" in notes[0]
        session.map()
        session.map()
    assert [record.message for record in caplog.records] == notes


def test_progress_is_told_to_a_listener_and_what_it_raises_stops_the_work():
    model, scene = fovea.load("scenes-vit"), np.zeros((400, 400, 3), np.uint8)
    heard = []
    with fovea.progress(lambda title, done, total: heard.append((title, done, total))):
        model.image(scene).map()
    assert heard and all(isinstance(title, str) and 0 <= done <= total for title, done, total in heard)
    count = len(heard)
    model.image(scene).map()
    assert len(heard) == count  # nobody listens any more

    class Enough(Exception):
        pass

    def stop(title, done, total):
        raise Enough

    with pytest.raises(Enough), fovea.progress(stop):
        model.image(scene).map()


def test_bars_are_drawn_by_tqdm_where_they_are_asked_for(capfd):
    with fovea.progress():
        fovea.load("scenes-vit").image(np.zeros((400, 400, 3), np.uint8)).map()
    assert "%|" in capfd.readouterr().err
    with pytest.raises(TypeError, match="cannot be called"), fovea.progress(5):
        pass


def test_paths_of_pathlib_are_taken_everywhere(bert_folder, tmp_path):
    session = fovea.load(pathlib.Path(bert_folder))("The cat sat.")
    session.save(tmp_path / "run.fovea.safetensors")
    session.ask("matrix", layer=0, head=0).save(tmp_path / "m.npy")
    assert np.load(tmp_path / "m.npy").shape == (6, 6)
