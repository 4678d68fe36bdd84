"""Time and memory of relevancy beside a plain forward pass, of fovea and of PyTorch.

    pip install -r tools/fixture-requirements.txt
    python bench/compare_relevancy.py DIR [--fovea build/release/bin/fovea-relevancy] [--tokens 4096] [--rounds 3] [--threads 2]

Writes a random GPT-2 (12 layers, 768 wide) with an LM head and that many tokens to DIR unless it is there already. Prints
medians in seconds and their ratios as JSON. PyTorch's forward pass is SDPA without maps, with the logits of the last token.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

import torch
import transformers
from safetensors.torch import load_file, save_file


def write_checkpoint(folder, tokens):
    if (folder / "inputs.safetensors").exists():
        return
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(transformers.GPT2Config(n_positions=tokens)).save_pretrained(folder)
    save_file({"input_ids": torch.randint(5, 50257, (tokens,))}, folder / "inputs.safetensors")


@torch.inference_mode()
def torch_seconds(folder, rounds):
    model = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    inputs = {name: tensor[None] for name, tensor in load_file(folder / "inputs.safetensors").items()}
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        model(**inputs, use_cache=False, logits_to_keep=1)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--fovea", default="build/release/bin/fovea-relevancy")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    folder = options.folder / f"gpt2-{options.tokens}"
    write_checkpoint(folder, options.tokens)
    command = [options.fovea, folder, folder / "inputs.safetensors", str(options.rounds)]
    out = subprocess.run(command, check=True, capture_output=True, text=True,
                         env={**os.environ, "OMP_NUM_THREADS": str(options.threads), "OMP_WAIT_POLICY": "passive"}).stdout
    rounds = [json.loads(line) for line in out.splitlines()]
    result = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
    result["torch_forward_s"] = round(torch_seconds(folder, options.rounds), 3)
    result["to_forward_cpu"] = round(result["relevancy_cpu_s"] / result["forward_cpu_s"], 2)
    result["to_forward"] = round(result["relevancy_s"] / result["forward_s"], 2)
    result["to_torch_forward"] = round(result["relevancy_s"] / result["torch_forward_s"], 2)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
