"""The views of the verb image, artifacts, and tokens in front of the patches."""

import json

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from png_files import png
from program import ROOT, assert_fails, ok, run

MODEL = ROOT / "models/scenes-vit"
SCENE = MODEL / "demo/scene-2.png"


def stripes(x, y):
    return (x * y % 256, 255 if 60 < x < 150 and 30 < y < 100 else 40, (x // 8 + y // 8) % 2 * 200)


# As the model's preprocessor leaves it: the picture has its size already.
STRIPES = numpy.array([[stripes(x, y) for x in range(224)] for y in range(224)], numpy.float32)


def shown(*arguments):
    facts = json.loads(ok("image", *arguments, "--json"))
    return {name: facts[name] for name in ("site", "layer", "caption", "outputs")} | facts["result"]


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "stripes.png"
    path.write_bytes(png(224, 224, stripes))
    return path


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """Every map of that picture, from export: [heads, 785, 785] by layer."""
    folder = tmp_path_factory.mktemp("maps")
    pixels = numpy.ascontiguousarray((STRIPES.transpose(2, 0, 1) / 255 - 0.5) / 0.5)
    save_file({"pixel_values": pixels}, folder / "in.safetensors")
    ok("export", "-m", "scenes-vit", "--inputs", folder / "in.safetensors", "--out", folder / "maps.safetensors")
    tensors = load_file(folder / "maps.safetensors")
    return [tensors[f"self.{layer}"].astype(numpy.float64) for layer in range(8)]


def on_patches(rows):
    """Rows of patches over patches, each divided by its sum."""
    part = rows[:, 1:, 1:]
    return part / part.sum(-1, keepdims=True)


PLACES = numpy.stack(numpy.meshgrid(numpy.arange(28), numpy.arange(28), indexing="ij"), -1).reshape(-1, 2)


def test_the_composite_gives_each_patch_to_its_strongest_head(maps, picture):
    answer = shown(picture, "--view", "composite")
    rows = maps[7][:, 0, 1:]
    rows = rows / rows.sum(-1, keepdims=True)
    order = numpy.argsort(rows, axis=-1, kind="stable")
    running = numpy.cumsum(numpy.take_along_axis(rows, order, -1), -1)
    masks = numpy.zeros_like(rows, dtype=bool)
    numpy.put_along_axis(masks, order, running > 1 - 0.6, -1)
    strongest = numpy.where(masks.any(0), numpy.where(masks, rows, -1).argmax(0), -1)
    given = numpy.array(answer["weights"]).astype(int).ravel()
    assert (given == strongest).mean() > 0.995  # a weight at the edge may round to the other side
    assert [head["strongest_share"] for head in answer["heads"]] == pytest.approx(
        [(given == head).mean() for head in range(6)])
    assert "60 %" in answer["caption"]
    fewer = shown(picture, "--view", "composite", "--mask", "0.3")
    assert all(a["mask_share"] < b["mask_share"] for a, b in zip(fewer["heads"], answer["heads"]))


def test_the_composite_in_the_terminal_has_a_legend():
    text = ok("image", SCENE, "--view", "composite")
    assert "head 0" in text and "head 5" in text and "%" in text and "\x1b" not in text
    assert "█" in ok("image", SCENE, "--view", "composite", environment={"FORCE_COLOR": "3"})


def test_kernels_are_means_over_offsets(maps, picture):
    answer = shown(picture, "--view", "kernels", "--layer", "3", "--radius", "2")
    assert answer["radius"] == 2 and (answer["site"], answer["layer"]) == ("self", 3) and len(answer["panels"]) == 6
    rows = on_patches(maps[3])
    for head in (0, 5):
        kernel = numpy.zeros((5, 5))
        inner = [(r, c) for r in range(2, 26) for c in range(2, 26)]
        for r, c in inner:
            grid = rows[head, r * 28 + c].reshape(28, 28)
            kernel += grid[r - 2:r + 3, c - 2:c + 3] / len(inner)
        numpy.testing.assert_allclose(answer["panels"][head]["weights"], kernel, atol=1e-6)
        about = answer["kernels"][head]
        assert about["queries"] == len(inner) and about["inside"] == pytest.approx(kernel.sum(), abs=1e-5)
        down = (kernel.sum(1) * numpy.arange(-2, 3)).sum() / kernel.sum()
        assert about["centre_down"] == pytest.approx(down, abs=1e-4) and about["level50"] >= about["level90"]


def test_all_layers_are_layers_times_heads(tmp_path):
    ok("image", SCENE, "--view", "kernels", "--layer", "all", "--out", tmp_path / "k.npy")
    assert numpy.load(tmp_path / "k.npy").shape == (48, 15, 15)
    text = ok("image", SCENE, "--view", "kernels")
    assert "spread" in text and "90 %" in text


def test_built_heads_are_a_convolution():
    answer = shown(SCENE, "--view", "convolution")
    assert answer["largest_difference"] < 1e-4  # sums of 27 products of numbers up to 8
    for head, about in enumerate(answer["kernels"]):
        assert (about["centre_down"], about["centre_right"]) == pytest.approx((head // 3 - 1, head % 3 - 1), abs=1e-5)
        assert about["spread"] == pytest.approx(0, abs=1e-3)


@pytest.mark.numbers
def test_distances_are_renormalised_unless_told(maps, picture, tmp_path):
    answer = shown(picture, "--view", "distances")
    apart = 8 * numpy.linalg.norm(PLACES[:, None] - PLACES[None], axis=-1)
    plain = numpy.array([(m[:, 1:, 1:] * apart).sum(-1).mean(-1) for m in maps])
    ours = numpy.array([(on_patches(m) * apart).sum(-1).mean(-1) for m in maps])
    numpy.testing.assert_allclose(answer["weights"], ours, rtol=1e-4)
    assert answer["even"] == pytest.approx(apart.mean())
    numpy.testing.assert_allclose(shown(picture, "--view", "distances", "--compat", "keras")["weights"], plain, rtol=1e-4)
    assert (ours >= plain).all()
    ok("image", picture, "--view", "distances", "--out", tmp_path / "d.csv")
    assert len((tmp_path / "d.csv").read_text().splitlines()) == 9
    assert "head 5" in ok("image", picture, "--view", "distances")


@pytest.mark.numbers
def test_the_field_is_a_rollout_with_radii(maps, picture):
    answer = shown(picture, "--view", "field", "--at", "128,48")
    assert answer["patch"] == "patch 6,16" and [d["layers"] for d in answer["depths"]] == list(range(1, 9))
    position = 1 + 6 * 28 + 16
    far = numpy.linalg.norm(PLACES - PLACES[position - 1], axis=-1)
    for depth in (1, 3):
        row = numpy.eye(785)[position]
        for layer in reversed(range(depth)):
            row = 0.5 * row + 0.5 * row @ maps[layer].mean(0)
        numpy.testing.assert_allclose(
            numpy.array(answer["panels"][depth - 1]["weights"]).ravel(), row[1:], atol=1e-6)
        order = numpy.argsort(far, kind="stable")
        running = numpy.cumsum(row[1:][order]) / row[1:].sum()
        for share, name in ((0.5, "radius50"), (0.9, "radius90")):
            # A distance beside the edge may round to the next ring of patches.
            assert answer["depths"][depth - 1][name] == pytest.approx(
                8 * far[order][numpy.searchsorted(running, share)], abs=8)
    assert shown(picture, "--view", "field")["patch"] == "patch 14,14"
    text = ok("image", picture, "--view", "field")  # titles take a second line where they need one
    assert "to layer 7" in text and text.count("half in") == 8 and "…" not in text


@pytest.mark.parametrize("view", ["composite", "kernels", "convolution", "distances", "field"])
@pytest.mark.parametrize("suffix", ["png", "svg", "npy", "json"])
def test_every_view_is_written_in_every_form(view, suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    assert ok("image", SCENE, "--view", view, "--out", path) == f"wrote {path}\n"
    assert path.stat().st_size > 100


def test_options_of_other_views_are_refused():
    assert_fails(run("image", SCENE, "--view", "kernels", "--at", "1,1"), 2, "--at", "kernels")
    assert_fails(run("image", SCENE, "--view", "field", "--mask", "0.5"), 2, "--mask", "field")
    assert_fails(run("image", SCENE, "--compat", "keras"), 2, "--compat", "maps")
    assert_fails(run("image", SCENE, "--layer", "each"), 2, "--layer: 'each' is not a whole number from 0, or all")
    assert_fails(run("image", SCENE, "--view", "kernels", "--radius", "14"), 2, "14", "28 x 28")
    assert_fails(run("image", SCENE, "--view", "composite", "--mask", "0"), 2, "--mask")
    assert_fails(run("image", SCENE, "--token", "[REG 1]"), 2, "[REG 1]", "[CLS]")
    assert_fails(run("image", SCENE, "--token", "[CLS]", "--at", "1,1"), 2, "leave one of them out")
    assert_fails(run("image", SCENE, "--without-artifacts", "--column"), 2, "--column")


@pytest.fixture(scope="module")
def with_artifacts(tmp_path_factory):
    """A tiny DINOv2 with registers; three of its 4 x 4 positions are so long that nothing shortens them."""
    folder = models.copy_fixture("dinov2_registers", tmp_path_factory.mktemp("model") / "tiny")
    config = json.loads((MODEL / "preprocessor_config.json").read_text()) | {"size": {"height": 28, "width": 28}}
    (folder / "preprocessor_config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    name = next(key for key in weights if key.endswith("position_embeddings"))
    for patch in (2, 7, 12):
        weights[name][0, 1 + patch] += 1000 * numpy.random.default_rng(patch).standard_normal(weights[name].shape[-1]).astype(weights[name].dtype)
    save_file(weights, folder / "model.safetensors")
    (folder.parent / "a.png").write_bytes(png(28, 28))
    return folder, folder.parent / "a.png"


def test_artifacts_are_counted(with_artifacts):
    folder, picture = with_artifacts
    answer = shown("-m", folder, picture)
    artifacts = answer["outputs"]["artifacts"]
    assert artifacts["which"] == [2, 7, 12] and artifacts["share"] == pytest.approx(3 / 16) and artifacts["cut"] > artifacts["median"]
    assert "artifacts 3 of 16 patches (18.8 %) have outlying norms" in ok("image", "-m", folder, picture)


def test_artifacts_are_taken_out_and_it_is_said(with_artifacts, tmp_path):
    folder, picture = with_artifacts
    before = numpy.array([p["weights"] for p in shown("-m", folder, picture)["panels"]]).reshape(-1, 16)
    answer = shown("-m", folder, picture, "--without-artifacts")
    after = numpy.array([p["weights"] for p in answer["panels"]]).reshape(-1, 16)
    kept = numpy.setdiff1d(numpy.arange(16), [2, 7, 12])
    assert (after[:, [2, 7, 12]] == 0).all()
    expected = before[:, kept] * (before.sum(1) / before[:, kept].sum(1))[:, None]
    numpy.testing.assert_allclose(after[:, kept], expected, atol=1e-6)
    removed = 1 - before[:, kept].sum(1) / before.sum(1)
    numpy.testing.assert_allclose(answer["removed"], removed, atol=1e-6)
    assert answer["without_artifacts"] == 3 and "3 artifact patches taken out" in answer["badge"]
    text = ok("image", "-m", folder, picture, "--without-artifacts").splitlines()
    assert any(line.startswith("[3 artifact patches taken out") for line in text[:5])
    ok("image", "-m", folder, picture, "--without-artifacts", "--out", tmp_path / "a.svg")
    assert "artifact patches taken out" in (tmp_path / "a.svg").read_text()


def test_registers_can_be_looked_from(with_artifacts):
    folder, picture = with_artifacts
    first = shown("-m", folder, picture, "--token", "[REG 1]")
    assert first["query"] == "[REG 1]" and shown("-m", folder, picture, "--token", "reg 1")["panels"] == first["panels"]
    assert first["panels"] != shown("-m", folder, picture)["panels"]
    assert_fails(run("image", "-m", folder, picture, "--token", "[REG 9]"), 2, "[REG 9]", "[CLS], [REG 1], [REG 2]")
