"""Speed of `fovea stats` and of PyTorch with output_attentions=True for the same numbers of every head.

    pip install -r tools/fixture-requirements.txt
    python bench/compare_stats.py MODEL [--corpus FILE] [--fovea build/release/bin/fovea] [--threads 2] [--repeat 5]

MODEL is a folder of a BERT, all-minilm-l6-v2 say. Without --corpus 1,000 sentences of 5 to 40 of its words are made. PyTorch
runs the sentences one by one, and in batches of 32 sorted by length with padding left out of every number; its time begins
with tokenizing, when everything is imported and loaded. That of fovea is the whole program, from start to end. All run in
turns, after one round to warm up, and must agree on every number. Prints medians in seconds, their spread and ratios as JSON.
"""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import torch
import transformers

FARTHEST = 16  # offsets beyond are not counted, as in fovea
SHARES = ("distance", "previous", "duplicate", "induction", "delimiter", "sink")
TOLERANCE = 1e-4


def make_corpus(tokenizer, path: pathlib.Path, sentences: int) -> None:
    """Words by Zipf's law, lengths spread like those of sentences, commas and a full stop."""
    chosen = random.Random(1)
    words = sorted(word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha() and 2 <= len(word) <= 12)
    chosen.shuffle(words)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    lines = []
    for _ in range(sentences):
        length = min(max(round(chosen.lognormvariate(math.log(18), 0.45)), 5), 40)
        line = chosen.choices(words, weights, k=length)
        line = [word + "," if chosen.random() < 0.06 and i + 1 < length else word for i, word in enumerate(line)]
        lines.append(" ".join(line).capitalize() + ".")
    path.write_text("\n".join(lines) + "\n")


class Torch:
    """The numbers of `fovea stats` by PyTorch: sums over all rows, one matrix product for all that is linear in the weights."""

    def __init__(self, folder, lines):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        self.lines = lines
        vocabulary = self.tokenizer.get_vocab()
        self.special = torch.zeros(len(vocabulary), dtype=torch.bool)
        self.special[self.tokenizer.all_special_ids] = True
        self.delimiter = self.special.clone()
        for word, i in vocabulary.items():
            self.delimiter[i] |= not any(letter.isalnum() or letter.isspace() for letter in word.removeprefix("##"))

    @torch.inference_mode()
    def numbers(self, batch: int) -> dict:
        """Of all heads [layers, heads], by name."""
        encoded = self.tokenizer(self.lines)["input_ids"]
        if batch > 1:
            encoded.sort(key=len)
        sums = {}
        for begin in range(0, len(encoded), batch):
            self.add(encoded[begin:begin + batch], sums)
        return self.means(sums)

    def add(self, texts: list, sums: dict) -> None:
        lengths = torch.tensor([len(text) for text in texts])
        n = int(lengths.max())
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(text) for text in texts], batch_first=True)
        valid = torch.arange(n) < lengths[:, None]
        maps = self.model(input_ids=ids, attention_mask=valid.long(), output_attentions=True).attentions
        i, j = torch.arange(n)[:, None], torch.arange(n)
        special, delimiter = self.special[ids], self.delimiter[ids]
        same = (ids[:, :, None] == ids[:, None, :]) & (j < i)
        after = torch.zeros_like(same)
        after[:, :, 1:] = same[:, :, :-1]
        shape = same.shape
        patterns = torch.stack([(i - j).abs().expand(shape), (j == i - 1).expand(shape), same, after,
                                delimiter[:, None, :].expand(shape), ((j == 0) & (i > 0)).expand(shape),
                                torch.ones(shape)], dim=-1).float() * valid[:, :, None, None]
        patterns = patterns.flatten(1, 2)
        plain_row, plain_column = (valid & ~special)[:, None], (valid & ~special)[:, None, None].float()
        share = (1 / lengths.log())[:, None, None]
        counts = {"rows": valid.sum(), "later": (lengths - 1).sum(), "plain": plain_row.sum()}
        for layer, a in enumerate(maps):
            heads = a.shape[1]
            entropy = torch.special.entr(a).sum(-1) * valid[:, None]
            largest = a.argmax(-1) - torch.arange(n)
            near = valid[:, None] & (largest.abs() <= FARTHEST)
            bins = (largest + FARTHEST + (2 * FARTHEST + 1) * torch.arange(heads)[:, None])[near]
            one = {
                "linear": torch.bmm(a.flatten(2), patterns).double().sum(0),
                "entropy": entropy.double().sum((0, 2)),
                "evenness": (entropy * share).double().sum((0, 2)),
                "confidence": ((a * plain_column).amax(-1) * plain_row).double().sum((0, 2)),
                "offsets": torch.bincount(bins, minlength=heads * (2 * FARTHEST + 1)).view(heads, -1),
            }
            for name, value in {**one, **counts}.items():
                sums[layer, name] = sums.get((layer, name), 0) + value

    def means(self, sums: dict) -> dict:
        layers = range(self.model.config.num_hidden_layers)
        of = lambda name: torch.stack([sums[layer, name] for layer in layers])
        rows = of("rows")[:, None]
        linear = of("linear")
        offsets = of("offsets")
        means = {name: linear[..., k] / linear[..., -1] for k, name in enumerate(SHARES)}
        means["distance"] = linear[..., 0] / rows
        means["sink"] = linear[..., 5] / of("later")[:, None]
        means["entropy"] = of("entropy") / rows
        means["evenness"] = of("evenness") / rows
        means["confidence"] = of("confidence") / of("plain")[:, None]
        means["positional"] = offsets.amax(-1) / rows
        means["offset"] = offsets.argmax(-1) - FARTHEST
        return means


