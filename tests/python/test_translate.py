"""The verb translate, and other verbs on a model with an encoder and a decoder."""

import json
import shutil

import numpy
import pytest
from safetensors.numpy import load_file

import models
from program import ROOT, assert_fails, ok, run

SOURCE = "The agreement on the European Economic Area was signed in August 1992."
TARGET = "L'accord sur l'Espace économique européen a été signé en août 1992."
MODEL = ROOT / "models/en-fr"


def translated(*arguments):
    result = run("translate", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def links(answer):
    result = answer["result"]
    return {(result["cols"][source], result["rows"][target]) for source, target in result["links"]}


def test_the_alignment_shows_the_reordering():
    answer = translated(SOURCE)
    assert answer["outputs"]["target"] == TARGET and answer["outputs"]["complete"] and not answer["outputs"]["forced"]
    assert {("European", "européen"), ("Economic", "économique"), ("Area", "Espace"), ("signed", "signé"),
            ("1992", "1992")} <= links(answer)
    assert (answer["site"], answer["layer"], answer["head"]) == ("cross", 0, 4)
    chosen = answer["result"]["map"]
    assert chosen["confident"] and chosen["reading"] == "input" and "anchor" in chosen["why"]


def test_the_drawing_says_which_map_it_is_and_why():
    shown = ok("translate", SOURCE)
    assert shown.splitlines()[0] == SOURCE and TARGET in shown.splitlines()[1] and "4 beams" in shown
    joined = " ".join(shown.split())
    assert "layer 0, head 4, read by decoder input" in joined and "chosen without gold" in joined
    assert "a row sums to" in joined and "special tokens" in joined
    assert "importan" not in shown


def test_a_given_target_is_aligned_as_it_is():
    answer = translated("I love music.", "--target", "La musique, je l'aime.")
    assert answer["outputs"]["forced"] and answer["result"]["rows"] == ["La", "musique", ",", "je", "l'", "aime", "."]
    assert ("music", "musique") in links(answer) and ("love", "aime") in links(answer)
    assert ok("translate", "I love music.", "--target", "La musique, je l'aime.", "--moses").split() == sorted(
        (f"{s}-{t}" for s, t in answer["result"]["links"]), key=lambda link: [int(n) for n in link.split("-")])


def test_layer_head_and_reading_can_be_chosen():
    mean = translated(SOURCE, "--layer", "2", "--head", "mean", "--read", "output")
    assert (mean["layer"], mean["head"]) == (2, "mean") and mean["result"]["map"]["reading"] == "output"
    other = translated(SOURCE, "--layer", "0", "--head", "4", "--read", "output")
    assert len(links(other) & links(translated(SOURCE))) < 6  # read the wrong way it is shifted
    everything = translated(SOURCE, "--head", "mean")
    assert (everything["layer"], everything["head"]) == ("mean", "mean")


def test_words_are_sums_and_means_of_pieces(tmp_path):
    pieces = translated(SOURCE, "--pieces", "--layer", "0", "--head", "4", "--read", "input")["result"]
    words = translated(SOURCE, "--layer", "0", "--head", "4", "--read", "input")["result"]
    of_pieces, of_words = numpy.array(pieces["weights"]), numpy.array(words["weights"])
    numpy.testing.assert_allclose(of_pieces.sum(1), 1, atol=1e-6)
    area = [i for i, text in enumerate(pieces["cols"]) if text in ("·Are", "a")]
    assert len(area) == 2 and pieces["cols"][-1] == "</s>"
    column = of_pieces[:, area].sum(1)
    espace = [i for i, text in enumerate(pieces["rows"]) if text in ("E", "space")]
    assert len(espace) == 2
    cell = of_words[words["rows"].index("Espace"), words["cols"].index("Area")]
    assert abs(cell - column[espace].mean()) < 1e-6


def test_hard_links_norms_and_thresholds():
    hard = numpy.array(translated(SOURCE, "--hard")["result"]["weights"])
    assert set(hard.ravel()) == {0.0, 1.0} and (hard.sum(1) <= 1).all()
    # What is shown is no attention weight, and does not say so.
    assert "1: a link" in translated(SOURCE, "--hard")["caption"] and "softmax" not in translated(SOURCE, "--hard")["caption"]
    few = translated(SOURCE, "--links", "mutual")["result"]["links"]
    many = translated(SOURCE, "--links", "threshold", "--threshold", "0.01")["result"]["links"]
    assert len(few) <= len(translated(SOURCE)["result"]["links"]) < len(many)
    norms = translated(SOURCE, "--norms", "--layer", "0", "--head", "4", "--read", "input")
    assert ("European", "européen") in links(norms) and "norm" in norms["caption"]
    assert_fails(run("translate", SOURCE, "--threshold", "0.3"), 2, "--threshold", "--links threshold")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "npy", "npz", "safetensors", "json", "csv", "html"])
