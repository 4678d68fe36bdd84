"""Shell completion: what the program offers, and that bash, zsh and fish really offer it."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
from program import ENVIRONMENT, PROGRAM, assert_fails, ok, run

VERBS = re.findall(r"^  ([a-z]+) ", ok("--help"), re.MULTILINE)


def offered(*words):
    """(what is offered, whether files are) at the end of these words, the last one unfinished."""
    lines = ok("--complete", *words).splitlines()
    return [line.split("\t")[0] for line in lines if line != ":files"], ":files" in lines


def test_all_verbs_are_offered_first_with_what_they_do():
    names, files = offered("")
    assert names == [*VERBS, "help", "--help", "--version"] and not files
    assert "demo\tthe gallery" in ok("--complete", "de").splitlines()
    assert offered("de") == (["demo", "detect"], False)
    assert offered() == offered("")


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_the_help_is_offered_and_no_other(verb):
    helped = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", ok("help", verb), re.MULTILINE))
    assert set(offered(verb, "--")[0]) == helped


def test_values_are_those_that_the_option_takes():
    assert {"heads", "lines", "matrix", "read", "reading"} <= set(offered("text", "--view", "")[0])
    assert offered("text", "--view", "re") == (["read", "reading"], False)
    assert offered("text", "--view=re") == (["--view=read", "--view=reading"], False)
    assert offered("text", "--view", "=", "re") == (["read", "reading"], False)  # as bash splits it
    assert offered("text", "--view", "=") == offered("text", "--view", "")
    assert offered("text", "--head", "m")[0] == ["mean", "max", "min"]
    assert "rollout" in offered("explain", "--method", "")[0]
    assert "union" in offered("align", "--symmetrize", "")[0]
    assert offered("text", "--layer", "")[0] == ["all"]
    assert offered("text", "--token", "") == ([], False)


def test_other_words_for_a_value_are_offered_once_they_are_begun():
    assert offered("stats", "--site", "")[0] == ["self", "encoder", "decoder", "cross", "vision", "text"]
    assert offered("stats", "--site", "en")[0] == ["encoder", "encoder_self"]
    assert offered("stats", "--site=vision.")[0] == ["--site=vision.self"]
    assert offered("text", "--dtype", "")[0] == ["f32", "i16"]
    assert offered("text", "--dtype", "b")[0] == ["bf16"]


def test_plain_arguments():
    assert offered("evaluate", "")[0] == ["boxes", "detections", "masks"]
    assert offered("evaluate", "masks", "") == ([], True)
    assert offered("completion", "") == (["bash", "zsh", "fish"], False)
    assert offered("help", "tr")[0] == ["translate"]
    assert offered("align", "ev") == (["evaluate"], True)
    assert offered("image", "") == ([], True)
    assert "--view" in offered("image", "a.png", "")[0]  # nothing else can come
    assert offered("text", "--", "--vi") == ([], True)


def test_files_are_offered_where_one_is_read_or_written():
    for words in (["text", "--out", ""], ["steps", "--vectors", ""], ["demo", "--out", ""], ["text", "--out="],
                  ["capture", "x", "--out", ""]):
        assert offered(*words) == ([], True)


def test_an_option_is_offered_once_unless_it_may_be_repeated():
    assert "--view" not in offered("text", "x", "--view", "matrix", "--")[0]
    assert "--text" in offered("image", "a.png", "--text", "a cat", "--")[0]
    assert "--view" in offered("text", "x", "--token", "--view", "--")[0]  # there it is a value


def test_models_at_hand_are_offered_by_name():
    for option in (["-m"], ["--model"]):
        names, files = offered("translate", *option, "")
        assert {"en-fr", "scenes-vit", "scenes-detr"} <= set(names) and files
    assert offered("align", "--reverse-model", "en")[0] == ["en-fr"]


def test_nonsense_is_answered_with_nothing():
    for words in (["nosuch", ""], ["text", "--nosuch=", ""], ["text", "--nosuch=x"], ["--", ""], ["-x", "--"], ["=", "="]):
        ok("--complete", *words)
    assert offered("nosuch", "") == ([], False)


def test_an_unknown_shell_is_refused():
    assert_fails(run("completion", "bahs"), 2, "bahs", "bash, zsh, fish", "did you mean")


@pytest.fixture
def in_path(tmp_path):
    """Variables under which `fovea` is the program that was built."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/fovea").symlink_to(PROGRAM)
    return {**ENVIRONMENT, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb"}


def need(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def answers(command, environment, cwd):
    result = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert result.stderr == "", result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize("words, expected", [
    (["fovea", "trans"], ["translate"]),
    (["fovea", "text", "--view", "re"], ["read", "reading"]),
    (["fovea", "text", "--view", "=", "ma"], ["matrix"]),
    (["fovea", "text", "some words", "--wor"], ["--words"]),
    (["fovea", "text", "-m", "scenes-v"], ["scenes-vit", "scenes-very-own"]),  # a model and a file
])
def test_bash(in_path, tmp_path, words, expected):
    (tmp_path / "scenes-very-own").touch()
    script = ('source <(fovea completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              '_fovea fovea "${@: -1}" "${@: -2:1}"; printf "%s\\n" "${COMPREPLY[@]}"')
    assert answers(["bash", "--norc", "-c", script, "bash", *words], in_path, tmp_path) == expected


def typed(command, keys, wanted, environment, cwd):
    """What a terminal shows after these keys, until `wanted` is in it or nothing came for long."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, environment)
    shown = ""
    try:
        os.write(terminal, keys.encode())
        deadline = time.monotonic() + 30
        while wanted not in shown and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                # zsh takes a space back before it writes the next word.
                shown = (shown + os.read(terminal, 4096).decode(errors="replace")).replace(" \x08", "")
    except OSError:  # it ended
        pass
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return shown


def test_bash_completes_what_is_typed(in_path, tmp_path):
    (tmp_path / "a picture.png").touch()
    keys = "source <(fovea completion bash)\nfovea image a\t--vie\tlos\t--dty\ti\t\n"
    command = ["bash", "--norc", "--noprofile", "-i"]
    wanted = r"fovea image a\ picture.png --view lost --dtype i16 "
    assert wanted in typed(command, keys, wanted, in_path, tmp_path)


def test_zsh(in_path, tmp_path):
    need("zsh")
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "_fovea").write_text(ok("completion", "zsh"))
    wanted = "fovea text --view matrix --dtype i16"
    for start in ("autoload -U compinit && compinit -u && source <(fovea completion zsh)",
                  f"fpath=({functions} $fpath); autoload -U compinit && compinit -u"):  # as it is installed
        keys = f"{start}\nfovea text --vie\tma\t--dty\ti\t\n"
        shown = typed(["zsh", "-f", "-i"], keys, wanted, in_path, tmp_path)
        assert wanted in shown, shown


def test_fish(in_path, tmp_path):
    need("fish")
    (tmp_path / "a.png").touch()

    def complete(line):
        return answers(["fish", "--no-config", "-c", f'fovea completion fish | source; complete -C "{line}"'], in_path, tmp_path)

    assert complete("fovea trans") == ["translate\ttranslate a text, and what each target word looked at in the source"]
    assert complete("fovea text --view re") == ["read", "reading"]
    assert complete("fovea text --view=ma") == ["--view=matrix"]
    assert [line.split("\t")[0] for line in complete("fovea image a.p")] == ["a.png"]
    assert complete("fovea text --token ") == []
