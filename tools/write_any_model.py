"""Writes docs/any-model.md: how models of PyTorch are captured, and the families that were tried with the error of each.

    build/torch/bin/python tools/write_any_model.py [BUILD]      # BUILD: build/release, with the Python package built; ./test makes both

The families are those of python/tests_torch/families.py: tiny random models on the CPU, with padding where they take it.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/any-model.md"
HEAD = """# Any model of PyTorch

Fast attention kernels keep no matrices, so that `output_attentions=True` makes models slow, takes the square of the length in memory, and is not to be had at all in some.
`fovea.torch.capture` keeps Q, K and V while a model runs with its own fast kernel, on its own device and in its own dtype; maps are computed from those when they are read.

```python
import fovea.torch

with fovea.torch.capture(model, tokenizer) as c:     # any model of transformers, or of torch.nn
    model(**tokenizer("The cat sat on the mat.", return_tensors="pt"))

session = c.session()                                # what fovea.load(...)(text) gives too
session.sites                                        # {'self': Shape(layers=12, heads=12, rows=9, columns=9)}
session.map("self", layer=5, head=3)[2, 1]           # one weight; nothing else of the map is computed
session.ask("heads", layer="all").save("heads.png")
c.save("run.fovea.safetensors")                      # `fovea open` and `fovea explain` read it
```

`pip install 'fovea-attention[torch]'` brings torch and transformers. It is made for torch 2.11 to 2.13 and transformers 5.17 to 5.22; others get
one warning. The tests run with torch 2.13.0 and transformers 5.22.2; the families and traps passed with transformers 5.17.0 too.

## Instead of `output_attentions=True`
| there | here |
|---|---|
| `model(**x, output_attentions=True).attentions[5][0, 3]` | `c.session().map("self", 5, 3).numpy()` |
| `.encoder_attentions`, `.decoder_attentions`, `.cross_attentions` | `map("encoder_self", …)`, `map("decoder_self", …)`, `map("cross", …)` |
| `.vision_model_output.attentions`, `.text_model_output.attentions` | `map("vision.self", …)`, `map("text.self", …)` |
| `attentions[5][1]`, the second of a batch, with its padding | `c.session(1)`, without its padding |
| `generate(..., output_attentions=True, return_dict_in_generate=True)`, a list of steps | `generate(...)` within the block: one causal map of all steps |
| `attn_implementation="eager"` | whatever the model was loaded with |

## What it takes
- **Models**: decoders, encoders, both together, vision, detection, two towers, sound. Masks and padding of either side, sliding windows, soft caps, sinks, ALiBi and
  relative biases, shared key heads, cross-attention, windows and chunks of pictures (one map whose other cells are 0), layers that are called several times.
  A module that attends and fits no canonical name is named by its path; `sites=["cross"]` keeps only what is named.
- **Where it is kept**: `offload="gpu"` (on the model's device), `"host"` (pinned memory, copied beside the model's work) or `"disk"` (files without names). Maps of
  records on a GPU are computed there in plain PyTorch (`session.device_map(...)`: parts, `pool`, `row`, `column`, `top`, `column_sums`, `entropy`); questions
  are asked of the engine, which takes the run to the CPU when the first one comes.
- **Several calls** of the model within the block are several runs: `c.session(run=0)` is the first. A generation is one run.
- **Afterwards**, also after an exception, the model is what it was: configurations, hooks, PyTorch's settings.

## Never silently wrong
At the first call of each module some rows of the first and the last sample are computed again: they must give the output of the kernel, and what the module's own plain function (`eager`) gives. A kernel's
NaN or wrong log-sum-exp, a mask that was not understood, an attention that was called and not captured, beam search, which reorders what was kept, and a compiled model
are errors (`CaptureError`) that say which. `verify=False` leaves out the look at the first call. The log-sum-exp of GPU kernels in bf16 and f16 is right to 1.2e-5, so that maps of
such records are to 2e-5; on the CPU, and where a kernel keeps none, it is computed from Q and K in f32.

Models that make their own matrix of weights (BLOOM, GPT-J, DeBERTa and others below) have no Q and K to keep: the weights that their softmax gives are kept, and
questions that need more say so.

Not captured: `torch.compile`, paged caches, caches of fixed size with a sliding window, attention that is not over the last of four axes (Longformer, LongT5's local
attention), DeepSpeed's and other kernels that PyTorch does not see.

## Families that were tried
Tiny random models on the CPU, two samples of a batch, the second with padding where the model takes it: the largest difference of any weight of any head from the model's own with
`eager` and `output_attentions=True`. In bf16 the two runs round differently on their way to the scores. torch {torch}, transformers {transformers}. `tools/write_any_model.py` writes this page.

| family | what it is | kept | maps | f32 | bf16 |
|---|---|---|---|---|---|
"""


def rows():
    import families
    import torch

    for family in families.FAMILIES:
        errors = [families.difference(family, dtype) for dtype in (torch.float32, torch.bfloat16)]
        name = families.transformers.CONFIG_MAPPING[family.type].__name__.removesuffix("Config")
        yield f"| {name} (`{family.type}`) | {family.kind} | {families.what_is_kept(family)} | {errors[0][1]} | {errors[0][0]:.0e} | {errors[1][0]:.0e} |"
        print(family.type, *errors, file=sys.stderr)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
    sys.path[:0] = [str(build / "python"), str(ROOT / "python/tests_torch")]
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    versions = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}
    head = HEAD.replace("{torch}", versions["torch"]).replace("{transformers}", versions["transformers"])
    PAGE.write_text(head + "\n".join(rows()) + "\n")


if __name__ == "__main__":
    main()