def test_an_alignment_is_written_in_every_form(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    assert ok("translate", "I love music.", "--out", path).startswith(f"wrote {path}")
    assert path.stat().st_size > 100
    if suffix == "npy":
        assert numpy.load(path).shape == (5, 4)


def test_greedy_and_beams_can_be_told_apart():
    greedy = translated("Where is the nearest train station?", "--beam", "1")["outputs"]
    beams = translated("Where is the nearest train station?", "--beam", "5", "--length-penalty", "2")["outputs"]
    assert "search_score" not in greedy and beams["search_score"] < 0
    short = translated(SOURCE, "--most-tokens", "3")["outputs"]
    assert not short["complete"] and "cut at the limit" in ok("translate", SOURCE, "--most-tokens", "3")


def test_every_attention_of_both_stacks_can_be_seen():
    for view, name in (("encoder", "encoder self-attention"), ("decoder", "decoder self-attention"),
                       ("cross", "cross-attention")):
        assert name in ok("translate", "I love music.", "--view", view)
    assert "layers 0 to 2, 8 heads each" in ok("translate", "I love music.", "--view", "cross", "--layer", "all")
    assert "after ·la → predicts ·musique" in ok("translate", "I love music.", "--view", "decoder", "--head", "1")
    assert "predicts" in ok("translate", "I love music.", "--view", "cross", "--token", "musique")


def test_export_and_capture_hold_all_three_kinds(tmp_path):
    ok("export", "-m", "en-fr", "I love music.", "--target", "J'aime la musique.", "--out", tmp_path / "e.safetensors")
    maps = load_file(tmp_path / "e.safetensors")
    kinds = {"encoder_self": 6, "decoder_self": 3, "cross": 3}
    assert {name for name in maps if "." in name} == {f"{k}.{i}" for k, n in kinds.items() for i in range(n)}
    assert {"encoder_last_hidden_state", "last_hidden_state", "logits"} <= set(maps)
    rows, columns = maps["decoder_self.0"].shape[1], maps["encoder_self.0"].shape[1]
    assert maps["cross.2"].shape == (8, rows, columns) and maps["logits"].shape == (rows, 8001)
    numpy.testing.assert_allclose(maps["cross.2"].sum(-1), 1, atol=1e-6)
    run_file = tmp_path / "r.fovea.safetensors"
    ok("capture", "-m", "en-fr", "I love music.", "--out", run_file)
    ok("open", run_file, "--site", "cross", "--layer", "0", "--head", "4", "--out", tmp_path / "m.npy")
    ok("translate", "I love music.", "--view", "cross", "--layer", "0", "--head", "4", "--out", tmp_path / "n.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "m.npy"), numpy.load(tmp_path / "n.npy"))


def test_steps_of_cross_attention():
    shown = ok("steps", "I love music.", "--target", "J'aime la musique.", "--token", "musique", "--layer", "0",
               "--head", "4")
    assert "k = s Wk" in shown and "predicts ." in shown and "cross-attention" in shown
    numbers = json.loads(ok("steps", "I love music.", "--target", "J'aime la musique.", "--token", "musique",
                            "--layer", "0", "--head", "4", "--json"))
    result = numbers["result"]
    assert result["cols"][-1] == "</s>" and numbers["outputs"]["target"] == "J'aime la musique."
    assert result["weights"][2] > 0.9 and result["output_difference"] < 1e-5
    assert '"site": "encoder_self"' in ok("steps", "-m", "en-fr", "I love music.", "--site", "encoder", "--layer",
                                            "1", "--json")
    own = json.loads(ok("steps", "-m", "en-fr", "I love music.", "--site", "decoder", "--json"))
    assert (own["site"], own["layer"]) == ("decoder_self", 2) and len(own["result"]["x"]) == 256
    assert_fails(run("steps", "-m", "en-fr", "I love music.", "--site", "self"), 2, "self", "cross")


@pytest.mark.parametrize("verb, name, alias", [("steps", "encoder_self", "encoder"), ("steps", "decoder_self", "decoder"),
                                               ("explain", "decoder_self", "decoder"), ("text", "decoder_self", "decoder")])
def test_a_site_is_called_by_its_name_or_its_alias(verb, name, alias):
    arguments = (verb, "I love music.", "-m", "en-fr", *(("--method", "raw") if verb == "explain" else ()), "--json")
    assert ok(*arguments, "--site", name) == ok(*arguments, "--site", alias) != ok(*arguments, "--site", "cross")


def test_names_of_sites_are_taken_by_every_verb_that_takes_a_site(tmp_path):
    (tmp_path / "texts").write_text("I love music.\n")
    run_file = tmp_path / "r.fovea.safetensors"
    ok("capture", "-m", "en-fr", "I love music.", "--out", run_file)
    assert ok("open", run_file, "--site", "decoder_self") == ok("open", run_file, "--site", "decoder")
    counted = ["stats", tmp_path / "texts", "-m", "en-fr", "--json", "--site"]
    assert ok(*counted, "decoder_self") == ok(*counted, "decoder")
    drawn = ["translate", "I love music.", "--view", "encoder"]
    assert ok(*drawn, "--site", "encoder_self") == ok(*drawn, "--site", "encoder") == ok(*drawn)
    assert_fails(run(*drawn, "--site", "decoder_self"), 2, "--view is encoder but --site decoder")
    for verb in ("text", "translate", "open", "explain", "steps", "stats"):
        assert_fails(run(verb, "x", "--site", "encoder_sel"), 2, "--site is 'encoder_sel'", "self, encoder, decoder, cross",
                     "did you mean 'encoder_self'?")


def test_the_checks_hold():
    assert "96 maps" in ok("info", "-m", "en-fr", "--check")


def test_texts_that_cannot_be_translated_are_told(tmp_path):
    for empty in ("", "   ", "\n"):
        assert_fails(run("translate", empty), 2, "no words")
    assert_fails(run("translate", "I love music.", "--target", " "), 2, "target", "no words")
    assert_fails(run("translate", "word " * 600), 2, "tokens", "512", "shorten")
    assert_fails(run("translate", "I love music.", "--target", "mot " * 600), 2, "tokens", "512")
    (tmp_path / "bad.txt").write_bytes(b"I love \xff music.")
    told = run("translate", "--text-file", tmp_path / "bad.txt")
    assert told.returncode == 0 and "no UTF-8" in told.stderr


def test_what_is_not_in_the_vocabulary_is_told():
    told = run("translate", "I love 音楽.", "--target", "J'aime ☃ et 音楽.")
    assert told.returncode == 0 and "not in the vocabulary" in told.stderr and "target:" in told.stderr
    assert "音楽" in told.stdout


def test_words_of_the_other_text_are_not_marked():
    shown = ok("translate", SOURCE, "--view", "cross", "--token", "signé", "--words", "--layer", "0", "--head", "4")
    assert "signed⁹" in shown and "[August]" not in shown and "8 signed" in shown
    assert_fails(run("translate", SOURCE, "--view", "reading", "--site", "cross"), 2, "one text")
    lines = ok("translate", SOURCE, "--view", "lines", "--site", "cross", "--words", "--layer", "0", "--head", "4")
    assert "accord → agreement" in lines and "·" not in lines.split("head 4\n", 1)[1].split("\n\n")[0]


def test_a_page_opens_at_the_map_of_the_alignment(tmp_path):
    ok("translate", SOURCE, "--out", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    header = json.loads(page.split('id="fovea-page">')[1].split("</script>")[0])
    site = header["sites"][header["start"]["site"]]
    assert site["kind"] == "cross-attention" and site["layer"] == 0 and header["start"]["head"] == 4
    assert {s["kind"] for s in header["sites"]} == {"encoder self-attention", "decoder self-attention",
                                                    "cross-attention"}


def test_missing_parts_of_a_marian_tokenizer_are_named(tmp_path):
    for name in ("source.spm", "target.spm", "vocab.json"):
        folder = tmp_path / name
        shutil.copytree(MODEL, folder)
        (folder / name).unlink()
        assert_fails(run("translate", "-m", folder, "a"), 1, f"has no {name}")


def test_wrong_usage_is_told(tmp_path):
    assert_fails(run("translate", "a", "--moses", "--out", tmp_path / "a.png"), 2, "--moses", "--out")
    assert_fails(run("translate", "a", "--moses", "--json"), 2, "--moses", "--json")
    assert_fails(run("translate", "a", "--site", "encoder"), 2, "--site", "--view")
    assert_fails(run("translate", "a", "--view", "cross", "--site", "encoder"), 2, "cross", "encoder")
    assert_fails(run("translate", "a", "--view", "cross", "--token", "zebra"), 2, "zebra")
    assert_fails(run("translate"), 2, "INPUT", "neither")
    assert_fails(run("translate", "a", "--text-file", "b"), 2, "both")
    assert_fails(run("translate", "a", "--beam", "0"), 2, "beam")
    assert_fails(run("translate", "a", "--beam", "100000"), 2, "beam")
    assert_fails(run("translate", "a", "--view", "cross", "--moses"), 2, "--moses", "--view cross")
    assert_fails(run("translate", "a", "--token", "a"), 2, "--token", "--view")
    assert_fails(run("translate", "I love music.", "--layer", "3"), 2, "3", "layer")
    assert_fails(run("translate", "I love music.", "--head", "8"), 2, "8", "head")
    assert_fails(run("translate", "a", "--most-tokens", "600"), 2, "600", "512")
    # Before anything is translated: the source, which is too long too, has not been looked at.
    long = "cat " * 1000
    assert_fails(run("translate", long, "--most-tokens", "600"), 2, "600", "512")
    assert_fails(run("translate", long, "--target", "chat " * 1000), 2, "target", "512")
    for view, option in (([], "--layer"), ([], "--head"), (["--view", "decoder"], "--layer"), (["--view", "encoder"], "--head")):
        assert_fails(run("translate", long, *view, option, "99"), 2, f"{option}: 99 is beyond", "0 to ")
    assert_fails(run("translate", "I love music.", "--to", "de"), 1, "language")
    assert_fails(run("translate", "a", "--out", tmp_path / "a.docx"), 2, ".docx", ".png")
    assert_fails(run("text", "-m", models.PARITY / "bert_model", "--inputs",
                     models.PARITY / "marian_mt/inputs.safetensors"), 2, "decoder_input_ids")


def test_models_of_other_kinds_are_told(tmp_path):
    bert = models.bert(tmp_path / "bert")
    assert_fails(run("translate", "-m", bert, "the cat"), 1, "bert", "one stack", "en-fr")
    assert_fails(run("export", "-m", bert, "the cat", "--target", "x", "--out", tmp_path / "x.safetensors"), 2, "--target")
    assert_fails(run("translate", "-m", models.PARITY / "whisper_lm", "a"), 1, "sound")
    assert_fails(run("export", "-m", "en-fr", "a", "--pair", "b", "--out", tmp_path / "x.safetensors"), 2, "--target")


def test_without_a_start_token_there_is_no_translation(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    for key in ("decoder_start_token_id", "bos_token_id"):
        config.pop(key)
    (folder / "config.json").write_text(json.dumps(config))
    assert_fails(run("translate", "-m", folder, "a"), 1, "decoder_start_token_id")


def test_right_to_left_and_chinese_keep_their_words():
    shown = translated("I love music.", "--target", "أحب الموسيقى.")["result"]
    assert shown["rows"] == ["أحب", "الموسيقى", "."]
    han = translated("I love music.", "--target", "我爱音乐。")["result"]
    assert "".join(han["rows"]) == "我爱音乐。"
