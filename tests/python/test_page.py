"""Standalone pages: the viewer that is committed is the one in web/, and a page works in a browser, from file://, offline."""

import base64
import filecmp
import json
import re
import sys

import numpy as np
import pytest
from program import ROOT, assert_fails, ok, run
from safetensors.numpy import save_file
from test_open import axis

sys.path.insert(0, str(ROOT / "tools"))
import web_tools  # noqa: E402

BYTES_OF_384_TOKENS = 15_000_000
# Steps are at most 1 / 1000, so values are within half of that; maps are computed in f32.
CLOSE = 1e-3


@pytest.fixture(scope="session")
def workspace():
    try:
        return web_tools.Workspace()
    except web_tools.Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def browser(workspace):
    try:
        web_tools.browser()
    except web_tools.Unavailable as error:
        pytest.skip(str(error))
    return workspace


def write_run(path, axes, sites):
    """Sites are (name, row axis, column axis, heads, spread, causal); returns the exact maps by name."""
    random = np.random.default_rng(3)
    counts = {each["name"]: len(each["positions"]) for each in axes}
    tensors, about, maps = {}, [], {}
    for name, rows, cols, heads, spread, causal in sites:
        q = random.normal(size=(heads, counts[rows], 32)).astype(np.float32)
        k = random.normal(size=(heads, counts[cols], 32)).astype(np.float32)
        # Heads from even to peaked.
        q *= np.linspace(0.1, spread, heads, dtype=np.float32)[:, None, None]
        scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)
        if causal:
            scores[:, np.arange(counts[cols]) > np.arange(counts[rows])[:, None]] = -np.inf
        most = scores.max(axis=-1)
        lse = most + np.log(np.exp(scores - most[..., None]).sum(axis=-1))
        maps[name] = np.exp(scores - lse[..., None])
        tensors |= {f"{name}.q": q, f"{name}.k": k, f"{name}.lse": lse}
        about.append(site_of(name, rows, cols, causal))
    save_run(path, axes, about, tensors)
    return maps


def write_even_run(path, tokens, heads):
    """One layer that looks everywhere alike: long ones take no time."""
    zeros = np.zeros((heads, tokens, 32), np.float32)
    lse = np.full((heads, tokens), np.log(tokens))
    save_run(path, [axis(["a"] * tokens)], [site_of("self.0", "tokens", "tokens", False)],
             {"self.0.q": zeros, "self.0.k": zeros.copy(), "self.0.lse": lse})


def site_of(name, rows, cols, causal):
    rule = {"scale": 1.0, "soft_cap": 0.0, "query_offset": 0, "behind": None, "ahead": 0 if causal else None, "bias": "none"}
    return {"site": name, "rows": rows, "cols": cols, "rule": rule}


def save_run(path, axes, sites, tensors):
    save_file(tensors, path, {"fovea": json.dumps(
        {"format_version": 1, "model": "tiny-bert", "model_hash": "0f3a", "axes": axes, "sites": sites})})


def weights_of(text, shape):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(shape)


def assert_quiet(results):
    assert results[-1] == {"console": [], "requests": []}


@pytest.fixture(scope="module")
def cat(tmp_path_factory):
    """A causal run of a few words of several scripts, its page, and the exact maps."""
    folder = tmp_path_factory.mktemp("cat")
    words = ["[CLS]", "the", "cat", "chas|ing", "שלום", "مرحبا", "日本", "👩‍👩‍👧", "<b>it</b>", "[SEP]"]
    maps = write_run(folder / "cat.fovea.safetensors", [axis(words)],
                     [(f"self.{layer}", "tokens", "tokens", 4, 2.0, True) for layer in range(3)])
    ok("open", folder / "cat.fovea.safetensors", "--out", folder / "cat.html")
    return folder, maps


def test_the_committed_viewer_is_built_from_web(workspace, tmp_path):
    result = workspace.build(tmp_path)
    assert result.returncode == 0, result.stderr
    for name in web_tools.BUILT_FILES:
        assert filecmp.cmp(tmp_path / name, web_tools.BUILT / name, shallow=False), (
            f"fovea/webfiles/{name} is not what web/ gives; run python3 tools/web_tools.py build")
    assert web_tools.same_files(tmp_path / web_tools.BUILT_APP, web_tools.BUILT / web_tools.BUILT_APP), (
        "fovea/webfiles/app is not what web/ gives; run python3 tools/web_tools.py build")


def test_the_sources_are_well_typed(workspace):
    result = workspace.check_types()
    assert result.returncode == 0, result.stdout


def test_the_core_agrees_with_the_vectors_of_cpp(workspace):
    result = workspace.check_units()
    assert result.returncode == 0, result.stdout


