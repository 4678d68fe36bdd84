"""`fovea align evaluate` on published alignments of English and French, and on bad files; the links of `fovea align`
are tested in test_align_files.py."""

import json

import pytest

from program import ROOT, assert_fails, ok, run

DATA = ROOT / "tests/data/alignment"
GOLD = DATA / "enfr.gold"

# As printed in lilt/alignment-scripts and neulab/awesome-align. The files of the reverse direction
# hold target-source links.
PUBLISHED = {
    "enfr.giza.talp": ("8.0", []),
    "enfr.giza.reverse.talp": ("9.8", ["--hyp-order", "target-source"]),
    "enfr.giza.grow-diagonal.talp": ("5.9", []),
    "enfr.fastalign.talp": ("16.4", []),
    "enfr.fastalign.reverse.talp": ("15.9", ["--hyp-order", "target-source"]),
    "enfr.fastalign.grow-diagonal.talp": ("10.5", []),
    "enfr.awesome-align.out": ("4.1", []),
}


def evaluate(gold, hyp, *options):
    return run("align", "evaluate", "--gold", gold, "--hyp", hyp, *options)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_error_rates_come_out_to_the_printed_digit(name):
    rate, options = PUBLISHED[name]
    text = ok("align", "evaluate", "--gold", GOLD, "--hyp", DATA / name, *options)
    assert text.splitlines()[0].split()[:3] == ["AER", rate, "%"]
    line = ok("align", "evaluate", "--gold", GOLD, "--hyp", DATA / name, *options, "--json")
    assert line.count("\n") == 1
    scores = json.loads(line)
    assert list(scores) == ["aer", "precision", "recall"]
    assert f"{100 * scores['aer']:.1f}" == rate
    for score in ("precision", "recall"):
        assert f"{score}  {100 * scores[score]:5.1f} %".split() in [row.split() for row in text.splitlines()]


def test_precision_and_recall_are_the_published_ones():
    scores = json.loads(ok("align", "evaluate", "--gold", GOLD, "--hyp", DATA / "enfr.giza.grow-diagonal.talp",
                           "--json"))
    assert (f"{100 * scores['precision']:.1f}", f"{100 * scores['recall']:.1f}") == ("97.5", "89.7")


def test_links_that_begin_with_the_target_are_noticed():
    result = evaluate(GOLD, DATA / "enfr.giza.reverse.talp", "--json")
    assert result.returncode == 0 and f"{100 * json.loads(result.stdout)['aer']:.1f}" == "9.8"
    assert result.stderr.count("\n") == 1 and "read as target-source links" in result.stderr and "73.2 %" in result.stderr


def test_few_links_are_never_turned(tmp_path):
    result = evaluate(*write(tmp_path, "2-1 3-1\n", "0-1 0-2\n"), "--json")
    assert json.loads(result.stdout)["aer"] == 1


def write(tmp_path, gold, hyp):
    (tmp_path / "gold").write_bytes(gold.encode())
    (tmp_path / "hyp").write_bytes(hyp.encode())
    return tmp_path / "gold", tmp_path / "hyp"


def test_a_small_case_by_hand(tmp_path):
    files = write(tmp_path, "1-1 2-2 3p2\n\n", "0-0 2-1 5-5\r\n\n")
    result = evaluate(*files, "--json")
    assert result.returncode == 0, result.stderr
    scores = json.loads(result.stdout)
    assert scores == pytest.approx({"aer": 1 - 3 / 5, "precision": 2 / 3, "recall": 1 / 2})


def test_bases_are_options(tmp_path):
    perfect = {"aer": 0, "precision": 1, "recall": 1}
    for gold, hyp, options in [("0-0 1-1\n", "0-0 1-1\n", ["--gold-base", "0"]),
                               ("1-1 2-2\n", "1-1 2-2\n", ["--hyp-base", "1"]),
                               ("0-0\n", "1-1\n", ["--gold-base", "0", "--hyp-base", "1"])]:
        assert json.loads(ok("align", "evaluate", "--json", *options, "--gold",
                             *insert_hyp(write(tmp_path, gold, hyp)))) == perfect


def insert_hyp(files):
    return files[0], "--hyp", files[1]


def test_sentences_without_links_are_sentences(tmp_path):
    files = write(tmp_path, "\n\n", "\n\n")
    assert json.loads(evaluate(*files, "--json").stdout) == {"aer": 0, "precision": 1, "recall": 1}
    files = write(tmp_path, "1-1\n1-1\n", "\n\n")
    assert json.loads(evaluate(*files, "--json").stdout) == {"aer": 1, "precision": 1, "recall": 0}


