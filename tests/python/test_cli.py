"""The fovea program as a user meets it: verbs, help, exit codes, terminals, pipes and signals."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import signal
import struct
import subprocess
import termios
import time

import pytest

from models import copy_fixture
from program import ENVIRONMENT, FOUR_WORDS, PROGRAM, ROOT, assert_fails, ok, run

# Verbs, help and wrong usage ----------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_verb(arguments):
    text = ok(*arguments)
    for source in (ROOT / "fovea/cli/commands").glob("*.cc"):
        assert re.search(rf"^  {source.stem}  +\S", text, re.MULTILINE), source.stem


def test_version_is_that_of_the_project():
    version = re.search(r"project\(fovea VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert ok("--version") == f"fovea {version}\n"


@pytest.mark.parametrize("arguments", [["steps", "--help"], ["help", "steps"]])
def test_help_of_a_verb_names_its_options(arguments):
    text = ok(*arguments)
    for option in ("--vectors FILE.json", "--similarity", "--temperature", "--token", "--column",
                   "--head", "--at", "--json", "--out", "--threads"):
        assert option in text
    assert max(map(len, text.splitlines())) <= 80


WRONG_USAGE = {
    "unknown verb": (["stpes"], "stpes", "did you mean 'steps'"),
    "nothing like a verb": (["xyzzy"], "no verb 'xyzzy'", "--help"),
    "option before the verb": (["--threads", "2", "steps"], "fovea VERB --threads"),
    "unknown option": (["steps", "--vector", "x"], "did you mean '--vectors'"),
    "missing option": (["pull"], "pull needs"),
    "missing value": (["steps", "--vectors"], "--vectors needs a value"),
    "plain argument": (["models", "x"], "no plain argument 'x'"),
    "plain argument too many": (["steps", "x", "y"], "'y' is one more"),
    "option after --": (["explain", "--", "-x", "--method", "raw"], "'--method' after --", "before --"),
    "option twice": (["steps", "--vectors", FOUR_WORDS, "--head", "0", "--head", "1"], "2 times"),
    "no number": (["steps", "--vectors", FOUR_WORDS, "--temperature", "warm"], "'warm'", "number"),
    "not finite": (["steps", "--vectors", FOUR_WORDS, "--temperature", "nan"], "'nan'", "finite"),
    "negative": (["steps", "--vectors", FOUR_WORDS, "--temperature", "-1"], "-1", "0 or more"),
    "no whole number": (["steps", "--vectors", FOUR_WORDS, "--head", "1.5"], "'1.5'", "whole"),
    "no such head": (["steps", "--vectors", FOUR_WORDS, "--head", "2"], "2 heads, 0 to 1"),
    "no such similarity": (["steps", "--vectors", FOUR_WORDS, "--similarity", "cosin"],
                           "did you mean 'cosine'"),
    "no such label": (["steps", "--vectors", FOUR_WORDS, "--token", "cat"], "did you mean 'cats'"),
    "no such row": (["steps", "--vectors", FOUR_WORDS, "--token", "4"], "4 vectors, 0 to 3"),
    "negative row": (["steps", "--vectors", FOUR_WORDS, "--token", "-1"], "0 to 3"),
    "pixel of no image": (["steps", "--vectors", FOUR_WORDS, "--at", "1,1"], "no image", "--token"),
    "pixel outside": (["steps", "--vectors", ROOT / "examples/picture.json", "--at", "10,1"],
                      "10 x 5", "x runs from 0 to 9"),
    "half a pixel": (["steps", "--vectors", ROOT / "examples/picture.json", "--at", "3"], "X,Y"),
    "no pixel": (["steps", "--vectors", ROOT / "examples/picture.json", "--at", "a,b"], "'a,b'", "X,Y"),
    "column of nobody": (["steps", "--vectors", FOUR_WORDS, "--column"], "--token"),
    "two choices": (["steps", "--vectors", ROOT / "examples/picture.json", "--at", "1,1", "--token", "3"],
                    "--token", "not go with --at"),
    "head of a memory": (["steps", "--vectors", ROOT / "examples/memory.json", "--head", "0"], "memory"),
    "no threads": (["steps", "--vectors", FOUR_WORDS, "--threads", "0"], "1 or more"),
    "unknown suffix": (["steps", "--vectors", FOUR_WORDS, "--out", "weights.gif"],
                       ".json, .npz, .png, .svg, .pdf"),
    "no suffix": (["steps", "--vectors", FOUR_WORDS, "--out", "weights"], ".json, .npz, .png, .svg, .pdf"),
}


@pytest.mark.parametrize("arguments, facts", [(c[0], c[1:]) for c in WRONG_USAGE.values()], ids=WRONG_USAGE)
def test_wrong_usage_is_one_line_and_exit_code_2(tmp_path, arguments, facts):
    assert_fails(run(*arguments, cwd=tmp_path), 2, *facts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_under_stdout_is_an_error():
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [PROGRAM, "steps", "--vectors", FOUR_WORDS], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 1
    assert re.fullmatch(r"fovea: standard output [^\n]+\n", result.stderr)


# Terminals, pipes and signals ---------------------------------------------------------------------


def in_terminal(*arguments, columns=80, environment=None):
    """What the program prints to a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env={**ENVIRONMENT, "TERM": "xterm-256color", **(environment or {})},
    )
    os.close(theirs)
    output = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    assert process.wait() == 0
    return output.decode().replace("\r\n", "\n")


