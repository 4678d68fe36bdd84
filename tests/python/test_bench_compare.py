"""fovea bench --compare and --growth: turns, ratios, lines and errors, with stand-ins for PyTorch; never how fast.

The real fovea-turns is run on tiny works, and its answers are held against numpy.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

import numpy
import pytest
from program import BUILD, ENVIRONMENT, PROGRAM, ROOT, assert_fails

sys.path.insert(0, str(ROOT / "bench/compare"))
sys.dont_write_bytecode = True

import corpus  # noqa: E402
import families  # noqa: E402
import growth  # noqa: E402
import long_model  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
import turns  # noqa: E402

TURNS = BUILD / "bin/fovea-turns"


# The table ----------------------------------------------------------------------------------------


def test_every_row_can_be_measured_and_has_a_name_of_its_own():
    assert len({row.name for row in rows.ROWS}) == len(rows.ROWS)
    for row in rows.ROWS:
        family = families.FAMILIES[row.group]
        ways = family.ways.keys() | family.derived.keys()
        assert row.way in ways and (row.against in ways if row.limit is None else row.against is None), row.name
    assert {row.group for row in rows.ROWS} == families.FAMILIES.keys()


def test_rows_are_chosen_by_name_and_by_pattern():
    assert [row.name for row in rows.choose(["bert-2048"])] == ["bert-2048"]
    assert [row.name for row in rows.choose(["detr*", "bert-512/bf16"])] == ["bert-512/bf16", "detr", "detr/bf16"]
    extra = {"relevancy/memory", "first-map/maps"}
    assert {row.name for row in rows.ROWS} - {row.name for row in rows.choose([])} == extra
    assert extra <= {row.name for row in rows.choose(["*"])}
    with pytest.raises(rows.WrongUsage, match="'bert'; there are bert-512, "):
        rows.choose(["tile", "bert"])


# Numbers and lines --------------------------------------------------------------------------------


def answers(**ways):
    return {way: [{"seconds": seconds} for seconds in values] for way, values in ways.items()}


def test_a_ratio_is_that_of_the_medians_and_is_held_against_its_target():
    row = rows.Row("x", "", target=0.8)
    found = report.measured(row, answers(fovea=[1, 9, 2, 3, 2], PyTorch=[4, 4, 3, 5, 9]))
    assert (found["ratio"], found["ok"]) == (0.5, True)
    assert found["fovea"] == {"median": 2, "low": 1, "high": 9, "values": [1, 9, 2, 3, 2]}
    assert not report.measured(row, answers(fovea=[0.801], PyTorch=[1]))["ok"]
    within = rows.within("y", "", limit=600, measure="mb")
    found = report.measured(within, {"fovea": [{"mb": 660}, {"mb": 601}, {"mb": 300}]})
    assert (found["ratio"], found["ok"]) == (pytest.approx(601 / 600), False)


def test_speed_of_writing_is_time_per_token_and_shown_as_tokens_per_second():
    row = rows.Row("write", "", target=1.0, measure="tokens")
    found = report.measured(row, {"fovea": [{"seconds": 2, "tokens": 100}], "PyTorch": [{"seconds": 4, "tokens": 100}]})
    assert found["ratio"] == 0.5
    assert report.line(row, found).split() == "write ratio 0.500 target 1.00 ok 50.0/s 0 % 25.0/s 0 %".split()


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.name)
def test_every_line_fits_into_80_columns(row):
    slow = {"seconds": 119.9, "first_seconds": 119.9, "mb": 99_500, "tokens": 1}
    fast = {"seconds": 9.999e-4, "first_seconds": 9.999e-4, "mb": 999.4, "tokens": 64}
    found = report.measured(row, {way: [slow, fast, slow] for way in (row.way, row.against)})
    line = report.line(row, found)
    assert line.startswith(f"{row.name} ") and f" target {row.target:.2f} " in line
    assert len(line) <= 80 and len(report.listed(row)) <= 80 and len(report.heading()) <= 80


def test_amounts_have_three_digits_and_a_unit():
    shown = [report.readable("seconds", seconds) for seconds in (3.1e-4, 9.996e-4, 0.0446, 0.9996, 12.34, 119.6)]
    assert shown == ["310 µs", "1.00 ms", "44.6 ms", "1.00 s", "12.3 s", "120 s"]
    assert [report.readable("mb", mb) for mb in (0.5, 15, 999.6, 12340)] == ["0.50 MB", "15.0 MB", "1.00 GB", "12.3 GB"]


def test_the_exponent_is_the_slope_of_the_logarithms():
    sizes = [512, 1024, 4096]
    assert turns.exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)
    flat = {name: turns.summary([1.0]) for name in growth.MEASURES}
    results = [{**flat, "tokens": n, "seconds": turns.summary([n**2 / 1e6]), "maps_stored_mb": n**2 / 1e4} for n in growth.LENGTHS]
    found = growth.exponents(results)
    assert (found["from"], found["to"]) == (8192, 32768)
    assert growth.verdict(found).startswith("time grows as N^2.00 and memory as N^0.00 from 8,192 to 32,768")
    assert all(len(growth.line(result)) <= 80 for result in results) and len(growth.COLUMNS) <= 80


# Turns --------------------------------------------------------------------------------------------


class Way:
    child = None

    def __init__(self, name, log, given=()):
        self.name, self.log, self.given = name, log, iter(given)

    def turn(self, timeout):
        self.log.append(self.name)
        return {"seconds": len(self.log), **next(self.given, {})}


def test_ways_take_turns_and_the_first_round_does_not_count():
    log = []
    found, busy = turns.take_turns({"a": Way("a", log), "b": Way("b", log)}, rounds=2, timeout=1)
    assert log == ["a", "b"] * 3
    assert found == {"a": [{"seconds": 3}, {"seconds": 5}], "b": [{"seconds": 4}, {"seconds": 6}]}
    assert busy == 0
    log.clear()
    found, _ = turns.take_turns({"a": Way("a", log), "b": Way("b", log)}, rounds=1, timeout=1, cold=["a"])
    assert log == ["b", "a", "b"] and found == {"a": [{"seconds": 2}], "b": [{"seconds": 3}]}


@pytest.mark.parametrize("numbers, refused", [([1, 2.0009], None), ([1, 2.01], "has 2 where b has 2.01"), ([1], "2 and 1 numbers"),
                                              ([1, float("nan")], "has nan")])
def test_a_fast_wrong_answer_is_no_result(numbers, refused):
    ways = {"a": Way("a", [], [{"answer": [1, 2]}]), "b": Way("b", [], [{"answer": numbers}])}
    if refused is None:
        turns.take_turns(ways, 1, 1, cold=["a", "b"])
        return
    with pytest.raises(turns.Failed, match=refused):
        turns.take_turns(ways, 1, 1, cold=["a", "b"])


def test_a_process_that_does_not_answer_is_ended():
    child = turns.Child(["cat"], ENVIRONMENT)
    with pytest.raises(turns.Failed, match="no answer for 0.1 s"):
        child.read(timeout=0.1)
    assert child.process.poll() is not None and child not in turns.Child.alive
    with pytest.raises(turns.Failed, match="ended before"):
        child.ask("", timeout=1)


def test_a_process_that_ends_tells_why():
    child = turns.Child(["sh", "-c", "echo some >&2; echo no such file >&2; exit 3"], ENVIRONMENT)
    with pytest.raises(turns.Failed, match="sh ended with code 3: no such file"):
        child.read(timeout=30)
    with pytest.raises(turns.Failed, match="nosuch-program cannot be run"):
        turns.Child(["nosuch-program"], ENVIRONMENT)


def test_a_command_is_timed_from_start_to_end(tmp_path):
    page = tmp_path / "page"
    made = turns.Command(["sh", "-c", f"echo 7; printf 12345 >'{page}'"], ENVIRONMENT, answer=lambda out: [int(out)], file=page)
    found = made.turn(timeout=30)
    assert (found["answer"], found["mb"]) == ([7], 5e-6) and found["seconds"] > 0
    with pytest.raises(turns.Failed, match="sh -c: too bad"):
        turns.Command(["sh", "-c", "echo too bad >&2; exit 1"], ENVIRONMENT).turn(timeout=30)


# The program, with stand-ins ----------------------------------------------------------------------

# Answers each work's seconds; PyTorch's needs twice as long.
TURNS_STANDIN = """#!/bin/sh
echo '{}'
while read -r line; do echo '{"seconds": 1.5, "mb": 500, "tokens": 10}'; done
"""
PYTHON_STANDIN = """#!/bin/sh
echo '{"python": "3.11.0", "torch": "2.99.0+cpu", "transformers": "5.99.0"}'
while read -r line; do echo '{"seconds": 3.0, "tokens": 10}'; done
"""


@pytest.fixture
def bench(tmp_path):
    """Runs `fovea bench` with these beside it, in a cache of its own."""
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o755)
        return path

    program = write(tmp_path / "bin/fovea", PROGRAM.read_bytes())
    standin = write(tmp_path / "bin/fovea-turns", TURNS_STANDIN)
    python = write(tmp_path / "torch/python", PYTHON_STANDIN)
    cache = tmp_path / "cache"
    for name in ("bert", "gpt2", "gpt2-long"):
        (cache / "bench/checkpoints" / name).mkdir(parents=True)

    def start(*words, **variables):
        surroundings = {**ENVIRONMENT, "FOVEA_CACHE": str(cache), "FOVEA_BENCH_PYTHON": str(python), **variables}
        return subprocess.Popen([program, "bench", *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, env=surroundings)

    def call(*words, **variables):
        process = start(*words, **variables)
        out, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, errors)

    call.start, call.turns, call.python, call.cache = start, standin, python, cache
    return call


def test_a_comparison_prints_a_line_for_each_row_and_keeps_its_numbers(bench, tmp_path):
    out = tmp_path / "result.json"
    result = bench("--compare", "attention-512", "gpt2-4096*", "--rounds", 2, "--threads", 1, "--out", out)
    assert (result.returncode, result.stderr) == (0, "")
    assert "1 threads; PyTorch 2.99.0+cpu, transformers 5.99.0" in result.stdout
    lines = [line.split() for line in result.stdout.splitlines() if " ratio " in line]
    assert [" ".join(words[:6]) for words in lines] == [
        "gpt2-4096 ratio 0.500 target 0.70 ok", "gpt2-4096/memory ratio 0.333 target 1.00 ok",
        "gpt2-4096/bf16 ratio 0.500 target 0.85 ok", "attention-512 ratio 0.500 target 1.00 ok"]
    lines = result.stdout.splitlines()
    assert [line for line in lines[1:] if len(line) > 80 and not line.startswith("written: ")] == []  # the first names the processor
    kept = json.loads(out.read_text())
    assert kept["kind"] == "compare" and kept["versions"]["torch"] == "2.99.0+cpu" and kept["threads"] == 1
    assert {"cpu", "cores", "memory_gb", "os"} <= kept["machine"].keys()
    assert kept["rows"][0]["PyTorch"]["values"] == [3.0, 3.0] and kept["failed"] == []
    assert kept["seconds_of"].keys() == {"gpt2-4096", "gpt2-4096/bf16", "attention-512"} and not kept["complete"]
    printed = bench("--compare", "attention-512", "--rounds", 1, "--json")
    assert json.loads(printed.stdout)["rows"][0]["ratio"] == 0.5


def test_both_sides_are_held_to_an_instruction_set_by_their_own_switches(bench, tmp_path):
    bench.turns.write_text(TURNS_STANDIN.replace("echo '{}'", f"env >{tmp_path}/turns; echo '{{\"isa\": \"AVX2\"}}'"))
    bench.python.write_text(PYTHON_STANDIN.replace("echo '{", f"env >{tmp_path}/host; echo '{{\"isa\": \"AVX2\", ", 1))
    out = tmp_path / "result.json"
    result = bench("--compare", "attention-512", "--rounds", 1, "--isa", "avx2", "--out", out, FOVEA_ISA="sse4", ONEDNN_MAX_CPU_ISA="AMX")
    assert (result.returncode, result.stderr) == (0, "") and "threads, both held to AVX2;" in result.stdout
    for side in ("turns", "host"):
        surroundings = (tmp_path / side).read_text().splitlines()
        assert {"FOVEA_ISA=avx2", "ONEDNN_MAX_CPU_ISA=AVX2", "ATEN_CPU_CAPABILITY=avx2", "MKL_ENABLE_INSTRUCTIONS=AVX2"} <= set(surroundings)
    kept = json.loads(out.read_text())
    assert kept["isa"] == {"held_to": "avx2", "fovea": ["AVX2"], "torch": "AVX2"} and "isa" not in kept["versions"]
    bench("--compare", "attention-512", "--rounds", 1, FOVEA_ISA="sse4")
    assert "FOVEA_ISA" not in (tmp_path / "turns").read_text()
    assert_fails(bench("--compare", "--isa", "mmx"), 2, "--isa", "avx2")
    assert report.default_file(ROOT, "compare", 2, "avx2").name.endswith("-avx2-2-threads-compare.json")


def test_a_variable_holds_the_kernels_to_an_instruction_set():
    def said(isa):
        return subprocess.run([TURNS, "matmul", "8", "8", "8"], env={**ENVIRONMENT, "FOVEA_ISA": isa}, input="\n", capture_output=True, text=True)
    best = json.loads(said("").stdout.splitlines()[0])["isa"]
    for isa in ("avx2", "sse4"):
        found = said(isa)
        if found.returncode == 0:
            assert json.loads(found.stdout.splitlines()[0])["isa"] == isa.upper() and best
        else:
            assert found.stderr.startswith(f"FOVEA_ISA is {isa} but there are kernels for ")
    assert said("mmx").stderr == "FOVEA_ISA is 'mmx' but must be avx2 or sse4\n"
    refused = subprocess.run([PROGRAM, "models"], env={**ENVIRONMENT, "FOVEA_ISA": "mmx"}, capture_output=True, text=True)
    assert refused.returncode != 0 and refused.stderr == "fovea: FOVEA_ISA is 'mmx' but must be avx2 or sse4\n"


def test_a_row_that_fails_is_told_in_a_line_and_the_others_are_measured(bench):
    bench.turns.write_text(TURNS_STANDIN.replace("#!/bin/sh", '#!/bin/sh\n[ "$1" = tile ] && { echo no tiles here >&2; exit 1; }'))
    result = bench("--compare", "tile", "attention-512", "--rounds", 1)
    assert result.returncode == 1
    assert result.stderr == "fovea: tile: fovea-turns ended with code 1: no tiles here\n"
    assert "attention-512 " in result.stdout and "1 rows: 1 ok, 0 missed, 1 failed" in result.stdout


def test_growth_prints_the_exponents(bench):
    script = '[ "$1" = rollout ] || exit 9; n=$3; echo "{}"\nwhile read -r line; do echo "{\\"seconds\\": $((n * n)), ' \
             '\\"rollout_seconds\\": $n, \\"kept_mb\\": $n, \\"peak_mb\\": $n}"; done\n'
    bench.turns.write_text("#!/bin/sh\n" + script)
    result = bench("--growth", "--rounds", 1, "--out", bench.cache / "growth.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert "time grows as N^2.00 and memory as N^1.00 from 8,192 to 32,768 tokens" in result.stdout
    kept = json.loads((bench.cache / "growth.json").read_text())
    assert [one["tokens"] for one in kept["lengths"]] == [512, 1024, 2048, 4096, 8192, 16384, 32768]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_comparison_leaves_no_process_behind(bench, tmp_path, number, code):
    started = tmp_path / "started"
    os.mkfifo(started)
    bench.turns.write_text(f"#!/bin/sh\necho '{{}}'; read -r line; echo $$ >'{started}'; exec cat\n")
    # One that ends instead of answering must not hide the interruption.
    bench.python.write_text(PYTHON_STANDIN.replace("do echo", "do case $line in *drop*) exit;; esac; echo"))
    process = bench.start("--compare", "attention-512", "tile", "--rounds", 1)
    child = int(started.read_text())  # when it has its turn
    process.send_signal(number)
    assert (process.wait(timeout=30), process.stderr.read()) == (code, "")
    assert not pathlib.Path(f"/proc/{child}").exists()


def test_wrong_usage_and_missing_programs_are_one_line(bench):
    assert_fails(bench("--compare", "nosuch"), 2, "'nosuch'", "bert-512, bert-512/bf16")
    assert_fails(bench("--compare", "--fast"), 2, "--fast", "--help")
    assert_fails(bench("--compare", "--rounds", 0), 2, "--rounds", "from 1 on")
    assert_fails(bench("--compare", "--growth"), 2, "--growth")
    assert_fails(bench("--growth", "tile"), 2, "no names")
    assert_fails(bench("--compare", "tile", "--out", bench.cache / "no/such.json"), 2, "no/such.json")
    assert_fails(bench("--compare", "tile", PATH="/nowhere"), 1, "python3", "3.10")
    assert_fails(bench("--compare", "tile", "--python", "/nowhere/python"), 1, "/nowhere/python", "torch==")
    assert_fails(bench("--compare", "tile", FOVEA_BENCH_PYTHON="", FOVEA_OFFLINE="1"), 1, "FOVEA_OFFLINE", "--python")
    bench.python.write_text("#!/bin/sh\necho 'ModuleNotFoundError: No module named torch' >&2; exit 1\n")
    assert_fails(bench("--compare", "tile"), 1, "No module named torch", "torch==")
    bench.turns.unlink()
    assert_fails(bench("--compare", "tile"), 1, "fovea-turns", "cmake")


def test_the_rows_are_listed_without_pytorch(bench):
    result = bench("--compare", "--list", FOVEA_BENCH_PYTHON="", FOVEA_OFFLINE="1")
    assert [line.split()[0] for line in result.stdout.splitlines()] == [row.name for row in rows.ROWS]


def test_a_failed_installation_leaves_nothing_and_says_why(bench, tmp_path):
    packages = tmp_path / "packages"
    packages.mkdir()
    result = bench("--compare", "tile", FOVEA_BENCH_PYTHON="", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(packages), PIP_CONFIG_FILE=os.devnull,
                   PIP_EXTRA_INDEX_URL="")
    told = result.stderr.splitlines()
    assert result.returncode == 1 and result.stdout == "" and len(told) == 3
    assert "MB to download" in told[1] and "could not install" in told[2] and "--python" in told[2]
    assert not (bench.cache / "bench/venv").exists()


# fovea's side, on tiny works ----------------------------------------------------------------------


def turn(*words):
    process = subprocess.run([TURNS, *map(str, words)], input="\n", capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    ready, answer = map(json.loads, process.stdout.splitlines())
    assert ready.keys() == {"isa"} and answer["seconds"] > 0
    return answer


def hashed(shape, seed):
    """torch_works.py has the same in torch."""
    index = numpy.arange(numpy.prod(shape), dtype=numpy.uint64) + numpy.uint64(seed * 100000007)
    low, half, mix = numpy.uint64(0xFFFFFFFF), numpy.uint64(16), numpy.uint64(0x45D9F3B)
    number = index * numpy.uint64(2654435761) & low
    number = (number ^ number >> half) * mix & low
    number = number ^ number >> half
    return ((number / 4294967296 - 0.5) * 12**0.5).reshape(shape)


@pytest.mark.parametrize("dtype, tolerance", [("f32", 1e-5), ("bf16", 2e-2)])  # bf16 keeps 8 bits of each number
def test_attention_is_timed_on_numbers_that_both_sides_make(dtype, tolerance):
    q, k, v = (hashed((2, 70, 32), seed) for seed in (1, 2, 3))
    scores = q @ k.transpose(0, 2, 1) / 32**0.5
    weights = numpy.exp(scores) / numpy.exp(scores).sum(-1, keepdims=True)
    found = turn("attention", 70, 2, 32, dtype)
    numpy.testing.assert_allclose(found["answer"], (weights @ v).ravel()[-8:], rtol=0, atol=tolerance)
    assert found["flop"] == 4 * 2 * 70 * 70 * 32


def test_works_of_one_map_run():
    assert turn("matmul", 8, 16, 32)["flop"] == 2 * 8 * 16 * 32
    assert turn("tile", 1024, 64, 32)["flop"] == 2 * 64 * 64 * 32
    for tokens in (700, 3000):  # the second has keys that come again
        found = turn("overview", tokens, 32)
        assert found["row_sum"] == pytest.approx(1, abs=1e-5)  # f32 sums of as many rows
        assert found["first_row_sum"] == pytest.approx(1, abs=0.1) and found["first_seconds"] > 0  # an estimate


@pytest.fixture(scope="module")
def small_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2-long")
    with pytest.MonkeyPatch.context() as change:
        change.setattr(long_model, "POSITIONS", 4096)
        change.setattr(long_model, "LAYERS", 1)
        long_model.write(folder)
    ids = numpy.arange(12, dtype=numpy.int64)
    long_model.write_safetensors(folder / "inputs-12.safetensors", [("input_ids", "I64", [12], ids.tobytes())])
    return folder


def test_works_of_a_model_run(small_model):
    inputs = small_model / "inputs-12.safetensors"
    found = turn("forward", small_model, inputs, "f32")
    rounded = turn("forward", small_model, inputs, "bf16")
    assert len(found["answer"]) == 8 and 0 < found["cell"] <= 1 and found["mb"] > 10
    numpy.testing.assert_allclose(found["answer"], rounded["answer"], rtol=0, atol=0.05)  # bf16, after a norm
    assert turn("relevancy", small_model, inputs)["mb"] > 10
    assert turn("generate", small_model, inputs, 5)["tokens"] == 5
    rolled = turn("rollout", small_model, 300)
    assert rolled["rollout_sum"] == pytest.approx(1, abs=1e-5) and rolled["peak_mb"] >= rolled["kept_mb"] > 0


def test_translation_is_counted_in_tokens(tmp_path):
    (tmp_path / "two.txt").write_text("I love music.\nThe cat sleeps.\n")
    found = turn("translate", ROOT / "models/en-fr", tmp_path / "two.txt")
    assert found["tokens"] == sum(found["answer"]) and len(found["answer"]) == 2 and min(found["answer"]) > 2


def test_statistics_are_the_numbers_that_the_program_prints(tmp_path):
    texts = tmp_path / "two.txt"
    texts.write_text("I love music.\nThe cat sleeps, and the cat dreams.\n")
    model = ROOT / "models/en-fr"
    done = subprocess.run([PROGRAM, "stats", texts, "-m", model, "--site", "encoder", "--json"], env=ENVIRONMENT, capture_output=True, check=True)
    heads = json.loads(done.stdout)["result"]["heads"]
    assert turn("stats", model, texts)["answer"] == pytest.approx([head[name] for head in heads for name in corpus.NUMBERS])


def test_a_work_that_is_not_known_shows_what_there_is():
    process = subprocess.run([TURNS, "swim"], capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (2, "")
    assert "fovea-turns forward FOLDER" in process.stderr
