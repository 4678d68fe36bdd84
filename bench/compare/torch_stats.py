"""The numbers of `fovea stats` by PyTorch, with output_attentions=True."""

import torch
import transformers

from corpus import NUMBERS

FARTHEST = 16  # offsets beyond are not counted, as in fovea
SHARES = ("distance", "previous", "duplicate", "induction", "delimiter", "sink")


class HeadNumbers:
    """Sums over all rows, one matrix product for all that is linear in the weights."""

    def __init__(self, folder, lines):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        self.lines = lines
        vocabulary = self.tokenizer.get_vocab()
        self.special = torch.zeros(len(vocabulary), dtype=torch.bool)
        self.special[self.tokenizer.all_special_ids] = True
        self.delimiter = self.special.clone()
        for word, i in vocabulary.items():
            self.delimiter[i] |= not any(letter.isalnum() or letter.isspace() for letter in word.removeprefix("##"))

    def numbers(self, batch: int) -> list:
        """All of all heads one after the other, layer by layer; texts of a batch are of about the same length."""
        encoded = self.tokenizer(self.lines)["input_ids"]
        if batch > 1:
            encoded.sort(key=len)
        sums = {}
        for begin in range(0, len(encoded), batch):
            self.add(encoded[begin:begin + batch], sums)
        means = self.means(sums)
        return torch.stack([means[name].double() for name in NUMBERS], dim=-1).flatten().tolist()

    def add(self, texts: list, sums: dict) -> None:
        lengths = torch.tensor([len(text) for text in texts])
        n = int(lengths.max())
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(text) for text in texts], batch_first=True)
        valid = torch.arange(n) < lengths[:, None]
        maps = self.model(input_ids=ids, attention_mask=valid.long(), output_attentions=True).attentions
        i, j = torch.arange(n)[:, None], torch.arange(n)
        special, delimiter = self.special[ids], self.delimiter[ids]
        same = (ids[:, :, None] == ids[:, None, :]) & (j < i)
        after = torch.zeros_like(same)
        after[:, :, 1:] = same[:, :, :-1]
        shape = same.shape
        patterns = torch.stack([(i - j).abs().expand(shape), (j == i - 1).expand(shape), same, after,
                                delimiter[:, None, :].expand(shape), ((j == 0) & (i > 0)).expand(shape),
                                torch.ones(shape)], dim=-1).float() * valid[:, :, None, None]
        patterns = patterns.flatten(1, 2)
        plain_row, plain_column = (valid & ~special)[:, None], (valid & ~special)[:, None, None].float()
        share = (1 / lengths.log())[:, None, None]
        counts = {"rows": valid.sum(), "later": (lengths - 1).sum(), "plain": plain_row.sum()}
        for layer, a in enumerate(maps):
            heads = a.shape[1]
            entropy = torch.special.entr(a).sum(-1) * valid[:, None]
            largest = a.argmax(-1) - torch.arange(n)
            near = valid[:, None] & (largest.abs() <= FARTHEST)
            bins = (largest + FARTHEST + (2 * FARTHEST + 1) * torch.arange(heads)[:, None])[near]
            one = {
                "linear": torch.bmm(a.flatten(2), patterns).double().sum(0),
                "entropy": entropy.double().sum((0, 2)),
                "evenness": (entropy * share).double().sum((0, 2)),
                "confidence": ((a * plain_column).amax(-1) * plain_row).double().sum((0, 2)),
                "offsets": torch.bincount(bins, minlength=heads * (2 * FARTHEST + 1)).view(heads, -1),
            }
            for name, value in {**one, **counts}.items():
                sums[layer, name] = sums.get((layer, name), 0) + value

    def means(self, sums: dict) -> dict:
        layers = range(self.model.config.num_hidden_layers)
        of = lambda name: torch.stack([sums[layer, name] for layer in layers])
        rows = of("rows")[:, None]
        linear = of("linear")
        offsets = of("offsets")
        means = {name: linear[..., k] / linear[..., -1] for k, name in enumerate(SHARES)}
        means["distance"] = linear[..., 0] / rows
        means["sink"] = linear[..., 5] / of("later")[:, None]
        means["entropy"] = of("entropy") / rows
        means["evenness"] = of("evenness") / rows
        means["confidence"] = of("confidence") / of("plain")[:, None]
        means["positional"] = offsets.amax(-1) / rows
        means["offset"] = offsets.argmax(-1) - FARTHEST
        return means
