"""Makes tests/data/real: what transformers answers for the real checkpoints of tests/python/test_real_models.py.

    pip install -r tools/fixture-requirements.txt gguf==0.19.0 accelerate rxnmapper==0.4.3 setuptools==75.8.0
    python tools/make_real_answers.py CACHE

CACHE is a folder that tools/fetch_models.py has filled with all models (--cache). Each NAME.safetensors holds the
inputs, some maps (self.L), last_hidden_state and logits where they are small enough; "metadata" tells the text.
whisper.safetensors holds some rows of each map, because the maps are 1500 wide; its input is whisper_features().
rxnmapper.json holds the package's own atom maps for the reactions of its tests.
"""

import json
import pathlib
import re
import sys

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/real"
SENTENCE = "The cat sat on the mat because it was tired."
MASK = 14  # in rxnfp's vocab.txt
REACTION = "CC(=O)O.OCC>>CC(=O)OCC"
SMILES_TOKEN = re.compile(r"\[[^\]]+]|Br?|Cl?|[NOSPFIbcnosp().=#+\\/:~@?*$-]|>>?|%[0-9]{2}|[0-9]")


def answers(model, ids, layers, **inputs):
    model.eval().set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(torch.tensor([ids]), output_attentions=True, output_hidden_states=True, **inputs)
    tensors = {"input_ids": np.array(ids, np.int64)}
    tensors |= {f"self.{layer}": outputs.attentions[layer][0].numpy() for layer in layers}
    return tensors, outputs


def save(name, tensors, **metadata):
    tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    path = OUT / f"{name}.safetensors"
    save_file(tensors, path, {key: str(value) for key, value in metadata.items()})
    print(f"{name:16} {path.stat().st_size} bytes")


def minilm(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder)
    ids = tokenizer(SENTENCE)["input_ids"]
    tensors, outputs = answers(model, ids, range(6))
    save("minilm", tensors | {"last_hidden_state": outputs.last_hidden_state[0].numpy()}, text=SENTENCE)


def smiles_ids(folder, reaction):
    vocabulary = (folder / "vocab.txt").read_text().split("\n")
    tokens = ["[CLS]", *SMILES_TOKEN.findall(reaction), "[SEP]"]
    return [vocabulary.index(token if token in vocabulary else "[UNK]") for token in tokens]


def rxnfp(folder):
    # Written by an early transformers: num_labels counts, not the two placeholders of id2label.
    classes = transformers.BertConfig.from_pretrained(folder / "bert_ft_10k_25s")
    classes.num_labels = 50
    model = transformers.BertForSequenceClassification.from_pretrained(folder / "bert_ft_10k_25s", config=classes)
    tensors, outputs = answers(model, smiles_ids(folder / "bert_ft_10k_25s", REACTION), [0, 5, 11])
    save("rxnfp_classes", tensors | {"logits": outputs.logits[0].numpy()}, text=REACTION)
    model = transformers.BertForMaskedLM.from_pretrained(folder / "bert_pretrained")
    ids = smiles_ids(folder / "bert_pretrained", REACTION)
    ids[4] = MASK
    tensors, outputs = answers(model, ids, [0, 11])
    save("rxnfp_words", tensors | {"logits": outputs.logits[0].numpy()}, text=REACTION)


def microformer(folder):
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    tensors, outputs = answers(model, [2, 17, 4021, 333, 9000, 51, 1234, 8, 777], range(8))
    save("microformer", tensors | {"last_logits": outputs.logits[0, -1].numpy()})


def smollm2(folder):
    file = next(folder.glob("*.gguf")).name
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    ids = tokenizer("The capital of France is")["input_ids"]
    tensors, outputs = answers(model, ids, [0, 14, 29])
    written = model.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False, repetition_penalty=1.0)
    tensors |= {"last_hidden_state": outputs.hidden_states[-1][0].numpy(),
                "last_logits": outputs.logits[0, -1].numpy()[:1024], "written": written[0, len(ids):].numpy()}
    save("smollm2", tensors, text=tokenizer.decode(written[0]))


OPENAI_NAMES = {  # of OpenAI's file -> of transformers, parts of names between dots
    "blocks": "layers", "attn": "self_attn", "cross_attn": "encoder_attn", "query": "q_proj", "key": "k_proj",
    "value": "v_proj", "out": "out_proj", "attn_ln": "self_attn_layer_norm", "cross_attn_ln": "encoder_attn_layer_norm",
    "mlp_ln": "final_layer_norm", "ln": "layer_norm", "ln_post": "layer_norm", "token_embedding": "embed_tokens",
    "positional_embedding": "embed_positions.weight",
}
WHISPER_TARGET = [50257, 50362, 383, 3797, 3332, 13]  # start, no times, " The cat sat."


def whisper_features():
    """Noise that changes slowly; numpy promises that RandomState gives the same for ever."""
    steps = np.random.RandomState(7).standard_normal((80, 3000))
    return (0.3 * steps + np.sin(np.arange(80)[:, None] / 7 + np.arange(3000) / 90)).astype(np.float32)


