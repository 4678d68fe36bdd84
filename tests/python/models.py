"""Small model folders for the tests of the program: the weights of tests/data/parity and a tokenizer made here."""

import json
import shutil

from program import ROOT

PARITY = ROOT / "tests/data/parity"
WORDS = ["the", "cat", "sat", "on", "mat", "because", "it", "was", "tired", "a", "dog", "ran", "un", "##happy", "##s", ".", ","]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def copy_fixture(name, folder):
    """The checkpoint of a fixture, without its answers."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (PARITY / name).iterdir():
        if not file.name.startswith(("inputs", "expected", "config-")):
            shutil.copy(file, folder / file.name)
    return folder


def bert(folder, fixture="bert_masked_lm"):
    """A BERT with a vocab.txt of a few English words."""
    copy_fixture(fixture, folder)
    (folder / "vocab.txt").write_text("\n".join(BERT_SPECIAL + WORDS) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"do_lower_case": True, "mask_token": "[MASK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
         "unk_token": "[UNK]"}))
    return folder


def causal(folder, fixture="gpt2_lm"):
    """A causal model whose tokens are whole words."""
    copy_fixture(fixture, folder)
    words = ["<unk>", *[word for word in WORDS if not word.startswith("#")]]
    words += [f"w{i}" for i in range(json.loads((folder / "config.json").read_text())["vocab_size"] - len(words))]
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "<unk>"},
    }))
    return folder
