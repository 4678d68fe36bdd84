"""Makes tests/data/text: small tokenizers of every kind and what the `tokenizers` library answers.

    pip install tokenizers==0.22.2 sentencepiece
    python3 tools/make_tokenizer_fixture.py [--tables]

Each line of answers/<name>.txt is for one text of lines.json: the number of tokens, a hash of their ids
and byte offsets, and a hash of the decoded text. --tables writes fovea/text/unicode_tables.cc instead.
"""

import argparse
import io
import json
import pathlib
import random

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "data" / "text"
LINES = 2200
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

SENTENCES = [
    "The agreement on the European Economic Area was signed in August 1992.",
    "The FBI is chasing a criminal on the run, isn't it? We'll see; they've gone.",
    "Don't panic! It's 12,345.67 dollars (approximately) -- or €99.99 & ½ of £3.",
    "Die Straße führt über die Brücke nach Köln; Äpfel, Öl und Übermut.",
    "L’été dernier, nous avons mangé des crêpes à l'œuf près de la forêt.",
    "El niño comió piñas en el jardín mañana por la mañana. ¿Verdad?",
    "İstanbul'da ığdır ve Şişli; IŞIK ılık.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Ёлка",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΣΊΣΥΦΟΣ ὀξύς ᾳ",
    "هذا نص عربي للاختبار، مع أرقام ١٢٣ و علامات تَشْكِيل.",
    "זהו משפט בעברית עִם נִקּוּד ו־מקף.",
    "这是一个测试句子，用于检查分词器。𠀀𪛖〇",
    "これはテストです。カタカナとひらがな、漢字ガギグ ｶﾞｷﾞ",
    "한국어 문장을 토큰으로 나눕니다. 각각 힣",
    "हिन्दी में यह एक वाक्य है। क़ ज़ फ़",
    "ภาษาไทยไม่มีช่องว่าง กำ",
    "বাংলা ভাষা কো ৌ", "தமிழ் மொழி ௌ", "ქართული ენა ᲥᲐ", "Հայերեն և",
    "👩‍👩‍👧‍👦 family 👍🏽 ok 🇫🇷🇩🇪 flags ❤️ 🧑🏿‍🚀 1️⃣ ☺ 🫠",
    "def f(x):\n    return {'a': [i**2 for i in range(10)], \"b\": x != None}\n\n\tpass",
    "#include <vector>\r\nint main() { return a->b && c << 2; } // done",
    "SELECT * FROM t WHERE x_1 >= 3.14e-10; -- $VAR=\"${HOME}\"",
    "e\u0301 a\u0308\u0323 o\u031b\u0300 \u1e9b\u0323 ﬁ ﬂ ² ³ Å Ω ｆｕｌｌ １２３ ㍿ ⅷ ™ …",
    "\u0344\u0f73\u0f74 \u0345x \u03b1\u0345\u0301 \u1fed \ufb1d \u2adc \u212b \ud7a3 \u1112\u1161\u11ab",
    "tab\there\x0bvt\x0cff\x1bESC\x00nul\x7fdel\x85nel\u200bzw\u200dj\ufeffbom\u00adshy",
    "nb\u00a0sp\u2003em\u3000ideo\u2028ls\u2029ps\u202fnn\u180emv",
    "<s>not</s> [MASK] [CLS] a[SEP]b <mask> <mask>x ADD add Add <|end|> <|end|>z",
    "\ue000private \U0010ffff \u0378unassigned \U0001f9ff \U00011f02new \ufffd",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "x" * 70 + "y" * 70, "▁under▁score ##hash Ġg </w>", "   lead and trail   ", "\n\n\n", " ", "",
    "http://example.com/a?b=c&d=%20#e user@example.org _under_score_ 3rd 10th 1st",
    "²³¹ ①②③ ⅠⅡ 五 ٣٤٥ ०१२ 𝟘𝟙 ௧", "“quotes” ‘single’ «guillemets» „low“ 「角」 ؟ ؛ ¿¡ ‽ ·•",
]