def whisper(folder):
    stored = torch.load(folder / "tiny.en.pt", weights_only=True)
    dims = stored["dims"]
    config = transformers.WhisperConfig(
        d_model=dims["n_audio_state"], num_mel_bins=dims["n_mels"], vocab_size=dims["n_vocab"],
        encoder_layers=dims["n_audio_layer"], encoder_attention_heads=dims["n_audio_head"],
        decoder_layers=dims["n_text_layer"], decoder_attention_heads=dims["n_text_head"],
        encoder_ffn_dim=4 * dims["n_audio_state"], decoder_ffn_dim=4 * dims["n_text_state"],
        max_source_positions=dims["n_audio_ctx"], max_target_positions=dims["n_text_ctx"])
    model = transformers.WhisperForConditionalGeneration._from_config(config, attn_implementation="eager").eval()
    weights = {}
    for name, tensor in stored["model_state_dict"].items():
        name = ".".join(OPENAI_NAMES.get(part, part) for part in name.split("."))
        weights["model." + name.replace("mlp.0", "fc1").replace("mlp.2", "fc2")] = tensor.float()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert missing == ["proj_out.weight"] and not unexpected, (missing, unexpected)
    model.tie_weights()
    with torch.no_grad():
        outputs = model(torch.from_numpy(whisper_features())[None], decoder_input_ids=torch.tensor([WHISPER_TARGET]),
                        output_attentions=True)
        hidden = model.model.decoder(torch.tensor([WHISPER_TARGET]),
                                     encoder_hidden_states=outputs.encoder_last_hidden_state)
    tensors = {"decoder_input_ids": np.array(WHISPER_TARGET, np.int64),
               "encoder_last_hidden_state": outputs.encoder_last_hidden_state[0, ::100].numpy(),
               "last_hidden_state": hidden.last_hidden_state[0].numpy(), "last_logits": outputs.logits[0, -1].numpy()[::50]}
    for layer in range(dims["n_audio_layer"]):
        tensors[f"encoder_self.{layer}"] = outputs.encoder_attentions[layer][0, :, ::700].numpy()[:, :, ::10]
        tensors[f"decoder_self.{layer}"] = outputs.decoder_attentions[layer][0].numpy()
        tensors[f"cross.{layer}"] = outputs.cross_attentions[layer][0].numpy()[:, :, ::10]
    save("whisper", tensors)


REACTIONS = {  # of the package's tests; False: not made canonical
    "CC(C)S.CN(C)C=O.Fc1cccnc1F.O=C([O-])[O-].[K+].[K+]>>CC(C)Sc1ncccc1F": True,
    "C1COCCO1.CC(C)(C)OC(=O)CONC(=O)NCc1cccc2ccccc12.Cl>>O=C(O)CONC(=O)NCc1cccc2ccccc12": True,
    "C=CCN=C=S.CNCc1ccc(C#N)cc1.NNC(=O)c1cn2c(n1)CCCC2>>C=CCN1C(C2=CN3CCCCC3=N2)=NN=C1N(C)CC1=CC=C(C#N)C=C1": True,
    "CC[O-]~[Na+].BrCC.[Na+]~[H-]>>CCOCC": True,
    "C(C)O.BrC(C)>>CCOCC": False,
    "CCO.BrCFC>>CCOCFC": False,
    "CCOCC.[Na+]~[Br-]>>CC[O-]~[Na+].BrCC": True,
    "COC(=O)CCBr.O=C[O-]->[K+]>>COC(=O)CCOC(=O)C": False,
    "[1*]C=C.O>>*CCO": False,
}


class SmilesTokenizer:
    """In the place of the package's, which needs transformers 4."""

    cls_token, sep_token = "[CLS]", "[SEP]"

    def __init__(self, folder):
        self.folder = folder
        self.basic_tokenizer = self

    def tokenize(self, reaction):
        return SMILES_TOKEN.findall(reaction)

    def batch_encode_plus(self, reactions, **_):
        ids = torch.tensor([smiles_ids(self.folder, reaction) for reaction in reactions])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def rxnmapper(folder):
    import rxnmapper as package

    class Mapper(package.RXNMapper):
        def _load_model_and_tokenizer(self):
            model = transformers.AlbertModel.from_pretrained(folder, attn_implementation="eager", output_attentions=True)
            return model, SmilesTokenizer(folder)

    mapper = Mapper()
    maps = []
    for reaction, canonical in REACTIONS.items():
        result = mapper.get_attention_guided_atom_maps([reaction], canonicalize_rxns=canonical, detailed_output=True)[0]
        maps.append({"reaction": "".join(result["tokens"][1:-1]), "reactant_of_product_atom": result["pxr_mapping_vector"],
                     "confidence": round(result["confidence"], 8), "mapped": result["mapped_rxn"]})
    (OUT / "rxnmapper.json").write_text(json.dumps(maps, indent=1) + "\n")


def main():
    models = pathlib.Path(sys.argv[1]) / "models"
    OUT.mkdir(parents=True, exist_ok=True)
    minilm(models / "all-minilm-l6-v2")
    rxnfp(models / "rxnfp")
    microformer(models / "microformer-mgm")
    smollm2(models / "smollm2-135m-instruct")
    rxnmapper(models / "rxnmapper")
    whisper(models / "whisper-tiny.en")


if __name__ == "__main__":
    main()
