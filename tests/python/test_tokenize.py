"""fovea tokenize on folders whose tokenizer lies in SentencePiece files."""

import json
import shutil

import pytest

from program import ROOT, assert_fails, ok, run

FIXTURES = ROOT / "tests" / "data" / "sentence_piece"


def tokens(folder, text, *options):
    return json.loads(ok("tokenize", "-m", folder, text, "--json", *options))


def test_the_two_sides_of_a_translation_model_cut_texts_otherwise():
    text = "Le chat s'est assis sur le tapis."
    source, target = tokens(FIXTURES / "marian", text), tokens(FIXTURES / "marian", text, "--target-side")
    assert len(target["ids"]) < len(source["ids"])  # trained on French
    for side in (source, target):
        assert side["tokens"][-1] == "</s>" and side["special"][-1]
        pieces = [text[begin:end] for (begin, end), special in zip(side["offsets"], side["special"]) if not special]
        assert "".join(pieces) == text


def test_one_tokenizer_serves_both_sides_where_there_is_only_one():
    assert tokens(FIXTURES / "t5", "the cat") == tokens(FIXTURES / "t5", "the cat", "--target-side")


def test_the_target_side_has_its_language():
    assert tokens(FIXTURES / "mbart", "le")["tokens"][-1] == "en_XX"
    assert tokens(FIXTURES / "mbart", "le", "--target-side")["tokens"][-1] == "fr_XX"


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"{}", b"\x0a\xff\xff\xff\xff\x0f", b"\xff" * 5000])
def test_a_broken_file_is_told_in_one_line(tmp_path, content):
    folder = tmp_path / "model"
    shutil.copytree(FIXTURES / "marian", folder)
    (folder / "source.spm").write_bytes(content)
    assert_fails(run("tokenize", "-m", folder, "hello"), 1, "source.spm")


def test_a_file_that_was_cut_short_is_told(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(FIXTURES / "marian", folder)
    whole = (folder / "source.spm").read_bytes()
    (folder / "source.spm").write_bytes(whole[: len(whole) // 2 - 1])
    assert_fails(run("tokenize", "-m", folder, "hello"), 1, "source.spm", "cut short")
