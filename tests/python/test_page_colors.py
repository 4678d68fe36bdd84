"""Pages in a browser: the pixels of cells and bins, and the colour bar, are those of the numbers, for all that is drawn on every scale."""

import base64
import json
import re

import numpy as np
import pytest

from program import assert_fails, ok, run
from test_open import axis
from test_page import assert_quiet, browser, workspace, write_run  # noqa: F401
from test_picture_page import add_picture, patches, pixel

TOKENS = 700
STEP = 0.5 / 65000  # weights of a small page are so far from the exact ones

PIXELS = {"evaluate": """(() => {
    const canvas = document.querySelector('canvas.cells'), bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let text = '';
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return [canvas.width, canvas.height, btoa(text)];
})()"""}
# Of every tick its text, its place and the colour of the bar there.
TICKS = {"evaluate": """[...document.querySelectorAll('.ticks span')].map(tick => {
    const place = parseFloat(tick.style.insetInlineStart) / 100;
    return [tick.textContent, place, [...document.querySelector('.scale canvas').getContext('2d').getImageData(Math.round(255 * place), 0, 1, 1).data.slice(0, 3)]];
})"""}
NOTES = {"evaluate": "[document.querySelector('.scale h2').textContent, document.querySelector('.scale .note').textContent]"}
CAPTION = {"evaluate": "document.querySelector('#fovea-caption').textContent.replace(/[\\u2068\\u2069]/g, '')"}


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    """A causal map of 700 tokens, and one of 700 x 90 without a mask."""
    folder = tmp_path_factory.mktemp("long")
    rows, cols = axis([f"w{i}" for i in range(TOKENS)]), axis([f"c{i}" for i in range(90)]) | {"name": "columns"}
    maps = write_run(folder / "run.safetensors", [rows, cols],
                     [("self.0", "tokens", "tokens", 1, 0.4, True), ("cross.0", "tokens", "columns", 1, 0.4, False)])
    ok("open", folder / "run.safetensors", "--out", folder / "page.html")
    return folder, maps


def colors_of(page, name):
    header = json.loads(re.search(r'id="fovea-page">(.*?)</script>', page.read_text(), re.DOTALL).group(1))
    return np.frombuffer(base64.b64decode(header["colors"][name]), np.uint8).reshape(256, 3)


def pixels_of(result):
    width, height, text = result
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)[..., :3]


def place_on(scale, values):
    low, high, curve = scale
    if curve == "log":
        return np.log(np.maximum(values, 1e-300) / low) / np.log(high / low)
    share = np.maximum((values - low) / (high - low), 0)
    return np.sqrt(share) if curve == "sqrt" else share


def entry_of(scale, values):
    return np.round(np.clip(place_on(scale, values), 0, 1) * 255).astype(int)


