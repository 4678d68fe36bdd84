"""PyTorch's side of the comparison: one process that holds works by number and does one when it is asked.

    python torch_host.py THREADS

Says first which versions these are. Reads lines of JSON and answers each: {"prepare": id, "work": name, "words": [...]}, {"turn": id}, {"drop": id}.
"""

import gc
import json
import logging
import os
import platform
import sys

import torch
import transformers

import torch_works


def answer_of(asked, works):
    if "prepare" in asked:
        works[asked["prepare"]] = torch_works.WORKS[asked["work"]](*asked["words"])
    elif "turn" in asked:
        return works[asked["turn"]]()
    else:
        del works[asked["drop"]]
        gc.collect()
    return {}


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(int(sys.argv[1]))
    works = {}
    versions = {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__,
                "isa": torch.backends.cpu.get_cpu_capability()}
    print(json.dumps(versions), file=out, flush=True)  # ready
    for line in sys.stdin:
        try:
            with torch.inference_mode():
                answer = answer_of(json.loads(line), works)
        except Exception as error:  # the one who asked decides what to do
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
