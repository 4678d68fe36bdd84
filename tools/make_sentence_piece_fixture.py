"""Makes tests/data/sentence_piece: small SentencePiece folders of translation models, and what
transformers and the sentencepiece package answer.

    pip install transformers==5.22.2 sentencepiece==0.2.2 protobuf
    python3 tools/make_sentence_piece_fixture.py

Each line of answers/<name>.txt is for one text of lines.json: the number of tokens, a hash of their
ids, and a hash of the decoded text. Those of models/*.model (answers/<model>.txt) hash pieces with
their byte offsets instead.
"""

import contextlib
import io
import json
import pathlib
import re
import shutil
import tempfile

import sentencepiece
from transformers import (M2M100Tokenizer, MarianTokenizer, MBart50Tokenizer, MBartTokenizer, NllbTokenizer,
                          T5Tokenizer)

from make_tokenizer_fixture import SENTENCES, fnv, make_lines

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "data" / "sentence_piece"
FRENCH = [
    "L'accord sur l'Espace économique européen a été signé en août 1992.",
    "Le chat s'est assis sur le tapis parce qu'il était fatigué ; n'est-ce pas ?",
    "Nous avons mangé des crêpes près de la forêt, où l'été dernier il faisait très chaud.",
    "« Bonjour ! » dit-elle à son frère, qui dormait déjà depuis une heure.",
    "Ils ne savaient pas que la voiture bleue appartenait à la sœur du maire.",
]
ODD = [
    ">>fra<< Hello there.", ">>fra<<Hello", ">>xxx<< unknown code", ">> a << b", ">>fra", "x >>fra<< y",
    " >>fra<< spaced", ">>deu<<", "<unk> a <pad>b</s>", "</s></s>", "a</s> b", "<s>x</s>", "fr_XX Bonjour en_XX",
    "fr_XXx", "__fr__ Bonjour __en__", "__fr__", "<mask> of <mask>x", "a  <mask>  b", "<extra_id_0> x <extra_id_99>",
    "<extra_id_5><extra_id_6>", "a\u2581b \u2581\u2581 c", "\u2581", "  two  spaces  ", "\u3000ideographic\u3000space\u3000",
    "zero\u200bwidth\u200b \u200b", "\ufeffbom", "line\nbreak\r\nand\ttab", "\x01\x02control\x1f", "e\u0301te\u0301 \u00e9t\u00e9",
    "ﬁne ½ ① Ⅷ ﷺ ㍿ ｆｕｌｌ", "☃☃☃ ☃a☃", "\U0001f600\U0001f680x\U0001f469\u200d\U0001f469", "word " * 400, "x" * 3000,
    "\ufffd\ufffd", " ", "", "\n", "<0x41> bytes <0xE9>", "Über » größer «", "100\u00a0000\u202f€",
]
RULES = "\n".join(f"{ord(a):X}\t{' '.join(f'{ord(c):X}' for c in b)}" for a, b in [
    ("ﬁ", "fi"), ("½", "1/2"), ("\u00a0", " "), ("\u3000", " "), ("\n", " "), ("\t", " "), ("ｆ", "f"), ("\u200b", " "),
    ("\u00ad", ""), ("①", "1"), ("\x01", "")]) + "\n65 301\tE9\n"


def train(path, lines, model_type, vocab, rules=None, **options):
    """`rules` become the model's character map; others are as the package has them."""
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # the model keeps the path
        if rules:
            pathlib.Path("rules.tsv").write_text(rules)
            options["normalization_rule_tsv"] = "rules.tsv"
        train_into(buffer, lines, model_type, vocab, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(buffer.getvalue())
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def train_into(buffer, lines, model_type, vocab, options):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in lines for _ in range(9) if "\x00" not in line]), model_writer=buffer,
        model_type=model_type, vocab_size=vocab, hard_vocab_limit=False, minloglevel=2, **options)


def byte_spans(pieces):
    """Where pieces lie in the UTF-8 text; those that are bytes of one character all get its span."""
    spans = [(piece.begin, piece.end) for piece in pieces]
    for i in range(len(spans) - 2, -1, -1):
        if spans[i][0] == spans[i][1] and re.fullmatch("<0x..>", pieces[i].piece):
            spans[i] = (spans[i][0], spans[i + 1][1])
    return spans


def write_answers(name, rows):
    path = OUT / "answers" / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(f"{count} {fnv(tokens)} {fnv(text)}" for count, tokens, text in rows) + "\n")


def answer_pieces(name, processor, lines):
    rows = []
    for line in lines:
        pieces = processor.encode(line, return_type="proto").pieces
        text = "".join(f"{piece.id},{piece.piece},{a},{b};" for piece, (a, b) in zip(pieces, byte_spans(pieces)))
        rows.append((len(pieces), text, processor.decode([piece.piece for piece in pieces])))
    write_answers(name, rows)


def answer_ids(name, lines, encode, decode):
    rows = []
    for line in lines:
        ids = encode(line)
        rows.append((len(ids), "".join(f"{i};" for i in ids), decode(ids)))
    write_answers(name, rows)