def binned(weights, allowed, block, of):
    """Rows by mean, columns by sum; times even over what even attention gives. Values, and how far steps may put them off."""
    rows, cols = (-(-size // block) for size in weights.shape)
    pool = lambda cells: np.add.reduceat(np.add.reduceat(cells, np.arange(rows) * block, 0), np.arange(cols) * block, 1)
    count = np.minimum(block, weights.shape[0] - np.arange(rows) * block)[:, None]
    share = pool(weights) / count
    off = pool(allowed * STEP) / count
    even = pool(allowed / np.maximum(allowed.sum(1, keepdims=True), 1)) / count
    forbidden = even == 0
    if of == "times-even":
        share, off = (part / np.where(forbidden, 1, even) for part in (share, off))
    return np.where(forbidden, np.nan, share), off


def assert_colors(pixels, table, scale, values, off):
    """Every cell has an entry of the table that its value can have, give or take one; what is forbidden has one colour that no value has."""
    forbidden = np.isnan(values)
    if forbidden.any():
        assert (pixels[forbidden] == (234, 234, 240)).all()
    known = ~forbidden
    least, most = (np.clip(entry_of(scale, values[known] + sign * (off[known] + 2e-6)) + sign, 0, 255) for sign in (-1, 1))
    first, last = ({tuple(color): i for i, color in order} for order in (reversed(list(enumerate(table.tolist()))), enumerate(table.tolist())))
    colors, which = np.unique(pixels[known], axis=0, return_inverse=True)
    assert all(tuple(color) in first for color in colors.tolist())
    # An entry may stand twice in a table.
    begin, end = (np.array([found[tuple(color)] for color in colors.tolist()])[which.ravel()] for found in (first, last))
    assert ((begin <= most) & (end >= least)).all()
    assert np.mean(most - least <= 4) > 0.5  # most of it is told to a step or two


def value_of(text):
    if text in ("even", "even or less"):
        return 1
    if text[0] in "×÷":
        return float(text[1:]) if text[0] == "×" else 1 / float(text[1:])
    return float(text.replace("\u2212", "-"))


def usual_scale(of, curve, values):
    if curve == "log":
        return (1 / 32, 32, "log") if of == "times-even" else (1e-5, 1, "log")
    return 0, round_end(np.nanmax(values)), curve


def round_end(largest):
    """Where the colours of weights end: the next of these and their tenfolds."""
    power = 10 ** np.floor(np.log10(largest))
    return next(step for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if largest <= step * power * (1 + 1e-5)) * power


def assert_bar(ticks, table, scale):
    assert len(ticks) >= 3
    for text, place, color in ticks:
        assert abs(place - place_on(scale, value_of(text))) < 1 / 255 or scale[2] == "sqrt" and value_of(text) == 0, text
        near = table[max(0, round(place * 255) - 1) : round(place * 255) + 2]
        assert (near == color).all(-1).any(), text


@pytest.mark.parametrize("of", ["weight", "times-even"])
@pytest.mark.parametrize("curve", ["linear", "sqrt", "log"])
@pytest.mark.parametrize("site", ["self.0", "cross.0"])
def test_cells_bins_and_the_bar_have_the_colours_of_the_numbers(browser, long_run, of, curve, site):  # noqa: F811
    page, exact = long_run[0] / "page.html", long_run[1][site][0]
    allowed = np.tri(TOKENS) if site == "self.0" else np.ones(exact.shape)
    zoomed = [{"press": "+"}] * 5  # bins of 2 become cells of 1, 2, 3, 4, 6 pixels
    results = browser.drive(page, [
        {"open": f"#s={site}&f={of}&g={curve}", "width": 1440, "height": 900}, PIXELS, TICKS, CAPTION, *zoomed, PIXELS, TICKS, CAPTION,
        {"evaluate": "[document.querySelector('.scroll').scrollLeft, document.querySelector('.scroll').scrollTop]"}])
    assert_quiet(results)
    table = colors_of(page, "paper")  # on a light page
    values, off = binned(exact, allowed, 2, of)
    # The ends are those of a figure, whose bins are of 2 from 512 on.
    scale = usual_scale(of, curve, values)
    whole = pixels_of(results[1])
    assert whole.shape[:2] == values.shape and "per bin of 2 × 2: rows by mean, columns by sum" in results[3]
    assert_colors(whole, table, scale, values, off)
    assert_bar(results[2], table, scale)
    cells = pixels_of(results[9])
    assert "per bin" not in results[11]
    assert_bar(results[10], table, scale)
    values, off = binned(exact, allowed, 1, of)
    left, top = results[12]
    y, x = np.arange(cells.shape[0]), np.arange(cells.shape[1])
    place = np.ix_(((y + top) // 6).astype(int), ((x + left) // 6).astype(int))
    assert_colors(cells, table, scale, values[place], off[place])


def test_running_text_has_the_colours_of_rows_and_columns(browser, tmp_path):  # noqa: F811
    count = 40
    maps = write_run(tmp_path / "run.safetensors", [axis([f"w{i}" for i in range(count)])], [("self.0", "tokens", "tokens", 1, 0.5, True)])
    ok("open", tmp_path / "run.safetensors", "--out", tmp_path / "page.html")
    weights, table = maps["self.0"][0], colors_of(tmp_path / "page.html", "paper")
    marks = {"evaluate": "[...document.querySelectorAll('[data-i]')].map(e => (e.style.background.match(/\\d+/g) || []).map(Number))"}
    steps = []
    for column in (0, 1):
        for curve in ("linear", "sqrt", "log"):
            steps += [{"open": f"#v=read&t=21&c={column}&f=times-even&g={curve}"}, marks, TICKS]
    results = browser.drive(tmp_path / "page.html", steps)
    assert_quiet(results)
    seen = np.arange(1, count + 1)
    for place, (column, curve) in enumerate([(c, k) for c in (0, 1) for k in ("linear", "sqrt", "log")]):
        line = weights[:, 21] * seen if column else weights[21] * 22
        visible = [i for i in range(count) if (i >= 21 if column else i <= 21)]
        scale = usual_scale("times-even", curve, line[visible])
        assert_bar(results[3 * place + 2], table, scale)
        for i, color in enumerate(results[3 * place + 1]):
            if i == 21 or i not in visible:
                assert color == []
                continue
            entry = entry_of(scale, line[i])
            assert (table[max(0, entry - 1) : entry + 2] == color).all(-1).any(), (column, curve, i)


def over(ground, table, places):
    """The colours of places from 0 to 1 over a grey."""
    cover = np.atleast_1d(0.86 * np.minimum(1, places / 0.3) ** 0.8)[:, None]
    tints = table[np.round((0.4 + 0.6 * np.atleast_1d(places)) * 255).astype(int)]
    return ground + (tints - float(ground)) * cover


def test_over_a_picture_times_even_begins_at_even(browser, tmp_path):  # noqa: F811
    maps = write_run(tmp_path / "run.safetensors", [patches(3, 4)], [("self.0", "patches", "patches", 1, 2.0, False)])
    add_picture(tmp_path / "run.safetensors", np.full((30, 40, 3), 90, np.uint8))
    ok("open", tmp_path / "run.safetensors", "--out", tmp_path / "page.html")
    bare = {"evaluate": "(s => { s.value = 100; s.dispatchEvent(new Event('input')); })(document.querySelector('.strength input'))"}
    results = browser.drive(tmp_path / "page.html", [{"open": "#t=3&f=times-even"}, bare, TICKS, *[pixel(row, col) for row in range(3) for col in range(4)]])
    assert_quiet(results)
    table, scale = colors_of(tmp_path / "page.html", "inferno"), (1, 32, "log")
    # The bar shows the colours over a middling ground; one grey is as dark as a ground is.
    places = np.arange(256) / 255
    legend = np.round(over(69, table, places)).astype(int)
    for text, place, color in results[2]:
        assert abs(place - place_on(scale, value_of(text))) < 1 / 255
        assert np.abs(legend[round(place * 255)] - color).max() <= 3, text
    for index, value in enumerate(maps["self.0"][0][3, 2:] * 14):
        near = [over(20, table, np.clip(place_on(scale, value) + step / 255, 0, 1)) for step in (-1, 0, 1)]
        assert min(np.abs(each - results[3 + index][:3]).max() for each in near) <= 3, index


def test_a_page_opens_with_what_was_asked(browser, long_run, tmp_path):  # noqa: F811
    folder, maps = long_run
    ok("open", folder / "run.safetensors", "--site", "self", "--of", "times-even", "--scale", "sqrt", "--range", "0.5:20", "--out", tmp_path / "asked.html")
    ok("open", folder / "run.safetensors", "--site", "self", "--of", "weight", "--scale", "log", "--range", "1%:99%", "--out", tmp_path / "percent.html")
    values, off = binned(maps["self.0"][0], np.tri(TOKENS), 2, "times-even")
    open_it = {"open": "", "width": 1440, "height": 900}
    results = browser.drive(tmp_path / "asked.html", [
        open_it, PIXELS, TICKS, NOTES, {"press": "u"}, TICKS, {"press": "u"}, TICKS, {"press": "e"}, NOTES, {"evaluate": "location.hash"}])
    assert_quiet(results)
    table = colors_of(tmp_path / "asked.html", "paper")
    asked = (0.5, 20, "sqrt")
    assert_colors(pixels_of(results[1]), table, asked, values, off)
    assert_bar(results[2], table, asked)
    assert results[3] == ["weight, times even", "ends as the page was asked for; arrows: some lie beyond"]
    assert_bar(results[5], table, (0, round_end(np.nanmax(values)), "sqrt"))
    assert results[7] == results[2]  # back to what was asked
    assert results[9] == ["attention weight", "up to the largest weight of this map"] and results[10] == "#f=weight&g=&a=0"
    results = browser.drive(tmp_path / "percent.html", [open_it, PIXELS, TICKS, CAPTION])
    assert_quiet(results)
    shares, off = binned(maps["self.0"][0], np.tri(TOKENS), 2, "weight")
    known = np.sort(shares[~np.isnan(shares)])
    low, high = (known[round((len(known) - 1) * percent)] for percent in (0.01, 0.99))
    assert_colors(pixels_of(results[1]), table, (low, high, "log"), shares, off)
    assert f"log colours {low:.3g} to {high:.3g}".replace("e-0", "e-") in results[3]


def test_what_a_page_cannot_draw_is_refused(long_run, tmp_path):
    path, out = long_run[0] / "run.safetensors", tmp_path / "x.html"
    for asked, words in [(("--of", "score"), ["--of", "a page keeps weights"]), (("--of", "value-weighted"), ["--of", "a page keeps weights"]),
                         (("--scale", "log", "--range", "0:1"), ["--range", "above 0"]), (("--range", "2:1"), ["--range", "must rise"]),
                         (("--pool", "max"), ["--pool", "no place on a page"]), (("--rows", "3:9"), ["--rows", "no place on a page"])]:
        assert_fails(run("open", path, "--site", "self", *asked, "--out", out), 2, *words)
    assert not out.exists()


def test_a_bin_tells_its_strongest_cell_and_what_it_shows(browser, long_run):  # noqa: F811
    exact = long_run[1]["self.0"][0]
    hover = {"evaluate": """(space => { const box = space.getBoundingClientRect(), event = kind => new PointerEvent(kind,
        {clientX: box.left + 100.5, clientY: box.top + 250.5, bubbles: true}); space.dispatchEvent(event('pointermove')); })(document.querySelector('.matrix .space'))"""}
    text = {"evaluate": "['.value', '.even', '.pair'].map(name => document.querySelector(name).textContent)"}
    page = long_run[0] / "page.html"
    results = browser.drive(page, [{"open": "#s=self.0", "width": 1440, "height": 900}, hover, text, {"press": "e"}, hover, text])
    assert_quiet(results)
    block = exact[500:502, 200:202]
    row, column = np.unravel_index(block.argmax(), (2, 2))
    weight, times = block.max(), block.max() * (501 + row)
    value, even, pair = results[2]
    assert abs(float(value) - weight) < 1e-4 and abs(value_of(even.removesuffix(" times even")) - times) < 0.05 * times
    assert f"row {500 + row}, column {200 + column}" in pair
    values, _ = binned(exact, np.tri(TOKENS), 2, "times-even")
    told = re.search(r"rows 500–501, columns 200–201, which shows (\S+) times even", pair).group(1)
    assert abs(value_of(told) - values[250, 100]) < 0.02 * values[250, 100]
    assert f"which shows {block.sum() / 2:.3g}"[:16] in results[5][2]


def test_the_whole_of_any_map_is_seen_first(browser, long_run):  # noqa: F811
    seen = {"evaluate": "(s => [s.scrollWidth <= s.clientWidth, s.scrollHeight <= s.clientHeight])(document.querySelector('.scroll'))"}
    steps = []
    for width, height in ((400, 800), (900, 900), (1440, 900)):
        for site in ("self.0", "cross.0"):
            steps += [{"open": f"#s={site}", "width": width, "height": height}, seen]
    results = browser.drive(long_run[0] / "page.html", steps)
    assert_quiet(results)
    assert results[1:-1:2] == [[True, True]] * 6
