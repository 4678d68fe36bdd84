"""Makes tests/data/explain/pictures.npz: what numpy, scipy and torch answer to the methods about pictures.

    pip install numpy==2.4.6 scipy==1.17.1 torch==2.13.0
    python tools/make_explain_fixture.py

Everything here is the plain, dense form of a method, written from its paper or its authors' program; nothing of fovea
is used. Arrays are named CASE.WHAT:

  cut.N.*           keys with planted objects; LOST and TokenCut (scipy.linalg.eigh, scipy.ndimage.label)
  rollout.q, .k     random queries and keys, [layers, heads, positions, size]
  rollout.exact.*   rows of the product of all layers
  rollout.compat.*  rows of what vit-explain computes, line by line
  mass.*            DINO's mask of a share of the mass
"""

import pathlib

import numpy as np
import scipy.linalg
import scipy.ndimage
import torch

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "explain" / "pictures.npz"
FUSIONS = ("mean", "max", "min")
DISCARDS = (0.0, 0.5, 0.9)


def planted_keys(random, rows, cols, boxes, width, noise):
    """A direction for the background, one for each box, and noise."""
    directions = np.linalg.qr(random.normal(size=(width, width)))[0]
    keys = np.tile(directions[0], (rows, cols, 1))
    for index, (top, left, bottom, right) in enumerate(boxes):
        # Away from the background, as LOST supposes.
        keys[top:bottom, left:right] = directions[index + 1] - 0.5 * directions[0]
    keys = keys * random.uniform(0.7, 1.6, size=(rows, cols, 1)) + noise * random.normal(size=keys.shape)
    return keys.reshape(rows * cols, width).astype(np.float32)


def part_of(mask, seed):
    labels, _ = scipy.ndimage.label(mask)
    return labels == labels[np.unravel_index(seed, mask.shape)]


def box_of(mask):
    rows, cols = np.where(mask)
    return np.array([rows.min(), cols.min(), rows.max() + 1, cols.max() + 1])


def lost(keys, shape, expansion):
    products = keys.astype(np.float64) @ keys.astype(np.float64).T
    similar = products > 0
    np.fill_diagonal(similar, False)
    degrees = similar.sum(1)
    order = np.argsort(degrees, kind="stable")
    seed = order[0]
    chosen = [patch for patch in order[:expansion] if products[seed, patch] > 0]
    foreground = (products[chosen].sum(0) > 0).reshape(shape)
    mask = part_of(foreground, seed)
    return {"lost.degrees": degrees, "lost.seed": seed, "lost.expanded": np.array(chosen), "lost.mask": mask,
            "lost.foreground": foreground, "lost.box": box_of(mask)}


def token_cut(keys, shape, threshold=0.2, weak=1e-5):
    unit = keys.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit @ unit.T
    nearest = np.abs(cosines - threshold).min()
    assert nearest > 1e-6, f"a cosine is {nearest} from the threshold: another seed"
    weights = np.where(cosines > threshold, 1.0, weak)
    degrees = np.diag(weights.sum(1))
    values, vectors = scipy.linalg.eigh(degrees - weights, degrees, subset_by_index=[1, 2])
    assert values[1] - values[0] > 1e-7, f"eigenvalues {values} are one: another seed"
    vector = vectors[:, 0]
    # Patches of one cluster have equal values but for rounding, which must not decide: the first.
    seed = np.flatnonzero(np.abs(vector) >= np.abs(vector).max() * (1 - 1e-9))[0]
    vector = vector * np.sign(vector[seed])
    foreground = (vector > vector.mean()).reshape(shape)
    mask = part_of(foreground, seed)
    return {"token_cut.vector": vector, "token_cut.value": values[0], "token_cut.seed": seed,
            "token_cut.foreground": foreground, "token_cut.mask": mask, "token_cut.box": box_of(mask)}