def marian(lines):
    folder = OUT / "marian"
    english = [line for line in SENTENCES[:3] + SENTENCES[20:24] if "\n" not in line]
    source = train(folder / "source.spm", english, "unigram", 220, character_coverage=0.99,
                   normalization_rule_name="identity")
    target = train(folder / "target.spm", FRENCH, "bpe", 260, character_coverage=1.0,
                   normalization_rule_name="identity")
    vocab = {"</s>": 0, "<unk>": 1}
    for processor in (target, source):
        for i in range(3, processor.get_piece_size()):
            vocab.setdefault(processor.id_to_piece(i), len(vocab))
    for piece in ("▁the", "e", "▁Le"):  # known to SentencePiece only
        vocab.pop(piece, None)
    vocab = {piece: i for i, piece in enumerate(vocab)}
    for token in (">>fra<<", ">>deu_Latn<<", "☃☃☃", "<pad>"):
        vocab[token] = len(vocab)
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False))
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "fr",
              "unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    answer_marian("marian", folder, lines)
    answer_marian("en_fr", ROOT / "models" / "en-fr", lines)


def answer_marian(name, folder, lines):
    tokenizer = MarianTokenizer.from_pretrained(folder)
    for side, keyword in (("source", "text"), ("target", "text_target")):
        answer_ids(f"{name}_{side}", lines, lambda line: tokenizer(**{keyword: line})["input_ids"],
                   lambda ids: tokenizer.decode(ids, skip_special_tokens=True,
                                                use_source_tokenizer=side == "source"))


class PieceTokenizer:
    """transformers' tokenizers of SentencePiece files before version 5, which used the package itself.
    Special tokens are cut out, the pieces of the rest get ids by `to_id`."""

    def __init__(self, processor, ids, special, to_id):
        self.processor, self.ids, self.special, self.to_id = processor, ids, special, to_id
        self.names = {i: name for name, i in ids.items()}
        longest_first = [re.escape(token) for token in sorted(special, key=len, reverse=True)]
        self.pattern = re.compile("(" + "|".join(longest_first).replace("<mask>", r"\s*<mask>") + ")")

    def encode(self, line):
        ids = []
        for part in self.pattern.split(line):
            if part.lstrip() in self.special:
                ids.append(self.ids[part.lstrip()])
            elif part:
                ids += [self.to_id(i) for i in self.processor.encode(part)]
        return ids

    def decode(self, ids):
        pieces = [self.names[i] for i in ids if self.names[i] not in self.special]
        return self.processor.decode(pieces).replace("▁", " ").strip()


def compare(name, ours, theirs, lines):
    """transformers 5 converts these files to its own tokenizers, which see white space and control
    characters otherwise. All other lines must agree."""
    differ = [line for line in lines if ours(line) != theirs(line)]
    plain = [line for line in differ if line.isprintable() and "  " not in line and line == line.strip()
             and "\u2581" not in line]
    print(f"{name}: transformers differs for {len(differ)} of {len(lines)} lines, {len(plain)} of them plain")
    assert not plain


def t5(lines):
    folder = OUT / "t5"
    processor = train(folder / "spiece.model", [line for line in SENTENCES[:12] if "\n" not in line], "unigram", 400,
                      character_coverage=0.99, rules=RULES, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "T5Tokenizer", "extra_ids": 100, "eos_token": "</s>", "unk_token": "<unk>",
         "pad_token": "<pad>"}))
    size = processor.get_piece_size()
    ids = {processor.id_to_piece(i): i for i in range(size)}
    special = ["<pad>", "</s>", "<unk>"] + [f"<extra_id_{i}>" for i in range(100)]
    ids |= {f"<extra_id_{i}>": size + 99 - i for i in range(100)}
    own = PieceTokenizer(processor, ids, special, lambda i: i)
    answer_ids("t5", lines, lambda line: own.encode(line) + [1], own.decode)
    tokenizer = T5Tokenizer.from_pretrained(folder)
    compare("t5", lambda line: own.encode(line) + [1], lambda line: tokenizer(line)["input_ids"], lines)


