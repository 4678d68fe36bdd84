"""Tokens per second of greedy translation: transformers' generate, plain, and fovea with every map readable.

    pip install -r tools/fixture-requirements.txt sentencepiece
    python bench/compare_translation.py [--fovea build/release/bin/fovea-translate] [--sentences 40] [--repeat 5]

Both translate the same sentences of the alignment data with models/en-fr one by one and in turns, after one round to
warm up; both must write the same number of tokens. Prints medians, their spread and the ratio as JSON.
"""

import argparse
import json
import logging
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "models" / "en-fr"


class Transformers:
    def __init__(self, sentences, kernel):
        self.sentences = sentences
        self.tokenizer = transformers.MarianTokenizer.from_pretrained(MODEL)
        self.model = transformers.MarianMTModel.from_pretrained(MODEL, attn_implementation=kernel, dtype=torch.float32)
        self.model.eval()

    @torch.inference_mode()
    def run(self):
        start, tokens = time.perf_counter(), 0
        for sentence in self.sentences:
            inputs = self.tokenizer(sentence, return_tensors="pt")
            tokens += self.model.generate(**inputs, num_beams=1, do_sample=False).shape[1] - 1
        return time.perf_counter() - start, tokens


class Fovea:
    def __init__(self, program, sentences, threads):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".txt")
        self.file.write("".join(f"{s}\n" for s in sentences))
        self.file.flush()
        self.process = subprocess.Popen([program, MODEL, self.file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})

    def run(self):
        print(file=self.process.stdin, flush=True)
        seconds, tokens = self.process.stdout.readline().split()
        return float(seconds), int(tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fovea", metavar="PROGRAM", default=ROOT / "build/release/bin/fovea-translate")
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(options.threads)
    lines = (ROOT / "tests/data/alignment/enfr.src-tgt").read_text().splitlines()[: options.sentences]
    sentences = [line.split(" ||| ")[0] for line in lines]
    ways = {"transformers": Transformers(sentences, "sdpa"), "fovea": Fovea(options.fovea, sentences, options.threads)}
    speeds = {way: [] for way in ways}
    for _ in range(options.repeat + 1):
        counts = set()
        for way, runner in ways.items():
            seconds, tokens = runner.run()
            counts.add(tokens)
            speeds[way].append(tokens / seconds)
        if len(counts) != 1:
            raise SystemExit(f"the two wrote {counts} tokens; they must write the same")
    result = {"torch": torch.__version__, "transformers": transformers.__version__, "threads": options.threads,
              "sentences": len(sentences), "tokens": tokens}
    for way, values in speeds.items():
        result[f"{way}_tokens_per_second"] = round(statistics.median(values[1:]))
        result[f"{way}_spread"] = [round(min(values[1:])), round(max(values[1:]))]
    result["fovea_over_transformers"] = round(
        statistics.median(speeds["fovea"][1:]) / statistics.median(speeds["transformers"][1:]), 2)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