def make_lines():
    """Sentences, then mixtures of their parts, single characters and white space."""
    chance = random.Random(7)
    lines = list(SENTENCES)
    words = [word for line in SENTENCES for word in line.split(" ")]
    spaces = [" ", " ", " ", " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "", "", ", ", "'", "-"]
    blocks = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x600, 0x700), (0x900, 0xE00),
              (0x1E00, 0x2100), (0x2100, 0x2C00), (0x3000, 0x3400), (0x4E00, 0x4F00), (0xAC00, 0xAD00),
              (0xF900, 0xFB50), (0xFE00, 0x10000), (0x1F300, 0x1FA00), (0x1D400, 0x1D800), (0, 0x20),
              (0x10000, 0x12000), (0x200B, 0x2070)]
    while len(lines) < LINES:
        parts = []
        for _ in range(chance.randint(1, 9)):
            if chance.random() < 0.25:
                low, high = chance.choice(blocks)
                parts += [chr(chance.randrange(low, high)) for _ in range(chance.randint(1, 4))]
            else:
                parts.append(chance.choice(words))
            parts.append(chance.choice(spaces))
        lines.append("".join(parts))
    return lines


def train(model, trainer_type, lines, vocab=700, **options):
    model.train_from_iterator(lines * 2, trainer_type(vocab_size=vocab, show_progress=False, **options))
    return model