def test_colour_only_in_a_terminal_and_without_no_color():
    command = ("steps", "--vectors", FOUR_WORDS)
    plain = ok(*command)
    coloured = in_terminal(*command)
    assert "\x1b[38;5;" in coloured and "\x1b[38;2;" not in coloured
    assert "\x1b[38;2;" in in_terminal(*command, environment={"COLORTERM": "truecolor"})
    without = re.sub("\x1b\\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()
    assert in_terminal(*command, environment={"NO_COLOR": "1"}) == plain
    assert in_terminal(*command, environment={"TERM": "dumb"}) == plain
    assert ok(*command, environment={"FORCE_COLOR": "1"}) == coloured
    assert ok(*command, environment={"FORCE_COLOR": "1", "NO_COLOR": "1"}) == plain


def test_the_width_of_the_terminal_is_used():
    text = in_terminal("steps", "--vectors", FOUR_WORDS, columns=60, environment={"NO_COLOR": "1"})
    assert max(map(len, text.splitlines())) <= 80
    assert "─" * 40 in text and "─" * 60 not in text


def test_a_closed_pipe_ends_the_program_quietly():
    command = f"{shlex.quote(str(PROGRAM))} steps --vectors {shlex.quote(str(FOUR_WORDS))} --json | true"
    for _ in range(5):
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_its_code_and_leaves_no_file(tmp_path, number):
    # A pipe that nobody feeds: the program waits in open() until it is interrupted.
    os.mkfifo(tmp_path / "in.json")
    process = subprocess.Popen(
        [PROGRAM, "steps", "--vectors", "in.json", "--out", "out.json"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        if catches(process.pid, number):
            process.send_signal(number)
            break
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output, errors) == (128 + number, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_an_interrupt_ends_the_writing_of_a_large_file_and_leaves_none(tmp_path):
    """The dense maps of 20,000 tokens are 25 GB: nobody waits for them."""
    ids = tmp_path / "ids.safetensors"
    header = json.dumps({"input_ids": {"dtype": "I64", "shape": [20000], "data_offsets": [0, 160000]}}).encode()
    ids.write_bytes(len(header).to_bytes(8, "little") + header + b"\x05" + bytes(7) + bytes(159992))
    out = tmp_path / "out"
    out.mkdir()
    model = copy_fixture("llama_model", tmp_path / "model")
    process = subprocess.Popen([PROGRAM, "export", "--inputs", ids, "-m", model, "--out", out / "maps.safetensors", "--force"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    deadline = time.monotonic() + 120
    while process.poll() is None and not any(out.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert any(out.iterdir()), process.communicate()
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not any(out.iterdir())
    assert time.monotonic() - asked < 10  # of the whole file: minutes


def catches(pid, number):
    """Whether the process has installed its handler for a signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    mask = int(re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[1], 16)
    return bool(mask >> (number - 1) & 1)


# Other verbs --------------------------------------------------------------------------------------


def test_bench_passes_its_arguments_on_or_says_how_to_build_it(tmp_path):
    program = tmp_path / "bin/fovea"
    program.parent.mkdir()
    program.write_bytes(PROGRAM.read_bytes())
    program.chmod(0o755)
    command = [program, "bench", "--a b", "c"]
    assert_fails(subprocess.run(command, capture_output=True, text=True), 1, "fovea-bench", "cmake")
    for place in ("libexec/fovea/fovea-bench", "bin/fovea-bench"):
        bench = tmp_path / place
        bench.parent.mkdir(parents=True, exist_ok=True)
        bench.write_text(f'#!/bin/sh\necho {place}; printf "[%s]" "$@"; exit 7\n')
        bench.chmod(0o755)
        result = subprocess.run(command, capture_output=True, text=True)
        assert (result.returncode, result.stdout) == (7, f"{place}\n[--a b][c]")
