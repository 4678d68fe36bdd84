"""The rows of `fovea bench --compare`: what is measured, against what, and the targets, all in one table.

A row divides a measure of one way by the same measure of another ("PyTorch" is SDPA without maps, "maps" is eager with
output_attentions=True), or by a limit. Rows of one family are measured in the same turns.
"""

import dataclasses
import fnmatch

PLAIN = "PyTorch"


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    about: str
    target: float
    way: str = "fovea"
    against: str | None = PLAIN
    measure: str = "seconds"  # or another time; "mb"; "tokens": seconds, shown as tokens per second
    limit: float | None = None  # in the measure's unit, in the place of `against`
    family: str = ""  # whose turns; empty: its own
    extra: bool = False  # takes long and is in no target of the whole: measured when it is named

    @property
    def group(self):
        return self.family or self.name


def within(name, about, limit, family="", **more):
    """A row with a limit: measured / limit must not exceed 1."""
    return Row(name, about, target=1.0, against=None, limit=limit, family=family, **more)


def models():
    """(name, about, target of f32)."""
    yield "bert-512", "BERT-base shape, 512 tokens", 0.85
    yield "bert-2048", "BERT-base shape, 2,048 tokens", 0.8
    yield "vit-480", "ViT-S/8 at 480 x 480 (3,601 tokens)", 0.8
    yield "gpt2-4096", "GPT-2 shape, no LM head, 4,096 tokens", 0.7
    yield "detr", "DETR-R50 shape, 800 x 1066 pixels", 0.8


MAPS = {"bert-2048": 0.4, "vit-480": 0.3}
PEAK_MB = {"vit-480": 600, "gpt2-4096": 1500}
ATTENTION = {512: 12, 2048: 12, 3601: 6, 16384: 1}  # tokens: heads of 64
ATTENTION_RATE = 165e9  # FLOP/s at 3,601 tokens
BLOCKS = ("Q4_K", "Q4_1")  # types of weights that are multiplied as they are stored, against the same numbers in f32
HALVES = ("f16", "bf16")


def all_rows():
    for name, about, target in models():
        yield Row(name, about, target)
        if name in MAPS:
            yield Row(f"{name}/maps", f"{about}, / with maps", MAPS[name], against="maps", family=name)
        if name in PEAK_MB:
            yield within(f"{name}/memory", f"{about}, most memory", PEAK_MB[name], name, measure="mb")
        yield Row(f"{name}/bf16", f"{about}, in bf16", 0.85)
    for tokens, heads in ATTENTION.items():
        name, about = f"attention-{tokens}", f"attention, {heads} head{'s'[:heads > 1]}, {tokens:,} tokens"
        yield Row(name, f"{about}, against SDPA", 1.0)
        if tokens == 3601:
            seconds = 4 * heads * tokens**2 * 64 / ATTENTION_RATE
            yield within(f"{name}/rate", f"{about}, at 165 GFLOP/s", seconds, name)
            yield Row(f"{name}/bf16", f"{about}, in bf16", 0.85)
            yield Row(f"{name}/gain", f"{about}, bf16 / f32", 0.77, against="f32", family=f"{name}/bf16")
    yield Row("relevancy", "relevancy, 4,096 tokens, GPT-2 shape of 2 layers", 3.5)
    yield within("relevancy/memory", "relevancy, 4,096 tokens, GPT-2 shape, memory", 2000, measure="mb", extra=True)
    yield Row("generate", "GPT-2 shape writes 32 tokens after 64", 1.0, measure="tokens")
    yield Row("translate", "en-fr translates 20 sentences, greedily", 1.0, measure="tokens")
    yield Row("stats", "head statistics, 200 sentences, MiniLM", 0.77)
    yield Row("stats/single", "the same, PyTorch sentence by sentence", 0.2, against="single", family="stats")
    yield within("first-map", "first map of one sentence, MiniLM, cold process", 0.15)
    yield Row("first-map/maps", "the same against PyTorch with maps", 0.1, against="maps", family="first-map", extra=True)
    yield within("first-map/smollm2", "the same with SmolLM2, out of Q4_1", 0.3)
    yield within("page", "all 12 x 12 heads of 384 tokens as one HTML page", 1.0)
    yield within("page/size", "the size of that page", 15, "page", measure="mb")
    yield within("tile", "an exact tile of 256 x 256, d = 64", 1e-3)
    yield within("overview/first", "first look at a head of 100,000 tokens", 0.4, "overview", measure="first_seconds")
    for kind in BLOCKS:
        name, about = f"stored-{kind}", f"Llama shape out of {kind}"
        yield Row(f"{name}/512", f"{about}, 512 tokens, / f32", 1 / 0.9, against="f32")
        yield Row(f"{name}/16", f"{about}, 16 tokens, / f32", 1 / 0.7, against="f32")
        yield Row(f"{name}/write", f"{about} writes 32 tokens, / f32", 1 / 2.2, against="f32", measure="tokens")
    for kind in HALVES:
        yield Row(f"stored-{kind}/12", f"BERT-base shape in {kind}, 12 tokens, / f32", 1.0, against="f32")
    yield Row("overview", "exact overview, 100,000 tokens; over FLOPs / peak", 1.5, against="limit")


ROWS = list(all_rows())


class WrongUsage(Exception):
    """Of the command line; the message is one line."""


def choose(patterns):
    """The rows that the names or shell patterns choose, in the table's order; without any, all but extra ones."""
    for pattern in patterns:
        if not fnmatch.filter([row.name for row in ROWS], pattern):
            raise WrongUsage(f"no row is called '{pattern}'; there are {', '.join(row.name for row in ROWS)}")
    return [row for row in ROWS if (any(fnmatch.fnmatchcase(row.name, p) for p in patterns) if patterns else not row.extra)]
