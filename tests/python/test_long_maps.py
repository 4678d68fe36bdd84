"""Maps of more than 64 positions a side: what is drawn apart or hidden, and what the terminal shows."""

import json
import re
import struct
import unicodedata

import numpy as np
import pytest
from program import assert_fails, ok, run
from test_open import write_run

WORDS = ["[BOS]"] + [f"w{i}" for i in range(150)]


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "run.fovea.safetensors"
    maps = write_run(path, WORDS, heads=3, layers=2, causal=True)
    return path, maps


def size_of(png):
    return struct.unpack(">II", png.read_bytes()[16:24])


def test_a_special_token_is_drawn_apart_and_named_with_its_share(captured, tmp_path):
    path, maps = captured
    out = tmp_path / "map.png"
    ok("open", path, "--layer", 1, "--head", 2, "--out", out, "--sidecar")
    about = json.loads((tmp_path / "map.png.json").read_text())
    share = maps[1, 2, :, 0].sum() / len(WORDS)
    assert f"drawn apart in grey: [BOS] with {100 * share:.0f} % of all weight" in about["caption"]
    assert about["apart"][0]["column"] == 0 and abs(about["apart"][0]["share"] - share) < 1e-5
    assert max(size_of(out)) < 2000


def test_hidden_columns_are_left_out_and_rows_divided_only_if_asked(captured):
    path, maps = captured
    asked = ["open", path, "--layer", 1, "--head", 2, "--view", "matrix", "--json"]
    whole = json.loads(ok(*asked))["result"]
    assert "hidden" not in whole
    facts = json.loads(ok(*asked, "--hide-special"))
    hidden = facts["result"]
    assert hidden["cols"] == whole["cols"][1:]
    np.testing.assert_allclose(np.array(hidden["weights"], float), maps[1, 2, :, 1:] + np.where(maps[1, 2, :, 1:] == 0, np.nan, 0), atol=1e-5)
    assert hidden["hidden"] == [{"column": 0, "share": pytest.approx(maps[1, 2, :, 0].mean(), abs=1e-5)}]
    assert "hidden: [BOS] with" in facts["caption"]
    divided = json.loads(ok(*asked, "--hide-special", "--renormalise"))["result"]
    sums = np.nansum(np.array(divided["weights"], float), axis=1)
    assert sums[0] == 0  # the first row sees nothing else
    np.testing.assert_allclose(sums[1:], 1, atol=1e-5)


def test_what_cannot_be_hidden_is_refused_in_one_line(captured):
    path, _ = captured
    asked = ["open", path, "--view", "matrix"]
    for options, words in [(["--renormalise"], ["--renormalise", "--hide-sinks", "--hide-special"]),
                           (["--head", "max", "--hide-special"], ["--hide-special", "largest or smallest"]),
                           (["--head", 0, "--of", "score", "--hide-sinks"], ["--hide-sinks", "score"]),
                           (["--head", 0, "--needles", -1], ["--needles"]),
                           (["--head", 0, "--cols", "0:1", "--hide-special"], ["hidden"])]:
        result = run(*asked, *options)
        assert result.returncode in (1, 2)
        assert_fails(result, result.returncode, *words)


def width_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize("columns", [80, 100, 160])
@pytest.mark.parametrize("colors", [{}, {"FORCE_COLOR": "2"}, {"FORCE_COLOR": "3"}])
@pytest.mark.parametrize("view", [["--head", 1], ["--view", "heads"], ["--view", "heads", "--layer", "all"]])
def test_the_terminal_draws_a_long_map_no_wider_than_it_is(captured, columns, colors, view):
    path, _ = captured
    said = ok("open", path, *view, environment={"COLUMNS": str(columns), "TERM": "xterm", **colors})
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert max(width_of(line) for line in plain.splitlines()) <= columns
    assert "times even" in plain and "151 tokens" in plain
    if view[0] == "--head":
        assert "[BOS] takes" in plain
        assert ("▀" in plain) == bool(colors)