def test_a_page_is_one_file_and_names_what_it_is(cat):
    text = (cat[0] / "cat.html").read_text()
    assert "default-src 'none'" in text and "tiny-bert · self-attention" in text
    assert not re.search(r"https?://", text)
    assert sorted(path.name for path in cat[0].iterdir()) == ["cat.fovea.safetensors", "cat.html"]


def test_hovering_pinning_and_flipping_change_the_caption(browser, cat):
    caption = {"evaluate": "document.querySelector('#fovea-caption').textContent.replace(/[\\u2068\\u2069]/g, '')"}
    state = {"evaluate": "fovea.state()"}
    results = browser.drive(cat[0] / "cat.html", [
        {"open": ""}, caption,
        {"hoverCell": [4, 2]}, caption, {"evaluate": "document.querySelector('.value').textContent"},
        {"click": ".views button:nth-child(1)"}, {"hover": "[data-i='2']"}, caption,
        {"click": "[data-i='2']"}, {"press": "r"}, caption, state,
        {"press": "r"}, caption,
        {"evaluate": "history.back(), new Promise(done => addEventListener('popstate', () => setTimeout(() => done(fovea.state().column), 50)))"},
    ])
    assert_quiet(results)
    weight, total = cat[1]["self.2"][0], cat[1]["self.2"][0].sum(axis=0)
    assert results[1] == "Rows attend to columns · layer 2, head 0 · softmax weight · each row sums to 1.00"
    assert results[3] == 'Row 4 "ing" → what it attends to · layer 2, head 0 · softmax weight · sum 1.00'
    assert abs(float(results[4]) - weight[4, 2]) < CLOSE
    assert results[7] == 'Row 2 "cat" → what it attends to · layer 2, head 0 · softmax weight · sum 1.00'
    assert results[10] == f'Column 2 "cat" ← who attends to it · layer 2, head 0 · softmax weight · sum {total[2]:.2f}'
    assert (results[11]["column"], results[11]["token"]) == (True, 2)
    assert results[13] == results[7]
    assert results[14] is True  # Back undoes the last flip


def test_every_key_of_the_help_works(browser, cat):
    state = {"evaluate": "fovea.state()"}
    keys = ["2", "[", "[", ".", "}", ",", "ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowDown", "m", "x", "x", "c", "u", "g",
            "t", "Escape", "v", "v", "ArrowUp", "v", "ArrowRight", "?", "Escape", "r"]
    steps = [{"open": ""}]
    for key in keys:
        steps += [{"press": key}, state]
    steps.append({"evaluate": "document.querySelector('dialog').open"})
    results = browser.drive(cat[0] / "cat.html", steps)
    assert_quiet(results)
    after = {}
    for place, key in enumerate(keys):
        after[place] = results[2 + 2 * place]

    def is_now(place, **wanted):
        assert {name: after[place][name] for name in wanted} == wanted, keys[: place + 1]

    is_now(0, view="matrix", site=2)
    is_now(2, site=0)
    is_now(4, head=2)
    is_now(5, head=1)
    is_now(6, token=0, other=0)
    is_now(7, token=0, other=1)
    is_now(8, token=1, other=1)
    is_now(9, token=10, other=1)  # the last row
    is_now(10, head="mean")
    is_now(11, head="max")
    is_now(12, head=0)
    is_now(13, colors="inferno")
    is_now(14, ownRange=False)
    is_now(15, curve="sqrt")
    is_now(16, theme="light")
    is_now(17, token=None, other=None)
    is_now(18, view="heads")
    is_now(19, view="read")
    is_now(20, view="read", token=9)  # the last word, which was suggested
    is_now(21, view="matrix")
    is_now(22, token=9, other=0)
    is_now(25, column=True)
    assert results[-2] is False


def test_the_address_keeps_the_state(browser, cat):
    fragment = "#s=self.0&h=3&v=read&c=1&t=4&m=cividis"
    results = browser.drive(cat[0] / "cat.html", [
        {"open": fragment}, {"evaluate": "fovea.state()"}, {"press": "]"}, {"evaluate": "location.hash"},
        {"open": "#s=nowhere&t=99&v=pie"}, {"evaluate": "fovea.state().view"},
    ])
    assert_quiet(results)
    wanted = {"site": 0, "head": 3, "view": "read", "column": True, "token": 4, "colors": "cividis"}
    assert {name: results[1][name] for name in wanted} == wanted
    assert results[3] == fragment.replace("self.0", "self.1")
    assert results[5] == "matrix"


