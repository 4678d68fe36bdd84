"""Writes docs/supported-models.md: the architectures, and how far each is from transformers.

    python3 tools/write_supported_models.py [BUILD]        # BUILD: build/release, with its tests built

The errors are those that tests/parity measures on the fixtures of tests/data/parity.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/supported-models.md"
HEAD = """# Supported models

What `fovea` opens: Hugging Face folders (safetensors, single or sharded, or PyTorch `.bin`) in f32, f16 or bf16, and Whisper as
OpenAI stores it (`.pt`). Weights other than f32 stay in memory as the file has them
([why](adr/0020-weights-stay-as-stored.md)).
`./run models` lists the same for the program at hand.

GGUF files, whole or split (`-00001-of-00003.gguf`), of llama (also Mistral and Mixtral), qwen2, qwen3, qwen3moe, gemma2, gemma3, phi2, phi3, granite,
starcoder2, command-r, olmo2, gpt-oss, falcon, bloom, mpt, gpt2, bert and nomic-bert models:

| of GGUF files | read | refused by name |
|---|---|---|
| types | F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, MXFP4: all that a `Q4_K_M` or another published mix of them has | IQ1, IQ2, IQ3, TQ1, TQ2, NVFP4 |
| vocabularies | `gpt2` with the pre-tokenizers of these families, `llama`, `bert`; or the `tokenizer.json` beside the file | others, and pre-tokenizers that are not known |
| models | those above; experts in one tensor for all, as llama.cpp has written them since April 2024 | other architectures |

Block types are the numbers of the `gguf` package to the bit, token ids of 36 texts those of llama.cpp for Gemma 3 270m (Q4_K_M) and
SmolLM2 and for every pre-tokenizer on the words of SmolLM2, and maps of both models within 1e-5 of transformers on the same numbers. Korean and
Hindi texts of a BERT are cut as transformers cuts them: llama.cpp keeps only the first part of a letter that Unicode takes apart.

The errors are measured by `tests/parity` against transformers 5.22 (eager attention, f32) on tiny random checkpoints whose maps
are far from flat: the largest difference of any weight of any map, and of any output relative to the largest. The contract is
1e-5 and 1e-4. `tools/write_supported_models.py` writes this page.

| architecture | model_type | covers | heads on top | fixtures | maps | outputs |
|---|---|---|---|---|---|---|
"""
TAIL = """
The column "heads on top" names those that a fixture covers; each architecture takes all that its classes have. By the class that `config.json` names under `architectures`: masked LM, causal LM, words of a target,
sequence classification, token classification, classes of pictures, embeddings and similarity of two towers, objects and their masks. Other classes (question answering, multiple choice) give the maps and hidden states of the stack below them.

Not there: relative positions of old BERT forks (`relative_key`), cross-attention in BERT decoders, DeBERTa with talking heads, MPT without ALiBi or with norms of
queries and keys, ESM that folds. Falcon's ALiBi counts twice, as in the eager attention of transformers; its other attentions add it once. Of pictures: SigLIP 2 with patches of any number (NaFlex),
DINOv3's ConvNeXts, masked-picture heads. Of detectors: trunks other than plain ResNets, and Deformable DETR, RT-DETR, D-FINE,
Grounding DINO and the like, whose attention reads a few sampled points and has no dense map (refused by name).

Models of pictures take `pixel_values` of any size above one patch where their positions can be resized or computed, as
transformers does with `interpolate_pos_encoding`: square tables and DINOv3. A CLIP or SigLIP model takes a picture, a text or both.

DETR takes pictures of any size, with or without `pixel_mask`. Its trunk may have transformers' own names or timm's, the rest the
names of transformers 5.22 or those before; `dilation` (DC5) is for timm's, as in transformers. Fixtures under
timm's names hold a trunk of transformers' own, renamed, with DC5's strides and dilations set by hand; timm itself was not compared with.
"""
CLASSES = {
    "ForMaskedLM": "masked LM", "ForPreTraining": "pre-training", "ForCausalLM": "causal LM", "LMHeadModel": "causal LM",
    "ForConditionalGeneration": "causal LM", "MTModel": "causal LM", "ForSequenceClassification": "sequence",
    "ForTokenClassification": "token", "ForImageClassification": "picture classes",
    "ForImageClassificationWithTeacher": "picture classes", "WithProjection": "embedding", "CLIPModel": "similarity",
    "SiglipModel": "similarity", "ForObjectDetection": "objects", "ForSegmentation": "masks",
}


def measured(build):
    """Fixture name -> (maps, outputs)."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([build / "bin/test_parity", f"--gtest_output=json:{report}"], check=True, capture_output=True)
        suites = json.loads(report.read_text())["testsuites"]
    return {t["name"].split("/")[-1]: (float(t["maps"]), float(t["outputs"])) for s in suites for t in s["testsuite"]}


def main():
    build = ROOT / (sys.argv[1] if len(sys.argv) > 1 else "build/release")
    errors = measured(build)
    known = json.loads(subprocess.run([build / "bin/fovea", "models", "--json"], check=True, capture_output=True).stdout)
    by_type = collections.defaultdict(list)
    heads = collections.defaultdict(set)
    for name in errors:
        file = ROOT / "tests/data/parity" / name / "config.json"
        if not file.exists():  # OpenAI's form of Whisper
            by_type["whisper"].append(name)
            continue
        config = json.loads(file.read_text())
        by_type[config["model_type"]].append(name)
        for ending, words in CLASSES.items():
            if config["architectures"][0].endswith(ending):
                two_stacks = words == "causal LM" and config.get("is_encoder_decoder")
                heads[config["model_type"]].add("target words" if two_stacks else words)
    lines = []
    for architecture in known["architectures"]:
        types = architecture["model_types"]
        names = [name for kind in types for name in by_type[kind]]
        tops = sorted({top for kind in types for top in heads[kind]})
        lines.append(
            f"| {architecture['name']} | {', '.join(f'`{t}`' for t in types)} | {architecture['covers']} | {', '.join(tops)} "
            f"| {len(names)} | {max(errors[n][0] for n in names):.1e} | {max(errors[n][1] for n in names):.1e} |\n"
        )
    PAGE.write_text(HEAD + "".join(lines) + TAIL)


if __name__ == "__main__":
    main()
