"""How each family of rows.py is measured: which ways there are, and how a way is made ready for its turns."""

import dataclasses
import json
from collections.abc import Callable

import corpus
from rows import ATTENTION, BLOCKS, HALVES, PLAIN
from turns import Command

SENTENCE = "The animal did not cross the street because it was too tired."


@dataclasses.dataclass(frozen=True)
class Family:
    ways: dict[str, Callable]  # name: what makes the way out of a session
    tolerance: float = 1e-3  # of the answers, which are given in f32
    cold: tuple[str, ...] = ()  # ways that are not warmed up: whole processes, and turns of half a second or more
    rounds: int | None = None  # where one is enough
    derived: dict[str, Callable] = dataclasses.field(default_factory=dict)  # ways that follow from the others' answers


# bf16 keeps 8 bits, and 12 layers round one after the other; the states have norm layers behind them.
TOLERANCE = {"f32": 1e-3, "bf16": 0.15}


# Long works are not warmed up: a first turn that is slower does not move the median of five.
ALL = (PLAIN, "fovea", "maps", "single")


def forward(model, inputs, dtype, cold=ALL):
    def words(session):
        folder = session.checkpoint(model)
        return [folder, folder / f"inputs-{inputs}.safetensors", dtype]

    return Family({PLAIN: lambda s: s.torch("forward", *words(s), "plain"),
                   "fovea": lambda s: s.turns("forward", *words(s)),
                   "maps": lambda s: s.torch("forward", *words(s), "maps")}, TOLERANCE[dtype], cold)


def attention(tokens, dtype):
    shape = [tokens, ATTENTION[tokens], 64]
    return Family({PLAIN: lambda s: s.torch("attention", *shape, dtype),
                   "fovea": lambda s: s.turns("attention", *shape, dtype),
                   "f32": lambda s: s.turns("attention", *shape, "f32")},
                  2e-2 if dtype == "bf16" else 1e-4)


def relevancy():
    def words(session):
        folder = session.long_checkpoint()
        return [folder, folder / "inputs-4096.safetensors"]

    return Family({PLAIN: lambda s: s.torch("next_word", *words(s)), "fovea": lambda s: s.turns("relevancy", *words(s))},
                  cold=ALL)


def relevancy_memory():
    def make(session):
        folder = session.checkpoint("gpt2")
        return session.turns("relevancy", folder, folder / "inputs-4096.safetensors")

    return Family({"fovea": make}, cold=("fovea",), rounds=1)


def generate():
    def words(session):
        folder = session.checkpoint("gpt2")
        return [folder, folder / "inputs-64.safetensors", 32]

    return Family({PLAIN: lambda s: s.torch("generate", *words(s)), "fovea": lambda s: s.turns("generate", *words(s))},
                  tolerance=0, cold=ALL)


def translate():
    def in_torch(session):
        sentences = corpus.SENTENCES.read_text().splitlines()
        ids = [json.loads(session.fovea_says("tokenize", line, "-m", "en-fr", "--json"))["ids"] for line in sentences]
        file = session.place / "sentences.json"
        file.write_text(json.dumps(ids))
        return session.torch("translate", session.model("en-fr"), file)

    return Family({PLAIN: in_torch, "fovea": lambda s: s.turns("translate", s.model("en-fr"), corpus.SENTENCES)},
                  tolerance=0)


def stats():
    def words(session):
        file = session.place / "corpus.txt"
        if not file.exists():
            corpus.write_corpus(session.model("all-minilm-l6-v2") / "vocab.txt", file, 200)
        return [session.model("all-minilm-l6-v2"), file]

    return Family({PLAIN: lambda s: s.torch("stats", *words(s), 32),
                   "fovea": lambda s: s.turns("stats", *words(s)),
                   "single": lambda s: s.torch("stats", *words(s), 1)}, tolerance=1e-4, cold=ALL)


def first_map():
    def in_torch(session):
        script = session.here / "torch_first_map.py"
        return Command([session.python(), script, session.model("all-minilm-l6-v2"), SENTENCE], session.environment)

    return Family({"fovea": lambda s: s.command("text", SENTENCE, "-m", s.model("all-minilm-l6-v2")), "maps": in_torch},
                  cold=("maps",))


def stored_blocks(kind, work, end, *more):
    """The same numbers as blocks and as f32."""
    def words(session, name):
        folder = session.random_llama(kind)
        return [folder / name, folder / f"inputs-{end}.safetensors", *more]

    return Family({"fovea": lambda s: s.turns(work, *words(s, "model.gguf")), "f32": lambda s: s.turns(work, *words(s, "f32.gguf"))},
                  tolerance=0 if work == "generate" else 1e-3)


def stored_halves(kind):
    """The same weights, rounded or not."""
    def words(session, name):
        return [session.checkpoint(name), session.checkpoint(f"bert-{kind}") / "inputs-12.safetensors", "f32"]

    return Family({"fovea": lambda s: s.turns("forward", *words(s, f"bert-{kind}")), "f32": lambda s: s.turns("forward", *words(s, "bert"))},
                  TOLERANCE["bf16"])


def page():
    def make(session):
        run, page = session.place / "page.fovea.safetensors", session.place / "page.html"
        folder = session.checkpoint("bert")
        session.fovea_says("capture", "--inputs", folder / "inputs-384.safetensors", "-m", folder, "--out", run)
        return session.command("open", run, "--out", page, file=page)

    return Family({"fovea": make})


def overview():
    def limit(answers):
        peak = answers["peak"]["flop"] / answers["peak"]["seconds"]
        return {"seconds": answers["fovea"]["flop"] / peak}

    return Family({"fovea": lambda s: s.turns("overview", 100_000, 64), "peak": lambda s: s.turns("matmul", 2048, 768, 3072)},
                  cold=("fovea",), derived={"limit": limit})


FAMILIES = {
    "bert-512": forward("bert", 512, "f32", cold=()),
    "bert-512/bf16": forward("bert", 512, "bf16", cold=()),
    "bert-2048": forward("bert", 2048, "f32"),
    "bert-2048/bf16": forward("bert", 2048, "bf16"),
    "vit-480": forward("vit", 480, "f32"),
    "vit-480/bf16": forward("vit", 480, "bf16"),
    "gpt2-4096": forward("gpt2", 4096, "f32"),
    "gpt2-4096/bf16": forward("gpt2", 4096, "bf16"),
    "detr": forward("detr", 800, "f32"),
    "detr/bf16": forward("detr", 800, "bf16"),
    **{f"attention-{tokens}": attention(tokens, "f32") for tokens in ATTENTION},
    "attention-3601/bf16": attention(3601, "bf16"),
    "relevancy": relevancy(),
    "relevancy/memory": relevancy_memory(),
    "generate": generate(),
    "translate": translate(),
    "stats": stats(),
    "first-map": first_map(),
    "first-map/smollm2": Family({"fovea": lambda s: s.command("text", SENTENCE, "-m", s.model("smollm2-135m-instruct"))}),
    "page": page(),
    "tile": Family({"fovea": lambda s: s.turns("tile", 16384, 256, 64)}),
    **{f"stored-{kind}/{count}": stored_blocks(kind, "forward", count, "f32") for kind in BLOCKS for count in (512, 16)},
    **{f"stored-{kind}/write": stored_blocks(kind, "generate", 16, 32) for kind in BLOCKS},
    **{f"stored-{kind}/12": stored_halves(kind) for kind in HALVES},
    "overview": overview(),
}