def test_pixels_are_the_colours_of_the_weights(browser, cat):
    """Reads the canvas back: every cell has its colour, cells that are not allowed have none of the map's."""
    results = browser.drive(cat[0] / "cat.html", [
        {"open": "#s=self.1&h=2&m=viridis&u=0"},
        {"evaluate": """(() => {
            const canvas = document.querySelector('canvas.cells'), n = 11;
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const cell = canvas.width / n, cells = [];
            for (let row = 0; row < n; ++row) for (let col = 0; col < n; ++col) {
              const at = 4 * (Math.floor((row + 0.5) * cell) * canvas.width + Math.floor((col + 0.5) * cell));
              cells.push([...pixels.slice(at, at + 3)]);
            }
            return { cells, table: JSON.parse(document.getElementById('fovea-page').textContent).colors.viridis };
        })()"""},
    ])
    assert_quiet(results)
    cells = np.array(results[1]["cells"]).reshape(11, 11, 3)
    table = np.frombuffer(base64.b64decode(results[1]["table"]), np.uint8).reshape(256, 3).astype(int)
    exact, high = cat[1]["self.1"][2], max(maps.max() for maps in cat[1].values())
    for row in range(11):
        for col in range(11):
            distance = np.abs(table - cells[row, col]).sum(axis=1)
            if col > row:
                assert distance.min() > 0, (row, col)
            else:
                place = exact[row, col] / high * 255
                # One entry of the table more or less, where the step of the code crosses its border.
                assert distance[max(0, int(place - 0.5)) : int(place + 2.5)].min() == 0, (row, col)


def test_read_marks_the_word_and_shades_the_others(browser, cat):
    results = browser.drive(cat[0] / "cat.html", [
        {"open": "#v=read&t=4"},
        {"evaluate": "[...document.querySelectorAll('[data-i]')].map(e => [e.textContent, e.className])"},
        {"evaluate": "document.querySelectorAll('b').length"},
        {"evaluate": "document.querySelector('.running').textContent.replace(/\\u200b/g, '')"},
    ])
    assert_quiet(results)
    words = results[1]
    assert [text for text, _ in words] == ["[CLS]", "the", "cat", "chas", "ing", "שלום", "مرحبا", "日本", "👩‍👩‍👧", "<b>it</b>", "[SEP]"]
    assert "chosen" in words[4][1] and "special" in words[0][1]
    assert ["forbidden" in style for _, style in words] == [False] * 5 + [True] * 6
    assert results[2] == 0  # a token is text, never markup
    assert results[3] == "[CLS]the cat chasing שלום مرحبا 日本 👩‍👩‍👧 <b>it</b>[SEP]"


def test_it_is_usable_by_keyboard_and_screen_reader(browser, cat):
    results = browser.drive(cat[0] / "cat.html", [
        {"open": "#t=4&o=2"},
        {"evaluate": "new Promise(done => setTimeout(() => done(document.querySelector('[role=status]').textContent.replace(/[\\u2068\\u2069]/g, '')), 400))"},
        {"evaluate": "[...document.querySelectorAll('button, select')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim())).length"},
        {"evaluate": "[...document.querySelectorAll('.strip .label bdi')].every(e => e.dir === 'auto')"},
        {"evaluate": "document.querySelector('.matrix').focus(), getComputedStyle(document.querySelector('.matrix')).outlineStyle"},
        {"click": ".data summary"},
        {"evaluate": "[...document.querySelectorAll('.data tbody tr')].map(e => e.children[3].textContent)"},
    ])
    assert_quiet(results)
    weight = cat[1]["self.2"][0][4]
    rank = 1 + int((weight > weight[2]).sum())
    assert results[1] == f"row ing, column cat, {weight[2]:.4f}, rank {rank} of 5"
    assert results[2] == 0
    assert results[3] is True
    assert results[4] != "none"
    assert np.allclose([float(text) for text in results[6]], np.sort(weight[:5])[::-1], atol=CLOSE)


@pytest.mark.parametrize("view", ["read", "matrix", "heads"])
def test_nothing_is_cut_at_any_width_and_both_themes_paint(browser, cat, view, tmp_path):
    steps, places = [], []
    for width in (360, 800, 1400):
        for dark in (False, True):
            steps += [{"open": f"#v={view}&t=4", "width": width, "dark": dark}, {"shot": str(tmp_path / f"{width}-{dark}.png")},
                      {"evaluate": "[document.documentElement.scrollWidth, document.documentElement.dataset.theme]"}]
            places.append((width, dark))
    results = browser.drive(cat[0] / "cat.html", steps)
    assert_quiet(results)
    for place, (width, dark) in enumerate(places):
        assert results[3 * place + 2] == [width, "dark" if dark else "light"]
        assert (tmp_path / f"{width}-{dark}.png").stat().st_size > 10_000


def test_switching_the_theme_repaints_what_is_drawn(browser, cat):
    hatch = {"evaluate": """(() => { const canvas = document.querySelector('canvas.cells');
        return [...canvas.getContext('2d').getImageData(canvas.width - 6, 4, 2, 2).data].join(); })()"""}
    results = browser.drive(cat[0] / "cat.html", [{"open": ""}, hatch, {"press": "t"}, {"press": "t"}, hatch])
    assert_quiet(results)
    assert results[1] != results[4]