def bert(lines, lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    train(tokenizer, trainers.WordPieceTrainer, lines, 1100, special_tokens=SPECIAL)
    tokenizer.add_tokens(["ADD", AddedToken("<|end|>", single_word=True)])
    ids = {name: tokenizer.token_to_id(name) for name in SPECIAL}
    if lowercase:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    else:
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def gpt2(lines, roberta):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=roberta)
    special = ROBERTA if roberta else ["<|end|>"]
    train(tokenizer, trainers.BpeTrainer, lines, 800, special_tokens=special,
          initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    if roberta:
        tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
        tokenizer.post_processor = processors.RobertaProcessing(
            ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    else:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def llama3(lines):
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    train(tokenizer, trainers.BpeTrainer, lines, 800, special_tokens=["<s>"],
          initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 0)])])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def llama2(lines, metaspace):
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if metaspace:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    else:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        tokenizer.decoder = decoders.Sequence([
            decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    plain = [line for line in lines if line.isascii()]
    trainer = pre_tokenizers.Metaspace()
    saved, tokenizer.pre_tokenizer = tokenizer.pre_tokenizer, trainer
    train(tokenizer, trainers.BpeTrainer, plain, 800, special_tokens=["<unk>", "<s>", "</s>"] + byte_tokens)
    data = json.loads(tokenizer.to_str())
    data["pre_tokenizer"] = None
    data["added_tokens"] = [token for token in data["added_tokens"] if not token["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    if saved is not None:
        tokenizer.pre_tokenizer = saved
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return tokenizer


def unigram(lines, byte_fallback):
    """A SentencePiece model and its character map."""
    buffer = io.BytesIO()
    plain = [line for line in SENTENCES for _ in range(9) if "\n" not in line and "\x00" not in line]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(plain), model_writer=buffer, vocab_size=1500, model_type="unigram",
        character_coverage=0.98, normalization_rule_name="nmt_nfkc", hard_vocab_limit=False,
        byte_fallback=byte_fallback, minloglevel=2)
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto.FromString(buffer.getvalue())
    vocab = [(piece.piece, piece.score) for piece in proto.pieces]
    tokenizer = Tokenizer(models.Unigram(vocab, proto.trainer_spec.unk_id, byte_fallback))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = spaces if byte_fallback else normalizers.Sequence([
        normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(["<s>", "</s>", "<unk>"])
    return tokenizer


def word_level(lines):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Punctuation("merged_with_previous")])
    return train(tokenizer, trainers.WordLevelTrainer, lines, 600, special_tokens=["[UNK]"])


def suffix_bpe(lines):
    """GPT-1's kind: an end of word suffix, and pre-tokenizers that the others do not use."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.CharDelimiterSplit("_"),
        pre_tokenizers.Split("-", "merged_with_next"),
        pre_tokenizers.Split(Regex(r"\d+|\p{Lu}+"), "contiguous", invert=True)])
    train(tokenizer, trainers.BpeTrainer, lines[:600], 700, special_tokens=["<unk>"], end_of_word_suffix="</w>")
    tokenizer.decoder = decoders.BPEDecoder()
    return tokenizer


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value % 2**32:08x}"


def byte_offsets(line, offsets):
    starts = [0]
    for character in line:
        starts.append(starts[-1] + len(character.encode()))
    return [(starts[min(a, len(line))], starts[min(b, len(line))]) for a, b in offsets]


def answer(tokenizer, line, pair=None):
    """One line of an answers file."""
    encoding = tokenizer.encode(line, pair)
    spans = []
    for (a, b), sequence in zip(encoding.offsets, encoding.sequence_ids):
        spans += byte_offsets(pair if sequence == 1 else line, [(a, b)])
    text = "".join(f"{i},{a},{b};" for i, (a, b) in zip(encoding.ids, spans))
    return f"{len(encoding.ids)} {fnv(text)} {fnv(tokenizer.decode(encoding.ids))}"


def write_fixtures():
    (OUT / "answers").mkdir(parents=True, exist_ok=True)
    lines = make_lines()
    (OUT / "lines.json").write_text(json.dumps(lines, ensure_ascii=False, separators=(",", ":")))
    made = {
        "bert_uncased": bert(lines, True), "bert_cased": bert(lines, False), "gpt2": gpt2(lines, False),
        "roberta": gpt2(lines, True), "llama3": llama3(lines), "llama2": llama2(lines, False),
        "metaspace": llama2(lines, True), "unigram": unigram(lines, False),
        "unigram_bytes": unigram(lines, True), "word_level": word_level(lines), "suffix_bpe": suffix_bpe(lines),
    }
    for name, tokenizer in made.items():
        (OUT / f"{name}.json").write_text(tokenizer.to_str(pretty=False))
        answers = [answer(tokenizer, line) for line in lines]
        answers += [answer(tokenizer, lines[i], lines[i + 1]) for i in range(0, 200, 2)]
        (OUT / "answers" / f"{name}.txt").write_text("\n".join(answers) + "\n")


def ranges_of(codes):
    ranges = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ranges


def probe_classes():
    """What the library takes each character for."""
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    clean = normalizers.BertNormalizer(True, False, False, False)
    marks = normalizers.BertNormalizer(False, False, True, False)
    accents, digits = normalizers.StripAccents(), pre_tokenizers.Digits(individual_digits=True)
    words, bert_words = pre_tokenizers.Whitespace(), pre_tokenizers.BertPreTokenizer()

    def is_word(code):
        pieces = words.pre_tokenize_str("a" + chr(code))
        return len(pieces) == 1 and len(pieces[0][0]) == 2

    tests = {
        "word": is_word,
        "numeric": lambda code: len(digits.pre_tokenize_str("a" + chr(code))) == 2,
        "punctuation": lambda code: len(bert_words.pre_tokenize_str(f"a{chr(code)}a")) == 3,
        "control": lambda code: clean.normalize_str(f"a{chr(code)}a") == "aa",
        "nonspacing_mark": lambda code: marks.normalize_str(chr(code)) == "",
        "combining_mark": lambda code: accents.normalize_str(chr(code)) == "",
    }
    return {name: ranges_of(filter(test, codes)) for name, test in tests.items()}


def write_tables():
    classes = probe_classes()
    text = ("// Made by tools/make_tokenizer_fixture.py --tables from tokenizers 0.22.2; do not edit.\n"
            '// clang-format off\n#include "fovea/text/unicode_tables.h"\n\nnamespace fovea {\nnamespace {\n\n')
    names = {name: "k" + name.title().replace("_", "") for name in classes}
    for name, ranges in classes.items():
        text += f"constexpr CodeRange {names[name]}[] = {{\n"
        line = "   "
        for first, last in ranges:
            item = f" {{{first:#x}, {last:#x}}},"
            if len(line) + len(item) > 118:
                text, line = text + line + "\n", "   "
            line += item
        text += line + "\n};\n"
    text += "\n}  // namespace\n\n"
    for name in classes:
        text += f"std::span<const CodeRange> {name}_ranges() {{ return {names[name]}; }}\n"
    (ROOT / "fovea" / "text" / "unicode_tables.cc").write_text(text + "\n}  // namespace fovea\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true")
    write_tables() if parser.parse_args().tables else write_fixtures()


if __name__ == "__main__":
    main()
