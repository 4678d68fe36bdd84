"""Pages of pictures in a browser: a grid of patches over the picture, special tokens beside it, rows and columns."""

import base64
import json
import re

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from program import assert_fails, ok, run
from test_image import SCENE
from test_page import CLOSE, assert_quiet, browser, weights_of, workspace, write_run  # noqa: F401

CAPTION = {"evaluate": "document.querySelector('#fovea-caption').textContent.replace(/[\\u2068\\u2069]/g, '')"}
STATE = {"evaluate": "fovea.state()"}
# The frame around the chosen patch: its row and column on a grid of 3 x 4.
FRAME = {"evaluate": "(f => f.hidden ? null : [parseFloat(f.style.top) * 3 / 100, parseFloat(f.style.left) * 4 / 100]"
                     ".map(Math.round))(document.querySelector('.frame.chosen'))"}


def add_picture(path, picture):
    """The same run with a picture under its grid."""
    with open(path, "rb") as file:
        about = json.loads(file.read(int.from_bytes(file.read(8), "little")))["__metadata__"]
    save_file(load_file(path) | {"picture": picture}, path, about)


def axis(names, name):
    return {"name": name, "source": "", "positions": names, "offsets": [[0, 0]] * len(names), "special": []}


def patches(rows, cols, special=("[CLS]", "[REG 1]"), name="patches"):
    names = [*special, *(f"patch {r},{c}" for r in range(rows) for c in range(cols))]
    return axis(names, name) | {"special": list(range(len(special))), "grid": [rows, cols]}


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A picture of 40 x 30 pixels in 3 x 4 patches, two tokens in front of them, two layers of three heads."""
    folder = tmp_path_factory.mktemp("grid")
    maps = write_run(folder / "run.safetensors", [patches(3, 4)],
                     [(f"self.{layer}", "patches", "patches", 3, 2.0, False) for layer in range(2)])
    y, x = np.mgrid[:30, :40]
    add_picture(folder / "run.safetensors", np.stack([x * 6, y * 8, 0 * x], -1).astype(np.uint8))
    ok("open", folder / "run.safetensors", "--out", folder / "page.html")
    return folder / "page.html", maps


def at(row, col, rows=3, cols=4):
    """The middle of a cell of the large picture, as an expression."""
    return (f"(b => [b.left + b.width * {(col + 0.5) / cols}, b.top + b.height * {(row + 0.5) / rows}])"
            "(document.querySelector('.sheet canvas').getBoundingClientRect())")


def point(kind, row, col):
    """A pointer event over a cell."""
    return {"evaluate": f"(([x, y]) => document.querySelector('.sheet').dispatchEvent(new {'MouseEvent' if kind == 'click' else 'PointerEvent'}"
                        f"('{kind}', {{clientX: x, clientY: y, bubbles: true}})))({at(row, col)})"}


def pixel(row, col):
    return {"evaluate": f"(c => [...c.getContext('2d').getImageData(c.width * {(col + 0.5) / 4}, c.height * {(row + 0.5) / 3}, 1, 1).data])"
                        "(document.querySelector('.sheet canvas'))"}


def test_a_picture_opens_on_the_token_in_front_of_it(browser, grid):  # noqa: F811
    page, maps = grid
    results = browser.drive(page, [
        {"open": ""}, CAPTION, {"evaluate": "document.querySelector('.views button').textContent"}, FRAME,
        {"evaluate": "[...document.querySelectorAll('.chips .token')].map(t => t.textContent)"},
        {"evaluate": "document.querySelector('.token.chosen').textContent"},
        {"weights": [0, 1]}, {"weights": [1, 2]},
    ])
    assert_quiet(results)
    row = maps["self.1"][0, 0]
    assert results[1] == ('Row 0 "[CLS]" → what it attends to · layer 1, head 0 · softmax weight, times even · '
                          f"sum 1.00, of which {row[2:].sum():.2f} on patches")
    assert results[2:6] == ["Picture", None, ["[CLS]", "[REG 1]"], "[CLS]"]
    for got, exact in ((results[6], maps["self.0"][1]), (results[7], maps["self.1"][2])):
        np.testing.assert_allclose(weights_of(got, exact.shape), exact, atol=CLOSE)


def test_patches_are_hovered_pinned_flipped_and_unpinned(browser, grid):  # noqa: F811
    page, maps = grid
    column = maps["self.1"][0][:, 2 + 6]
    results = browser.drive(page, [
        {"open": ""}, point("pointermove", 2, 3), CAPTION, FRAME,
        point("click", 1, 2), FRAME, STATE, {"press": "r"}, CAPTION, FRAME,
        {"click": ".chips .token:nth-child(2)"}, CAPTION, FRAME, {"press": "Escape"}, CAPTION,
    ])
    assert_quiet(results)
    assert 'Row 13 "patch 2,3"' in results[2] and results[3] == [2, 3]
    assert results[5] == [1, 2] and results[6]["token"] == 8 and results[6]["view"] == "read"
    assert results[8].startswith('Column 8 "patch 1,2" ← who attends to it')
    assert f"sum {column.sum():.2f}, of which {column[2:].sum():.2f} on patches" in results[8] and results[9] == [1, 2]
    assert 'Column 1 "[REG 1]"' in results[11] and results[12] is None
    assert 'Column 0 "[CLS]"' in results[14]


def test_arrows_walk_over_the_picture(browser, grid):  # noqa: F811
    page, _ = grid
    keys = ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "Shift+ArrowRight", "ArrowUp", "ArrowUp", "ArrowLeft"]
    script = [{"open": ""}, {"evaluate": "document.querySelector('.picture').focus()"}]
    for key in keys:
        script += [{"press": key}, STATE]
    results = browser.drive(page, script)
    assert_quiet(results)
    tokens = [state["token"] for state in results[3::2][:len(keys)]]
    assert tokens == [2, 3, 7, 6, 6, 9, 5, 1, 0]
    assert results[1] is None


def test_pixels_are_the_picture_under_the_colours_of_the_weights(browser, grid):  # noqa: F811
    page, maps = grid
    header = json.loads(re.search(r'id="fovea-page">(.*?)</script>', page.read_text(), re.DOTALL).group(1))
    inferno = np.frombuffer(base64.b64decode(header["colors"]["inferno"]), np.uint8).reshape(256, 3).astype(float)
    strength = lambda value: {"evaluate": f"(s => {{ s.value = {value}; s.dispatchEvent(new Event('input')); }})(document.querySelector('.strength input'))"}
    results = browser.drive(page, [
        {"open": ""}, pixel(1, 2), pixel(2, 0), strength(100), pixel(1, 2), pixel(2, 0), strength(0), pixel(1, 2),
        strength(50), pixel(2, 0), pixel(1, 2), pixel(1, 2)])
    assert_quiet(results)
    even = maps["self.1"][0, 0, 2:].reshape(3, 4) * 14
    # The middle of cell (1, 2): x = 25, y = 15 of the picture, give or take the blending of a pixel.
    under = np.array([25 * 6, 15 * 8, 0])
    # Whatever the ground at that place is, the colours lie over it; its own pixel is grey.
    dark = np.array(results[4][:3], float)

    def covered(value, begin, reach):
        place = np.clip(np.log(value / begin) / np.log(reach), 0, 1)
        return inferno[round((0.4 + 0.6 * place) * 255)], 0.86 * min(1, place / 0.3) ** 0.8

    for result, value in ((results[1], even[1, 2]), (results[2], even[2, 0])):
        tint, cover = covered(value, 1, 32)
        left = (np.array(result[:3], float) - cover * tint) / (1 - cover)  # the ground
        assert left.max() - left.min() <= 4 / (1 - cover) and 18 - 4 / (1 - cover) <= left.mean() <= 118 + 4 / (1 - cover)
    np.testing.assert_allclose(results[7][:3], under, atol=8)
    np.testing.assert_allclose(results[10][:3], 0.5 * dark + 0.5 * under, atol=8)


def test_every_head_of_the_layer_is_drawn_small_and_can_be_chosen(browser, grid):  # noqa: F811
    page, maps = grid
    results = browser.drive(page, [
        {"open": ""},
        {"evaluate": "new Promise(done => { const wait = () => document.querySelector('.picture h2').textContent ? done(1) : setTimeout(wait, 5); wait(); })"},
        {"evaluate": "document.querySelector('.picture h2').textContent"},
        {"evaluate": "[...document.querySelectorAll('.multiples .tile')].map(t => [t.textContent, t.getAttribute('aria-pressed')])"},
        {"click": ".multiples .tile:nth-child(3)"}, CAPTION, STATE,
        {"press": "["}, CAPTION, {"press": "m"}, CAPTION,
        {"press": "u"}, {"evaluate": "document.querySelector('.picture h2').textContent"},
    ])
    assert_quiet(results)
    assert results[2] == results[12].replace("layer 0", "layer 1") == "all heads of layer 1, on one scale"
    for head, (text, pressed) in enumerate(results[3]):
        falling = np.sort(maps["self.1"][head, 0, 2:])[::-1].cumsum()
        half, most = (int(np.argmax(falling >= share * falling[-1] * (1 - 1e-6))) + 1 for share in (0.5, 0.9))
        assert text == f"head {head} · half in {half}, 90 % in {most} of 12"
        assert pressed == ("true" if head == 0 else "false")
    assert "layer 1, head 2" in results[5] and results[6]["head"] == 2
    assert "layer 0, head 2" in results[8] and "layer 0, mean of 3 heads" in results[10]


def test_rows_of_another_axis_look_at_the_picture(browser, tmp_path):  # noqa: F811
    """As in detection: queries attend to cells."""
    run_file = tmp_path / "run.safetensors"
    maps = write_run(run_file, [axis([f"query {i}" for i in range(5)], "queries"), patches(3, 4, (), "cells")],
                     [("cross.0", "queries", "cells", 2, 2.0, False), ("encoder_self.0", "cells", "cells", 2, 2.0, False)])
    add_picture(run_file, np.full((30, 40, 3), 90, np.uint8))
    ok("open", run_file, "--out", tmp_path / "page.html")
    results = browser.drive(tmp_path / "page.html", [
        {"open": ""}, CAPTION, {"evaluate": "document.querySelectorAll('.chips .token').length"}, FRAME,
        {"press": "ArrowRight"}, CAPTION, point("click", 1, 1), STATE,
        {"evaluate": "document.querySelector('.value').textContent"}, {"press": "r"}, CAPTION, FRAME,
        {"open": "#s=encoder_self.0"}, CAPTION, FRAME, {"press": "ArrowUp"}, CAPTION,
    ])
    assert_quiet(results)
    cross = maps["cross.0"][0]
    assert results[1].startswith('Row 0 "query 0"') and results[1].endswith("sum 1.00") and results[2] == 5 and results[3] is None
    assert results[5].startswith('Row 1 "query 1"')
    assert (results[7]["token"], results[7]["other"]) == (1, 5)
    assert abs(float(results[8].lstrip("< ")) - cross[1, 5]) < CLOSE
    assert results[10].startswith('Column 5 "patch 1,1" ← who attends to it') and results[11] == [1, 1]
    assert results[13].startswith('Row 6 "patch 1,2"') and results[14] == [1, 2]  # no token in front: the middle
    assert results[16].startswith('Row 2 "patch 0,2"')


@pytest.mark.parametrize("width", [420, 768, 1280])
def test_nothing_is_cut_at_any_width(browser, grid, width, tmp_path):  # noqa: F811
    results = browser.drive(grid[0], [
        {"open": "", "width": width, "dark": width == 768},
        {"evaluate": "[document.documentElement.scrollWidth, innerWidth]"},
        {"evaluate": "(b => b.width)(document.querySelector('.sheet').getBoundingClientRect())"},
        {"shot": str(tmp_path / "page.png")},
    ])
    assert_quiet(results)
    assert results[1][0] <= results[1][1] and results[2] > 300


def test_the_page_of_a_scene_is_one_sensible_file(browser, tmp_path):  # noqa: F811
    page = tmp_path / "scene.html"
    assert "wrote" in ok("image", SCENE, "--at", "60,100", "--out", page)
    assert page.stat().st_size < 24_000_000
    answer = json.loads(ok("image", SCENE, "--at", "60,100", "--json"))
    results = browser.drive(page, [{"open": ""}, CAPTION, {"weights": [7, 4]}, {"evaluate": "document.querySelectorAll('.multiples .tile').length"}])
    assert_quiet(results)
    assert 'Row 344 "patch 12,7"' in results[1] and "layer 7, head 0" in results[1] and results[3] == 6
    row = weights_of(results[2], (785, 785))[344, 1:].reshape(28, 28)
    np.testing.assert_allclose(row, answer["result"]["panels"][4]["weights"], atol=CLOSE)


def test_one_layer_is_kept_where_all_would_be_large(tmp_path):
    page = tmp_path / "large.html"
    said = ok("image", SCENE, "--size", "384x384", "--out", page)
    assert "holds layer 7 alone, for all 8 would take about" in said and page.stat().st_size < 24_000_000
    assert '"site":"self.7"' in page.read_text() and '"site":"self.6"' not in page.read_text()


def test_wrong_pages_are_told(tmp_path):
    page = tmp_path / "page.html"
    assert_fails(run("image", SCENE, "--mask", "0.6", "--out", page), 2, "--mask", "page")
    assert_fails(run("image", SCENE, "--json", "--out", page), 2, "--json", "page")
    assert_fails(run("image", SCENE, "--pixels", "2", "--out", page), 2, "--pixels", "figures")
    assert_fails(run("image", SCENE, "--layer", "9", "--out", page), 2, "9")
    assert_fails(run("image", SCENE, "--size", "544x544", "--layer", "7", "--out", page), 2, "fovea: --head: ", "MB")
    assert not page.exists()