def cut_cases():
    arrays = {}
    cases = [(14, 14, [(3, 4, 9, 11)], 24, 0.05, 100), (14, 14, [(3, 4, 9, 11)], 24, 0.28, 30),
             (11, 17, [(1, 2, 5, 6), (6, 9, 10, 16)], 16, 0.15, 40), (9, 6, [(0, 0, 4, 3)], 8, 0.3, 100),
             (14, 14, [(2, 2, 6, 6), (8, 1, 12, 7), (3, 9, 8, 13)], 32, 0.1, 100)]
    for number, (rows, cols, boxes, width, noise, expansion) in enumerate(cases):
        keys = planted_keys(np.random.default_rng(number), rows, cols, boxes, width, noise)
        arrays[f"cut.{number}.keys"] = keys
        arrays[f"cut.{number}.grid"] = np.array([rows, cols])
        arrays[f"cut.{number}.expansion"] = np.array(expansion)
        arrays[f"cut.{number}.planted"] = np.array(boxes)
        for what, value in (lost(keys, (rows, cols), expansion) | token_cut(keys, (rows, cols))).items():
            arrays[f"cut.{number}.{what}"] = value
    return arrays


def fuse(attention, fusion):
    return {"mean": attention.mean(0), "max": attention.max(0), "min": attention.min(0)}[fusion]


def discarded(fused, share):
    flat = fused.flatten()
    flat[np.argsort(flat, kind="stable")[: int(flat.size * share)]] = 0
    return flat.reshape(fused.shape)


def exact_rollout(attentions, fusion="mean", discard=0.0, residual=0.5, start_layer=0):
    result = np.eye(attentions.shape[-1])
    for attention in attentions[start_layer:]:
        mixed = (1 - residual) * discarded(fuse(attention, fusion), discard) + residual * np.eye(len(result))
        result = (mixed / mixed.sum(-1, keepdims=True)) @ result
    return result


def vit_explain_rollout(attentions, fusion, discard_ratio):
    """In the steps of vit-explain's own loop, batch axis and all, for the sake of its mistakes."""
    result = torch.eye(attentions.shape[-1], dtype=torch.float64)
    for attention in torch.from_numpy(attentions)[:, None]:
        fused = {"mean": attention.mean(dim=1), "max": attention.max(dim=1)[0], "min": attention.min(dim=1)[0]}[fusion]
        flat = fused.view(fused.size(0), -1)
        _, indices = flat.topk(int(flat.size(-1) * discard_ratio), -1, False)
        indices = indices[indices != 0]
        flat[0, indices] = 0
        mixed = (fused + 1.0 * torch.eye(fused.size(-1), dtype=torch.float64)) / 2
        mixed = mixed / mixed.sum(dim=-1)  # no keepdim: column j by the sum of row j
        result = torch.matmul(mixed, result)
    return result[0].numpy()


def rollout_cases():
    random = np.random.default_rng(10)
    layers, heads, positions, size = 4, 3, 17, 8
    q = (1.6 * random.normal(size=(layers, heads, positions, size))).astype(np.float32)
    k = (1.6 * random.normal(size=(layers, heads, positions, size))).astype(np.float32)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / np.sqrt(size)
    attentions = np.exp(scores - scores.max(-1, keepdims=True))
    attentions /= attentions.sum(-1, keepdims=True)
    arrays = {"rollout.q": q, "rollout.k": k}
    for fusion in FUSIONS:
        for discard in DISCARDS:
            name = f"{fusion}.{int(100 * discard)}"
            arrays[f"rollout.exact.{name}"] = exact_rollout(attentions, fusion, discard)
            arrays[f"rollout.compat.{name}"] = vit_explain_rollout(attentions.copy(), fusion, discard)
    arrays["rollout.exact.residual30"] = exact_rollout(attentions, residual=0.3)
    arrays["rollout.exact.start1"] = exact_rollout(attentions, start_layer=1)
    return arrays


def mass_mask(weights, share):
    order = np.argsort(weights, kind="stable")
    kept = np.cumsum(weights[order] / weights.sum()) > 1 - share
    mask = np.zeros(len(weights), dtype=np.uint8)
    mask[order] = kept
    return mask


def mass_cases():
    random = np.random.default_rng(20)
    weights = random.gamma(0.3, size=(12, 48))
    weights[6:] = np.round(weights[6:] * 8) / 8  # many equal ones
    shares = np.array([0.1, 0.3, 0.5, 0.6, 0.9, 0.99] * 2)
    return {"mass.weights": weights, "mass.shares": shares,
            "mass.masks": np.stack([mass_mask(row, share) for row, share in zip(weights, shares)])}


def main():
    arrays = cut_cases() | rollout_cases() | mass_cases()
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype == bool:
            array = array.astype(np.uint8)
        arrays[name] = np.ascontiguousarray(array)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(OUT, **arrays)
    print(f"{OUT.name}: {len(arrays)} arrays, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