def mbart(lines):
    folder = OUT / "mbart"
    processor = train(folder / "sentencepiece.bpe.model", FRENCH + SENTENCES[:3] + SENTENCES[9:13], "unigram", 400,
                      character_coverage=0.99, normalization_rule_name="identity")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "MBartTokenizer", "src_lang": "en_XX", "tgt_lang": "fr_XX"}))
    from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES as codes
    size = processor.get_piece_size()
    special = ["<s>", "<pad>", "</s>", "<unk>", *codes, "<mask>"]
    ids = {processor.id_to_piece(i): i + 1 for i in range(3, size)}
    ids |= {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": size + 1 + len(codes)}
    ids |= {code: size + 1 + i for i, code in enumerate(codes)}
    own = PieceTokenizer(processor, ids, special, lambda i: i + 1 if i > 0 else 3)
    end = [2, ids["en_XX"]]
    answer_ids("mbart", lines, lambda line: own.encode(line) + end, own.decode)
    tokenizer = MBartTokenizer.from_pretrained(folder)
    assert all(tokenizer.convert_tokens_to_ids(name) == ids[name] for name in ("fr_XX", "<mask>", "▁de"))
    compare("mbart", lambda line: own.encode(line) + end, lambda line: tokenizer(line)["input_ids"], lines)


def m2m100(lines):
    folder = OUT / "m2m100"
    processor = train(folder / "sentencepiece.bpe.model", FRENCH + SENTENCES[:3], "bpe", 350, character_coverage=0.995,
                      normalization_rule_name="identity")
    vocab = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    for i in range(processor.get_piece_size() - 1, 2, -1):
        vocab[processor.id_to_piece(i)] = len(vocab)
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False))
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES
    tokens = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "M2M100Tokenizer", "src_lang": "en", "tgt_lang": "fr", "additional_special_tokens": tokens}))
    tokenizer = M2M100Tokenizer.from_pretrained(folder)
    for language in ("en", "fr"):
        tokenizer.src_lang = language
        answer_ids(f"m2m100_{language}", lines, lambda line: tokenizer(line)["input_ids"],
                   lambda ids: tokenizer.decode(ids, skip_special_tokens=True))


def with_tokenizer_json(lines):
    """Files that transformers writes, whose language it then chooses."""
    nllb = {"extra_special_tokens": ["eng_Latn", "fra_Latn", "zho_Hans", "zho_Hant"]}
    for name, kind, model, languages, options in (
            ("mbart50_json", MBart50Tokenizer, OUT / "mbart", ("en_XX", "fr_XX"), {}),
            ("nllb_json", NllbTokenizer, OUT / "m2m100", ("eng_Latn", "fra_Latn"), nllb)):
        folder = OUT / name
        folder.mkdir()
        shutil.copy(model / "sentencepiece.bpe.model", folder)
        tokenizer = kind.from_pretrained(folder, **options)
        tokenizer.save_pretrained(folder)
        (folder / "sentencepiece.bpe.model").unlink()
        tokenizer = kind.from_pretrained(folder)
        for language in languages:
            tokenizer.src_lang = language
            answer_ids(f"{name}_{language}", lines, lambda line: tokenizer(line)["input_ids"],
                       lambda ids: tokenizer.decode(ids, skip_special_tokens=True))


def fuzz_corpus():
    """Two bytes of size, a model as small as can be, and a text."""
    folder = ROOT / "tests" / "fuzz" / "corpus" / "sentence_piece"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rules = "FB01\t66 69\n65 301\tE9\nA0\t20\n"
    options = {"normalization_rule_name": "identity"}
    kinds = {"unigram": options | {"rules": rules, "user_defined_symbols": ["<x>"]},
             "bpe": options, "bpe_bytes": options | {"byte_fallback": True}, "word": options, "char": options}
    for name, chosen in kinds.items():
        path = folder / name
        train(path, ["a cat sat on a mat", "the cat ate"], name.split("_")[0], 300 if "bytes" in name else 24, **chosen)
        model = path.read_bytes()
        path.write_bytes(len(model).to_bytes(2, "little") + model + "The ﬁne  cat\u00a0sat <x> e\u0301☃ \ufffd".encode())


def main():
    fuzz_corpus()
    shutil.rmtree(OUT, ignore_errors=True)
    lines = make_lines()[:500] + ODD
    OUT.mkdir(parents=True)
    (OUT / "lines.json").write_text(json.dumps(lines, ensure_ascii=False, separators=(",", ":")))
    marian(lines)
    t5(lines)
    mbart(lines)
    m2m100(lines)
    with_tokenizer_json(lines)
    plain = [line for line in SENTENCES if "\n" not in line]
    made = {
        "bpe_bytes": train(OUT / "models" / "bpe_bytes.model", plain[:6], "bpe", 500, byte_fallback=True,
                           rules=RULES, character_coverage=0.98, remove_extra_whitespaces=False),
        "unigram_bytes": train(OUT / "models" / "unigram_bytes.model", plain[:8], "unigram", 480, byte_fallback=True,
                               normalization_rule_name="identity", user_defined_symbols=["European", "<sep>"]),
        "suffix": train(OUT / "models" / "suffix.model", plain[:8], "unigram", 300, treat_whitespace_as_suffix=True,
                        normalization_rule_name="identity", add_dummy_prefix=False),
        "word": train(OUT / "models" / "word.model", plain[:8], "word", 90, normalization_rule_name="identity"),
        "char": train(OUT / "models" / "char.model", plain[:8], "char", 90, normalization_rule_name="identity"),
    }
    made["en_fr_pieces"] = sentencepiece.SentencePieceProcessor(model_file=str(ROOT / "models" / "en-fr" / "source.spm"))
    for name, processor in made.items():
        answer_pieces(name, processor, lines)


if __name__ == "__main__":
    main()