def test_all_heads_of_384_tokens_are_small_and_right(browser, tmp_path):
    words = ["[CLS]", *[f"word{i}" for i in range(382)], "[SEP]"]
    # From even (0.1) to peaked: with a spread of 4 a row is nearly one cell.
    maps = write_run(tmp_path / "large.fovea.safetensors", [axis(words)],
                     [(f"self.{layer}", "tokens", "tokens", 12, 4.0, layer == 0) for layer in range(12)])
    said = ok("open", tmp_path / "large.fovea.safetensors", "--out", tmp_path / "large.html")
    assert "large.html" in said
    assert (tmp_path / "large.html").stat().st_size <= BYTES_OF_384_TOKENS
    steps = [{"open": ""}] + [{"weights": [layer, head]} for layer in range(12) for head in range(12)]
    results = browser.drive(tmp_path / "large.html", steps)
    assert_quiet(results)
    peaks = []
    for place in range(144):
        exact = maps[f"self.{place // 12}"][place % 12]
        shown = weights_of(results[1 + place], (384, 384))
        forbidden = np.isnan(shown)
        assert (exact[forbidden] == 0).all()
        assert forbidden.sum() == (384 * 383 // 2 if place < 12 else 0)
        assert np.abs(np.where(forbidden, 0, shown) - exact).max() < CLOSE
        peaks.append(exact.max())
    assert max(peaks) > 0.99 and min(peaks) < 0.05  # peaked and even ones were among them


def test_two_texts_are_shown_side_by_side(browser, tmp_path):
    source = axis(["I", "love", "music"]) | {"name": "source"}
    target = axis(["[BOS]", "J'", "aime", "la", "musique"]) | {"name": "target"}
    maps = write_run(tmp_path / "pair.fovea.safetensors", [source, target],
                     [("encoder_self.0", "source", "source", 2, 2.0, False), ("cross.0", "target", "source", 2, 2.0, False)])
    ok("open", tmp_path / "pair.fovea.safetensors", "--out", tmp_path / "pair.html")
    caption = {"evaluate": "document.querySelector('#fovea-caption').textContent.replace(/[\\u2068\\u2069]/g, '')"}
    results = browser.drive(tmp_path / "pair.html", [
        {"open": "#s=cross.0&v=read&t=2"}, caption, {"evaluate": "document.querySelectorAll('.passage').length"},
        {"click": ".passage:nth-child(2) [data-i='1']"}, {"evaluate": "fovea.state()"}, {"press": "r"}, caption,
        {"weights": [1, 1]},
    ])
    assert_quiet(results)
    assert results[1].startswith('Row 2 "aime" → what it attends to')
    assert results[2] == 2
    assert (results[4]["token"], results[4]["other"]) == (2, 1)
    assert results[6].startswith('Column 1 "love" ← who attends to it')
    assert np.abs(weights_of(results[7], (5, 3)) - maps["cross.0"][1]).max() < CLOSE


def test_what_a_page_cannot_hold_is_refused(cat, tmp_path):
    path = cat[0] / "cat.fovea.safetensors"
    assert_fails(run("open", path, "--words", "--out", tmp_path / "x.html"), 2, "fovea: --words: a page shows every token")
    assert_fails(run("open", path, "--view", "lines", "--out", tmp_path / "x.html"), 2, "lines")
    assert_fails(run("open", path, "--layer", 7, "--out", tmp_path / "x.html"), 2, "layer 7")
    assert_fails(run("open", path, "--out", tmp_path / "none/x.html"), 1, "none")
    write_even_run(tmp_path / "long.fovea.safetensors", 4096, 12)
    assert_fails(run("open", tmp_path / "long.fovea.safetensors", "--out", tmp_path / "x.html"), 2,
                 "fovea: --layer: a page of 12 maps of 4096 x 4096", "MB")
    assert not (tmp_path / "x.html").exists()
    ok("open", tmp_path / "long.fovea.safetensors", "--layer", 0, "--head", 3, "--out", tmp_path / "x.html")
    assert (tmp_path / "x.html").stat().st_size < 20_000_000


def test_the_documented_code_reads_a_page(cat):
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs/html-page.md").read_text(), re.DOTALL).group(1)
    scope = {}
    exec(code.replace('"page.html"', repr(str(cat[0] / "cat.html"))), scope)
    weights, exact = scope["weights"], cat[1]["self.0"][0]
    assert (np.isnan(weights) == (np.arange(11) > np.arange(11)[:, None])).all()
    assert np.abs(np.nan_to_num(weights) - exact).max() < CLOSE
