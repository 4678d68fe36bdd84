"""Speed of PyTorch, plain (SDPA, no maps) and eager with every map, and of fovea with every map readable.

    pip install -r tools/fixture-requirements.txt
    python bench/compare_text.py DIR [--fovea build/release/bin/fovea-forward] [--threads 2] [--repeat 5] [NAME...]

Writes each random checkpoint to DIR/NAME with its inputs.safetensors, unless it is there already, so that all run the
same work; prints medians in milliseconds, their spread, the ratios and the memory that fovea needed at most as JSON.
All run in turns, after one round to warm up.
"""

import argparse
import json
import logging
import os
import pathlib
import re
import statistics
import subprocess
import time

import torch
import transformers
from safetensors.torch import load_file, save_file

# name: (class, config, input). GPT-2 without its LM head, and with a longer position table. ViT-S/8 as DINO trained it,
# on a picture of 480 x 480, whose positions are resized: 3,601 tokens. DETR with a ResNet-50: 850 cells, 100 queries.
SHAPES = {
    "bert-base-512": (transformers.BertModel, dict(), dict(tokens=512)),
    "gpt2-2048": (transformers.GPT2Model, dict(n_positions=2048), dict(tokens=2048)),
    "vit-s8-480": (transformers.ViTModel, dict(hidden_size=384, num_attention_heads=6, intermediate_size=1536, patch_size=8),
                   dict(pixels=(480, 480))),
    "detr-r50": (transformers.DetrForObjectDetection,
                 dict(use_timm_backbone=False, backbone_config=dict(model_type="resnet", out_features=["stage4"])),
                 dict(pixels=(800, 1066))),
}
EXTRA = {"gpt2": {"use_cache": False}, "vit": {"interpolate_pos_encoding": True}}


def write_checkpoint(folder: pathlib.Path, cls: type, config: dict, shape: dict) -> None:
    if (folder / "inputs.safetensors").exists():
        return
    torch.manual_seed(0)
    model = cls(cls.config_class(**config))
    model.save_pretrained(folder)
    if "tokens" in shape:
        inputs = {"input_ids": torch.randint(5, model.config.vocab_size, (shape["tokens"],))}
    else:
        inputs = {"pixel_values": torch.randn(3, *shape["pixels"])}
    save_file(inputs, folder / "inputs.safetensors")


@torch.inference_mode()
def milliseconds(model, inputs: dict, maps: bool) -> float:
    start = time.perf_counter()
    model(**inputs, output_attentions=maps, **EXTRA.get(model.config.model_type, {}))
    return (time.perf_counter() - start) * 1e3


class Fovea:
    """A fovea-forward that runs once for each line it is sent."""

    def __init__(self, program, folder, threads):
        self.process = subprocess.Popen(
            [program, folder, folder / "inputs.safetensors"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)})

    def milliseconds(self):
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline().split()[0])

    def close(self):
        """Gives the most memory that it ever had, in MB."""
        # Not from getrusage(), which begins with what this process had when it forked.
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        self.process.stdin.close()
        self.process.wait()
        return round(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / 1e6)


def measure(folder: pathlib.Path, cls: type, options) -> dict:
    inputs = {name: tensor[None] for name, tensor in load_file(folder / "inputs.safetensors").items()}
    # Plain is SDPA, which is chosen without being asked for; asked for, a trunk of convolutions refuses it.
    models = {way: cls.from_pretrained(folder, attn_implementation=kernel).eval()
              for way, kernel in (("plain", None), ("maps", "eager"))}
    assert models["plain"].config._attn_implementation == "sdpa"
    ways = {way: lambda way=way, model=model: milliseconds(model, inputs, way == "maps") for way, model in models.items()}
    fovea = Fovea(options.fovea, folder, options.threads) if options.fovea else None
    if fovea:
        ways["fovea"] = fovea.milliseconds
    times = {way: [] for way in ways}
    for _ in range(options.repeat + 1):
        for way, run in ways.items():
            times[way].append(run())
    result = {"input": {name: list(tensor.shape[1:]) for name, tensor in inputs.items()}, "checkpoint": str(folder)}
    if fovea:
        result["fovea_peak_mb"] = fovea.close()
    for way, values in times.items():
        result[f"{way}_ms"] = round(statistics.median(values[1:]), 1)
        result[f"{way}_spread"] = [round(min(values[1:]), 1), round(max(values[1:]), 1)]
    if fovea:
        for way in models:
            result[f"fovea_over_{way}"] = round(result["fovea_ms"] / result[f"{way}_ms"], 3)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="where the checkpoints lie or go (1 GB)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SHAPES)}; all when left out")
    parser.add_argument("--fovea", metavar="PROGRAM", help="fovea-forward of a build with FOVEA_BENCH=ON")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    if unknown := set(options.names) - SHAPES.keys():
        parser.error(f"no shape is called {', '.join(sorted(unknown))}; there are {', '.join(SHAPES)}")

    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(options.threads)
    results = {}
    for name in options.names or SHAPES:
        cls, config, shape = SHAPES[name]
        write_checkpoint(options.directory / name, cls, config, shape)
        results[name] = measure(options.directory / name, cls, options)
    print(json.dumps({"torch": torch.__version__, "transformers": transformers.__version__,
                      "threads": options.threads, "repeat": options.repeat, "results": results}, indent=2))


if __name__ == "__main__":
    main()
