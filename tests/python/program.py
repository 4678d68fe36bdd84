"""Running the fovea program that was built, for the tests."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FOVEA_BUILD", ROOT / "build/release")).resolve()
PROGRAM = BUILD / "bin/fovea"
EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
FOUR_WORDS = ROOT / "examples/four_words.json"

# What a test must not inherit from the one who runs it.
FOREIGN = ("COLUMNS", "NO_COLOR", "COLORTERM", "FORCE_COLOR", "CLICOLOR_FORCE", "FOVEA_LOG")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in FOREIGN}


# Most pictures of tests are noise, which the bundled models rightly say. Only test_unlike_training.py is about that line.
UNLIKE = re.compile(r"fovea: note: this picture is unlike the synthetic scenes [^\n]*\n")


def run(*arguments, cwd=None, environment=None, all_notes=False):
    result = subprocess.run(
        [str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
        stdin=subprocess.DEVNULL, env={**ENVIRONMENT, **(environment or {})}, timeout=300,
    )
    if not all_notes:
        result.stderr = UNLIKE.sub("", result.stderr)
    return result


def ok(*arguments, **options):
    result = run(*arguments, **options)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


def assert_fails(result, code, *facts):
    """Exit code, nothing on stdout, exactly one line on stderr, and what it has to say."""
    assert result.returncode == code, f"{result.returncode}: {result.stderr}"
    assert result.stdout == ""
    assert re.fullmatch(r"fovea: [^\n]+\n", result.stderr), result.stderr
    for fact in facts:
        assert str(fact) in result.stderr
