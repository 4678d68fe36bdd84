"""The page of `fovea serve` in a browser, on a real server, drawn on the CPU and on the GPU: what web/browser/app plays."""

import gzip
import json
import os
import re
import signal

import numpy as np
import pytest
from program import ROOT
from serving import serving, started
from test_open import axis
from test_page import browser, save_run, site_of, workspace, write_run  # noqa: F401  (fixtures)

APP = ROOT / "fovea/webfiles/app"
EXAMPLES = ROOT / "web/public/examples.json"
BOTH = pytest.mark.parametrize("gl", [0, 1], ids=["cpu", "gpu"])

NAMES = ["[CLS]", "the", "שלום", "مرحبا", "日本", "👩‍👩‍👧", "e\u0301te\u0301", "w" * 60, "<b>it</b>", "[SEP]"]
RIGHT_TO_LEFT = [2, 3]
LONG_TOKENS = 100_352


def causal_run(path, tokens, heads=1, seed=5):
    """A run whose weights are known in closed form: rows of two kinds look at columns of random strength. Gives weight(row, column)."""
    random = np.random.default_rng(seed)
    keys = random.normal(size=(tokens, 2)).astype(np.float32)
    keys[0] += 2
    kinds = (np.arange(tokens) % 3 == 0).astype(int)
    queries = np.zeros((tokens, 2), np.float32)
    queries[np.arange(tokens), kinds] = 1
    exact = np.exp(keys.astype(np.float64))
    lse = np.log(np.cumsum(exact, axis=0))[np.arange(tokens), kinds]
    words = [f"w{i % 977}" for i in range(tokens)]
    words[tokens * 3 // 4] = "needle"
    save_run(path, [axis(words)], [site_of("self.0", "tokens", "tokens", True)],
             {"self.0.q": np.repeat(queries[None], heads, 0), "self.0.k": np.repeat(keys[None], heads, 0), "self.0.lse": np.repeat(lse[None], heads, 0)})
    return lambda row, col: float(np.exp(keys[col, kinds[row]].astype(np.float64) - lse[row]))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    causal_run(folder / "grid.fovea.safetensors", 64)
    causal_run(folder / "middle.fovea.safetensors", 1100)
    weight = causal_run(folder / "long.fovea.safetensors", LONG_TOKENS)
    write_run(folder / "names.fovea.safetensors", [axis(NAMES)], [(f"self.{layer}", "tokens", "tokens", 3, 2.0, False) for layer in range(2)])
    return folder, weight


@pytest.fixture(scope="module")
def server(runs):
    with serving(*sorted(runs[0].glob("*.safetensors"))) as served:
        names = {each["name"].split(".")[0]: each["run"] for each in served.json("/v1/runs")["runs"]}
        yield served, names


@pytest.fixture
def play(browser, server):  # noqa: F811
    served, names = server

    def run(scenario, name, **data):
        base = f"http://127.0.0.1:{served.port}"
        return browser.play(scenario, name, base, {key: names.get(value, value) if isinstance(value, str) else value for key, value in data.items()})

    return run


def test_pages_say_nothing_and_ask_nobody_else(play, server):
    play("text.mjs", "pages", runs=[server[1]["names"]], long="middle")


def test_home_needs_no_model(play):
    play("text.mjs", "home")


@BOTH
def test_every_cell_is_drawn_as_the_server_says(play, gl):
    play("map.mjs", "pixels", gl=gl, run="grid", size=64)


def test_a_wrong_table_would_be_noticed(play):
    with pytest.raises(AssertionError, match="cell .* for "):
        play("map.mjs", "pixels", gl=0, run="grid", size=64, wrong=True)


@pytest.mark.parametrize("zoom", ["0.1.0.0", "0.6.300.150", "0.44.20.4", "1.1.0.0"])
def test_both_back_ends_draw_the_same(play, zoom):
    first, second = (play("map.mjs", "colors", gl=gl, run="middle", zoom=zoom) for gl in (0, 1))
    assert first == second and first[0] > 100


def test_sums_are_those_of_rows_and_columns(play):
    play("text.mjs", "sums", run="names", tokens=[1, 4])


def test_rows_taken_for_columns_would_be_noticed(play):
    with pytest.raises(AssertionError, match="sum of the|largest of the"):
        play("text.mjs", "sums", run="names", tokens=[1, 4], wrong=True)


@BOTH
def test_colours_stay_while_moving(play, gl):
    play("map.mjs", "lock", gl=gl, run="middle")


@BOTH
def test_fifty_jumps_over_a_hundred_thousand_tokens(play, runs, gl):
    random = np.random.default_rng(11 + gl)
    rows = random.integers(300, LONG_TOKENS, 50)
    places = [(int(row), int(random.integers(1, row))) for row in rows]
    play("map.mjs", "jumps", gl=gl, run="long", places=[(row, col, runs[1](row, col)) for row, col in places])


@BOTH
def test_what_is_out_of_view_is_given_up(play, server, gl):
    before = server[0].json("/v1/status")["counts"]
    play("map.mjs", "hurry", gl=gl, run="long")
    after = server[0].json("/v1/status")["counts"]
    assert after["tiles"] > before["tiles"]


def test_dropped_aborts_would_be_noticed(play):
    with pytest.raises(AssertionError, match="given up|were aborted|in flight"):
        play("map.mjs", "hurry", gl=0, run="long", keep=True)


def test_the_eighth_tab_is_there_soon(play):
    assert play("map.mjs", "tabs", run="long")[-1] < 4000  # twice what is wanted: machines of tests are shared


def test_names_of_all_scripts(play):
    play("text.mjs", "labels", run="names", names=NAMES, right=RIGHT_TO_LEFT)


@BOTH
def test_a_map_by_keyboard(play, gl):
    play("map.mjs", "keyboard", gl=gl, run="middle", word="needle")


def test_a_text_by_keyboard(play):
    play("text.mjs", "keyboard", run="names")


def test_nothing_stands_in_anyones_way(play):
    play("text.mjs", "access", run="names", long="middle")


@BOTH
def test_a_theme_repaints_maps(play, gl):
    play("map.mjs", "theme", gl=gl, run="middle")


def test_what_fails_is_said(play):
    play("text.mjs", "failures", long="middle")


def test_a_slow_tile_leaves_no_hole(play):
    play("text.mjs", "slow", long="middle")


def test_a_lost_context_goes_on_without(play):
    play("text.mjs", "context", long="middle")


def test_a_killed_server_is_missed_and_found_again(browser, runs, tmp_path):  # noqa: F811
    import threading

    run = runs[0] / "middle.fovea.safetensors"
    first = started("--port", 0, run)
    name = first.json("/v1/runs")["runs"][0]["run"]
    path, done = tmp_path / "signal", {}
    thread = threading.Thread(target=lambda: done.update(result=_outcome(browser, f"http://127.0.0.1:{first.port}", name, path)))
    thread.start()
    _wait_for(path, "open", thread)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    _mark(path, "killed")
    _wait_for(path, "seen", thread)
    second = started("--port", first.port, run)
    _mark(path, "back")
    thread.join()
    assert second.stop()[0] == 0
    assert done["result"] is None, done["result"]


def _outcome(browser, base, name, path):  # noqa: F811
    try:
        return browser.play("text.mjs", "lost", base, {"long": name, "signal": str(path)})
    except AssertionError as error:
        return str(error)


def _mark(path, name):
    path.with_name(f"{path.name}.{name}").touch()


def _wait_for(path, name, thread):
    while thread.is_alive() and not path.with_name(f"{path.name}.{name}").exists():
        thread.join(0.05)


def test_a_survey_says_what_one_pass_over_all_weights_says(server, runs):
    served, names = server
    tokens = 1100
    weights = np.zeros((tokens, tokens))
    for row in range(tokens):
        weights[row] = np.frombuffer(served.get(f"/v1/runs/{names['middle']}/self/row/0/0/{row}"), "<f4")
    survey = served.json(f"/v1/runs/{names['middle']}/self/survey/0/0")
    sums = weights.sum(axis=0)
    looks = tokens - np.arange(tokens)
    sinks = [j for j in range(tokens) if looks[j] >= tokens / 2 and sums[j] / looks[j] >= 0.1]
    assert [each["column"] for each in survey["sinks"]] == sinks
    best = [int(j) for j in np.argsort(-sums, kind="stable") if j not in sinks][:16]
    assert [each["column"] for each in survey["receivers"]] == best
    assert [each["share"] for each in survey["receivers"]] == pytest.approx(sums[best] / tokens, rel=1e-4)
    distance = np.subtract.outer(np.arange(tokens), np.arange(tokens))
    for each, end in zip(survey["by_distance"], [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], strict=False):
        near = (distance >= each["from"]) & (distance < end)
        assert each["share"] == pytest.approx(weights[near].sum() / tokens, abs=1e-5)
    assert served.ask(f"/v1/runs/{names['middle']}/self/survey/0/mean")[0] == 400


def test_what_rows_may_see_is_told_layer_by_layer(server):
    site = server[0].json(f"/v1/runs/{server[1]['middle']}")["sites"][0]
    assert site["visible"] == [{"offset": 0, "ahead": 0}]
    assert server[0].json(f"/v1/runs/{server[1]['names']}")["sites"][0]["visible"] == [{"offset": 0}] * 2


def packed(path):
    return len(gzip.compress(path.read_bytes(), 9, mtime=0))


def test_sizes_are_within_the_budget():
    scripts = {path.name: packed(path) for path in APP.glob("*.js")}
    first = set(re.findall(r'"\./([\w.-]+\.js)"', (APP / "index.html").read_text()))
    text = (APP / "app.js").read_text()
    first |= set(re.findall(r'from"\./([\w.-]+\.js)"', text)) | set(re.findall(r'import"\./([\w.-]+\.js)"', text))
    assert "app.js" in first
    assert sum(scripts[name] for name in first) <= 60_000, scripts
    assert sum(scripts.values()) <= 120_000, scripts
    assert sum(packed(path) for path in APP.glob("*.css")) <= 12_000
    assert not [path for path in APP.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf")]
    assert EXAMPLES.stat().st_size <= 150_000
    assert sum(path.stat().st_size for path in APP.rglob("*") if path.is_file()) <= 1_200_000


def test_what_is_seen_before_any_script_is_the_example():
    sentence = json.loads(EXAMPLES.read_text())["sentence"]
    page = (APP / "index.html").read_text()
    shown = re.search(r'<p class="sentence">(.*?)</p>', page, re.S).group(1)
    assert re.sub(r"<[^>]*>", "", shown) == sentence["text"]
    codes = np.frombuffer(__import__("base64").b64decode(sentence["maps"]), "<u2").reshape(sentence["layers"], sentence["heads"], 13, 13)
    start = sentence["start"]
    weights = 2.0 ** (32 * (codes[start["layer"], start["head"], start["row"]].astype(float) - 1) / 65532 - 32)
    names = [each["display"] for each in sentence["labels"]]
    assert {names[i]: round(float(weights[i]), 2) for i in (9, 10)} == {"was": 0.12, "tired": 0.77}
    assert '<span class="t pinned">it</span>' in shown and '<span class="t a12">was</span>' in shown and '<span class="t a77">tired</span>' in shown
    assert os.path.getsize(APP / "examples.json") == EXAMPLES.stat().st_size