@pytest.mark.parametrize("name, options, hint", [
    ("enfr.giza.reverse.talp", ["--hyp-order", "source-target"], "--hyp-order target-source AER would be 9.8 %"),
    ("enfr.giza.talp", ["--hyp-order", "target-source"], "--hyp-order source-target AER would be 8.0 %"),
    ("enfr.giza.talp", ["--gold-base", "0"], "--gold-base 1 AER would be 8.0 %"),
    ("enfr.giza.talp", ["--gold-base", "0", "--hyp-order", "target-source"], None),
])
def test_a_file_read_the_wrong_way_gets_a_note(name, options, hint):
    result = evaluate(GOLD, DATA / name, *options, "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["aer"] > 0.4
    assert (hint in result.stderr if hint else result.stderr == ""), result.stderr


def test_a_one_based_hypothesis_gets_a_note(tmp_path):
    files = write(tmp_path, "1-1 2-2 3-3 4-4\n", "1-1 2-2 3-3 4-4\n")
    assert "--hyp-base 1 AER would be 0.0 %" in evaluate(*files).stderr
    files = write(tmp_path, "0-0 1-1 2-2 3-3\n", "1-1 2-2 3-3 4-4\n")
    assert_fails(evaluate(*files), 1, "base is 0")
    assert "--hyp-base 1" in evaluate(*files, "--gold-base", "0").stderr


BAD_FILES = {
    "unequal lines": ("1-1\n2-2\n", "0-0\n", "has 2 lines but", "has 1;"),
    "last line without its end": ("1-1\n2-2\n3-3", "0-0\n\n", "has 3 lines but", "has 2;"),
    "both empty": ("", "", "are empty", "no sentence"),
    "one empty": ("1-1\n", "", "has 1 lines but", "has 0;"),
    "a word": ("1-1\n", "hello\n", "hyp, line 1", "'hello'", "i-j"),
    "a score": ("1-1\n1-1\n", "0-0\n0-0:0.7\n", "hyp, line 2", "'0-0:0.7'"),
    "another dash": ("1–1\n", "0-0\n", "gold, line 1", "'1–1'"),
    "possible in hyp": ("1-1\n", "0p0\n", "possible link", "only gold files"),
    "0 in a 1-based file": ("1-1\n1-1 0-2\n", "0-0\n0-0\n", "gold, line 2", "'0-2'", "base is 0"),
    "huge number": ("1-1\n", "99999999999999999999-0\n", "no sentence is that long"),
    "negative": ("1-1\n", "-1-0\n", "'-1-0'"),
    "control characters": ("1-1\n", "\x1b[31m0-0\n", "hyp, line 1"),
    "bytes that are zero": ("1-1\n", "0-0\0\n", "hyp, line 1"),
}


@pytest.mark.parametrize("gold, hyp, facts", [(c[0], c[1], c[2:]) for c in BAD_FILES.values()], ids=BAD_FILES)
def test_bad_files_say_what_is_wrong_and_where(tmp_path, gold, hyp, facts):
    assert_fails(evaluate(*write(tmp_path, gold, hyp)), 1, *facts)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "hyp").write_bytes(bytes(range(256)) * 50)
    assert_fails(evaluate(GOLD, tmp_path / "hyp"), 1, "hyp, line 1")


def test_files_that_are_not_there(tmp_path):
    assert_fails(evaluate(tmp_path / "none", GOLD), 1, "none", "no such file")
    assert_fails(evaluate(GOLD, tmp_path / "none"), 1, "none", "no such file")
    assert_fails(evaluate(GOLD, tmp_path), 1, tmp_path.name, "directory")


@pytest.mark.parametrize("arguments, facts", [
    (["evaluate"], ["--gold is not given"]),
    (["evaluate", "--gold", GOLD], ["--hyp is not given"]),
    (["evaluate", "more", "--gold", GOLD, "--hyp", GOLD], ["'more'", "--gold"]),
    (["evaluate", "--gold", GOLD, "--hyp", GOLD, "--hyp-base", "2"], ["'2'", "0, 1"]),
    ([], ["SRC and TGT", "evaluate"]),
    (["source.txt"], ["SRC and TGT"]),
    (["a", "b", "--hyp", GOLD], ["fovea align evaluate"]),
    (["evaluate", "--gold", GOLD, "--hyp", GOLD, "--head", "0"], ["--head", "aligning files"]),
    (["evaluate", "--gold", GOLD, "--hyp", GOLD, "-m", "en-fr"], ["--model", "aligning files"]),
])
def test_wrong_usage_is_exit_code_2(arguments, facts):
    assert_fails(run("align", *arguments), 2, *facts)


def test_help_fits_a_terminal():
    text = ok("align", "--help")
    for word in ("--gold FILE", "--hyp FILE", "--gold-base", "--hyp-base", "--hyp-order", "evaluate"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 80
