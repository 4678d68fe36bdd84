"""Time and memory of the rollout of one position in long texts, beside what stored maps would take.

    pip install -r tools/fixture-requirements.txt
    python bench/long_context.py DIR [--fovea build/release/bin/fovea-rollout] [--layers 4] [--tokens 4096 8192 16384]
                                     [--fusion mean] [--discard 0]

Writes a random GPT-2 of this many layers, with positions for the longest text, to DIR unless it is there already. Prints a
row for each length; memory is what comes on top of the model's weights.
"""

import argparse
import json
import pathlib
import subprocess

import torch
import transformers

HEADS = 12


def write_checkpoint(folder, layers, positions):
    if (folder / "config.json").exists():
        return
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=layers, n_head=HEADS, n_positions=positions, vocab_size=1024,
                                     bos_token_id=0, eos_token_id=0)
    transformers.GPT2Model(config).save_pretrained(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--fovea", default="build/release/bin/fovea-rollout")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--tokens", type=int, nargs="+", default=[4096, 8192, 16384])
    parser.add_argument("--fusion", default="mean")
    parser.add_argument("--discard", default="0")
    options = parser.parse_args()
    folder = options.folder / f"gpt2-{options.layers}-{max(options.tokens)}"
    write_checkpoint(folder, options.layers, max(options.tokens))
    print("| tokens | forward | Q, K and LSE kept | rollout | most memory | maps stored |\n|---|---|---|---|---|---|")
    for tokens in options.tokens:
        command = [options.fovea, folder, str(tokens), options.fusion, options.discard]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        stored = 4 * options.layers * HEADS * tokens**2 / 1e9
        print(f"| {tokens:,} | {found['forward_s']:.1f} s | {found['kept_mb']:,} MB | {found['rollout_s']:.1f} s | "
              f"{found['rollout_peak_mb']:,} MB | {stored:.1f} GB |", flush=True)


if __name__ == "__main__":
    main()
