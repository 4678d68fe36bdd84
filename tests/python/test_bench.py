"""fovea bench: that every kind of benchmark runs and finds its answer right, never how fast."""

import json
import re

import pytest
from program import assert_fails, ok, run


@pytest.mark.parametrize("name", ["attention_streaming/64/6/32/0", "matmul_packed/128/768/768/0", "tile_exact/64/32"])
def test_a_benchmark_prints_one_readable_row(name):
    lines = ok("bench", name).splitlines()
    assert re.match(r"\d+ threads?, \w+ instructions", lines[0])
    assert lines[2] == name.split("/")[0]
    assert re.fullmatch(r"  .+ +[\d.]+ (µs|ms|s) +spread +[\d.]+ % +[\d.]+ GFLOP/s", lines[3])


def test_names_and_json():
    names = ok("bench", "--list").splitlines()
    for kind in ("matmul_packed", "attention_streaming", "tile_exact", "column_sums", "pyramid_overview"):
        assert any(name.startswith(kind + "/") for name in names)
    assert json.loads(ok("bench", "tile_exact/64/32", "--json"))["benchmarks"][0]["flop"] == 2 * 64 * 64 * 32
    assert "--list" in ok("bench", "--help")


def test_wrong_usage_is_one_line():
    assert_fails(run("bench", "nosuch"), 2, "nosuch", "--list")
    assert_fails(run("bench", "--fast"), 2, "--fast", "--help")
