"""What capturing from PyTorch costs: needs torch, transformers and this file of the checkout, not the built package.

    python3 bench/hook.py                        # on a GPU: the shape of Llama 1B in bf16 at 4k to 128k tokens
    python3 bench/hook.py --tokens 512 1024      # other lengths; without a GPU a smaller model in f32
    python3 bench/hook.py --json results.json

Each line is the median of several rounds in which the plain model and the captured one take turns; random weights and inputs, no head of a
language model. `window` is the same shape with a sliding window of 4,096 tokens, whose plain run makes a mask of all pairs.
"""

import argparse
import importlib.util
import json
import pathlib
import statistics
import sys
import time

import torch
import transformers

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "python/src/fovea/torch"
GPU = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64}
CPU = {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64}
AIMS = {4096: 1.03, 16384: 1.02, 65536: 1.01, 131072: 1.01}


def hook():
    """The folder by itself, so that no native module is needed."""
    spec = importlib.util.spec_from_file_location("fovea_hook", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["fovea_hook"] = module
    spec.loader.exec_module(module)
    return module


def model_of(device, tokens, window):
    sizes = {**(GPU if device == "cuda" else CPU), "vocab_size": 32000, "max_position_embeddings": tokens}
    kind = transformers.MistralConfig if window else transformers.LlamaConfig
    configuration = kind(**sizes, **({"sliding_window": window} if window else {}))
    with torch.device(device):
        model = transformers.AutoModel.from_config(configuration, attn_implementation="sdpa", dtype=torch.bfloat16 if device == "cuda" else torch.float32)
    return model.eval()


def seconds(work, device):
    if device == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def compare(capture, device, tokens, window, offload, rounds):
    model = model_of(device, tokens, window)
    ids = torch.randint(0, 32000, (1, tokens), device=device)
    plain, captured = [], []
    kept = 0
    with torch.no_grad():
        for number in range(rounds + 2):  # two to warm up
            plain.append(seconds(lambda: model(ids, use_cache=False), device))
            with capture(model, offload=offload) as c:
                model(ids[:, :256], use_cache=False)  # each module's first call is looked at
                captured.append(seconds(lambda: model(ids, use_cache=False), device))
            run = c.runs[-1]
            kept = sum(getattr(call, part).nbytes for layers in run.layers.values() for layer in layers for call in layer.calls for part in "qkv")
            del c, run
    plain, captured = (statistics.median(times[2:]) for times in (plain, captured))
    return {"tokens": tokens, "window": window, "offload": offload, "plain_ms": 1e3 * plain, "captured_ms": 1e3 * captured, "ratio": captured / plain,
            "kept_gib": kept / 2**30}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--tokens", type=int, nargs="+", default=sorted(AIMS) if device == "cuda" else [512, 2048])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    capture = hook().capture
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, transformers {transformers.__version__}")
    found = []
    for tokens in given.tokens:
        for window, offload in ((None, "gpu"), (None, "host"), (4096 if device == "cuda" else 128, "gpu")):
            if window and tokens > 65536:
                continue  # the plain run's mask of all pairs has no room
            one = compare(capture, device, tokens, window, offload, given.rounds)
            found.append(one)
            aim = 1.0 if window else 1.03 if offload == "host" else AIMS.get(tokens)
            print(f"{tokens:7} tokens, {f'window {window}' if window else 'all':12} {offload:5} plain {one['plain_ms']:9.1f} ms  captured {one['captured_ms']:9.1f} ms  "
                  f"{one['ratio']:.3f}" + (f" (aim {aim})" if aim and device == "cuda" else "") + f"  kept {one['kept_gib']:.2f} GiB", flush=True)
    if given.json:
        given.json.write_text(json.dumps({"machine": name, "torch": torch.__version__, "transformers": transformers.__version__, "runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