def difference(means: dict, answer: dict) -> dict:
    """The largest one of each number."""
    worst = {}
    for head in answer["heads"]:
        for name, value in means.items():
            off = abs(float(value[head["layer"], head["head"]]) - head[name])
            worst[name] = max(worst.get(name, 0), off)
    return worst


def measure(options, corpus: pathlib.Path, reference: Torch) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    command = [options.fovea, "stats", corpus, "-m", options.model, "--json"]
    answers = {}

    def fovea():
        answers["fovea"] = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)

    def torch_batch(batch):
        answers[f"torch_{batch}"] = reference.numbers(batch)

    ways = {"fovea": fovea, "torch_1": lambda: torch_batch(1), "torch_32": lambda: torch_batch(32)}
    times = {way: [] for way in ways}
    for _ in range(options.repeat + 1):
        for way, run in ways.items():
            start = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - start)
    result = {"inputs": answers["fovea"]["inputs"]}
    for way, values in times.items():
        result[f"{way}_s"] = round(statistics.median(values[1:]), 2)
        result[f"{way}_spread"] = [round(min(values[1:]), 2), round(max(values[1:]), 2)]
    for way in ("torch_1", "torch_32"):
        ratios = [slow / fast for slow, fast in zip(times[way][1:], times["fovea"][1:])]
        result[f"{way}_over_fovea"] = round(statistics.median(ratios), 2)
        result[f"{way}_over_fovea_spread"] = [round(min(ratios), 2), round(max(ratios), 2)]
        worst = difference(answers[way], answers["fovea"])
        result[f"{way}_largest_difference"] = {name: float(f"{value:.1e}") for name, value in worst.items()}
        if wrong := {name: value for name, value in worst.items() if not value <= TOLERANCE}:
            raise SystemExit(f"{way} and fovea differ by more than {TOLERANCE}: {wrong}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path, help="one sentence per line (default: 1,000 are made)")
    parser.add_argument("--fovea", metavar="PROGRAM", default="build/release/bin/fovea")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()

    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as place:
        corpus = options.corpus or pathlib.Path(place) / "corpus.txt"
        if not options.corpus:
            make_corpus(transformers.AutoTokenizer.from_pretrained(options.model), corpus, 1000)
        lines = [line for line in corpus.read_text().splitlines() if line.strip()]
        result = measure(options, corpus, Torch(options.model, lines))
    print(json.dumps({"torch": torch.__version__, "transformers": transformers.__version__,
                      "threads": options.threads, "repeat": options.repeat, **result}, indent=2))


if __name__ == "__main__":
    main()
