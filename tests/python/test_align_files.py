"""`fovea align SRC TGT`: links of the bundled English-French model, by every option, and bad files."""

import json
import re
import signal
import subprocess

import pytest

from program import ENVIRONMENT, PROGRAM, ROOT, assert_fails, run

DATA = ROOT / "tests/data/alignment"
MODEL = ROOT / "models/en-fr"
PAIRS = 60

# Many short runs: threads that wait for work would only take time from each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The first pairs of the published data as source, target and gold files."""
    folder = tmp_path_factory.mktemp("corpus")
    pairs = [line.split(" ||| ") for line in (DATA / "enfr.src-tgt").read_text().splitlines()[:PAIRS]]
    (folder / "en").write_text("".join(f"{source.strip()}\n" for source, _ in pairs))
    (folder / "fr").write_text("".join(f"{target.strip()}\n" for _, target in pairs))
    (folder / "gold").write_text("".join((DATA / "enfr.gold").read_text().splitlines(True)[:PAIRS]))
    return folder


@pytest.fixture(scope="module")
def few(corpus):
    """Six pairs, the third without a source and the fifth without a target."""
    for name, empty in (("en", 2), ("fr", 4)):
        lines = (corpus / name).read_text().splitlines(True)[:6]
        lines[empty] = " \t\n"
        (corpus / f"few.{name}").write_text("".join(lines))
    return corpus / "few.en", corpus / "few.fr"


def align(*arguments):
    return run("align", *arguments, "-m", MODEL, environment=ONE_THREAD)


def aligned(*arguments):
    result = align(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def word_links(line):
    return [tuple(map(int, link.split("-"))) for link in line.split()]


def test_links_of_a_corpus_by_the_map_that_the_rule_chooses(corpus):
    out = corpus / "links"
    result = align(corpus / "en", corpus / "fr", "--gold", corpus / "gold", "--out", out)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    first, *others = result.stderr.splitlines()  # others: also notes on tokens that are not in the vocabulary
    assert "layer 0, head 4, read by decoder input; chosen without gold from 48 maps on 60 sentences" in first
    [score] = [line for line in others if line.startswith("fovea: AER")]
    aer = float(re.fullmatch(r"fovea: AER ([\d.]+) %, precision .* on 60 pairs", score)[1])
    # 14.7 on all 447 pairs; head 0 of the last layer has 45.
    assert aer <= 20
    score = json.loads(run("align", "evaluate", "--gold", corpus / "gold", "--hyp", out, "--json").stdout)
    assert f"{100 * score['aer']:.1f}" == f"{aer:.1f}"
    lines = out.read_text().splitlines()
    for line, source, target in zip(lines, *((corpus / n).read_text().splitlines() for n in ("en", "fr")), strict=True):
        links = word_links(line)
        assert links == sorted(set(links))
        assert all(i < len(source.split()) and j < len(target.split()) for i, j in links)


def test_the_ranking_shows_every_map_sorted_by_the_rule(corpus):
    files = [corpus / "en", corpus / "fr", "--gold", corpus / "gold", "--ranking", "--rank", "20"]
    ranking = aligned(*files)
    maps = ranking["maps"]
    assert len(maps) == 2 * (3 * 8 + 3 + 1) and ranking["sentences"] == 20
    assert [m["score"] for m in maps] == sorted((m["score"] for m in maps), reverse=True)
    for m in maps:
        assert m["score"] == pytest.approx(m["anchor_mass"] * m["two_way"])
        assert ("head_norm" in m) == (m["head"] is not None)
    heads = [m for m in maps if m["head"] is not None]
    chosen, best = ranking["chosen"], ranking["best_by_gold"]
    assert (chosen["layer"], chosen["head"], chosen["reading"]) == (0, 4, "input") and chosen["confident"]
    lowest = min(heads, key=lambda m: m["aer"])
    assert all(best[key] == lowest[key] for key in ("layer", "head", "reading"))
    text = align(*files)
    assert (text.returncode, text.stderr) == (0, "")
    rows = text.stdout.splitlines()
    assert rows[0].split() == ["layer", "head", "read", "score", "mass", "hits", "2-way", "entr", "conf", "end", "diag",
                               "agree", "src", "tgt", "norm", "layer's", "AER", "%"]
    assert rows[1].split()[:4] == ["0", "4", "input", f"{maps[0]['score']:.3f}"]
    assert "chosen" in rows[1]
    assert any(row.startswith("best by gold: ") for row in rows)


def test_without_gold_there_is_no_error_rate(few, tmp_path):
    result = align(*few, "--ranking", "--out", tmp_path / "table")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    text = (tmp_path / "table").read_text()
    assert "AER" not in text and "gold:" not in text and "4 sentences" in text


def test_a_pair_with_an_empty_side_has_an_empty_line(few):
    result = align(*few)
    assert result.returncode == 0
    assert [line == "" for line in result.stdout.split("\n")] == [False, False, True, False, True, False, True]
    json_lines = aligned(*few)
    assert "\n".join(json_lines["alignments"]) + "\n" == result.stdout
    assert json_lines["pairs"] == 6
    assert json_lines["links"] == len(result.stdout.split())
    assert json_lines["map"]["why"] in result.stderr


def test_nothing_but_empty_pairs(tmp_path):
    (tmp_path / "a").write_text("\n\nwords\n")
    (tmp_path / "b").write_text("x\n\n \n")
    assert aligned(tmp_path / "a", tmp_path / "b") == {
        "model": str(MODEL), "map": None, "pairs": 3, "links": 0, "alignments": ["", "", ""]}
    assert_fails(align(tmp_path / "a", tmp_path / "b", "--ranking"), 1, "no pair with words on both sides")


def test_lines_may_end_in_any_way(few, tmp_path):
    expected = align(*few).stdout
    for name, file in zip("ab", few):
        (tmp_path / name).write_bytes(file.read_bytes().replace(b"\n", b"\r\n").rstrip(b"\r\n"))
    assert align(tmp_path / "a", tmp_path / "b").stdout == expected


def test_links_count_the_words_that_spaces_part(tmp_path):
    # As text, "l'accord" and "1992." are two words each; here the spaces alone count.
    (tmp_path / "a").write_text("The  agreement was\tsigned in 1992.\n")
    (tmp_path / "b").write_text("  L'accord a été signé en 1992.\n")
    links = word_links(align(tmp_path / "a", tmp_path / "b").stdout)
    assert (1, 0) in links and (3, 3) in links and (5, 5) in links
    assert max(links) == (5, 5)


@pytest.mark.parametrize("options, layer, head, reading", [
    (["--layer", "2", "--head", "0"], 2, 0, "output"),
    (["--layer", "0", "--head", "4", "--read", "output"], 0, 4, "output"),
    (["--layer", "2", "--head", "mean"], 2, None, "output"),
    (["--head", "mean", "--read", "input"], None, None, "input"),
    (["--read", "output"], 1, 2, "output"),
])
def test_parts_of_the_map_may_be_given(corpus, options, layer, head, reading):
    choice = aligned(corpus / "en", corpus / "fr", "--rank", "10", *options)["map"]
    assert (choice["layer"], choice["head"], choice["reading"]) == (layer, head, reading)
    given = {"--layer", "--head", "--read"} <= set(options) or options[0] == "--head"
    assert (choice["why"] == "") == given


def test_how_links_are_made_may_be_chosen(few):
    links = {}
    for options in ([], ["--norms"], ["--convention", "union"], ["--links", "argmax"], ["--links", "argmax", "--ignore-end"],
                    ["--links", "threshold"], ["--links", "threshold", "--threshold", "0.6"]):
        links[" ".join(options)] = [set(word_links(line)) for line in aligned(*few, *options)["alignments"]]
    assert len({str(value) for value in links.values()}) == len(links)
    for plain, mutual, ignored in zip(links["--links argmax"], links[""], links["--links argmax --ignore-end"]):
        assert mutual <= plain <= ignored
        assert len({j for _, j in ignored}) == len(ignored)  # a link for each target word
    for low, high in zip(links["--links threshold"], links["--links threshold --threshold 0.6"]):
        assert high <= low


# The same model serves as a poor translator of French: only the mechanics count.
def test_two_directions_are_joined_by_name(few):
    by_rows = ["--links", "argmax"]  # what two directions are joined of
    forward = [set(word_links(line)) for line in aligned(*few, *by_rows)["alignments"]]
    back = [{(j, i) for i, j in word_links(line)} for line in aligned(few[1], few[0], *by_rows)["alignments"]]
    joined = {}
    for name in ("intersection", "union", "lilt-grow-diag", "moses-grow-diag-final-and"):
        result = aligned(*few, "--reverse-model", MODEL, "--symmetrize", name)
        assert result["symmetrization"] == name
        assert result["reverse_map"]["reading"] in ("input", "output")
        joined[name] = [set(word_links(line)) for line in result["alignments"]]
    assert joined["intersection"] == [a & b for a, b in zip(forward, back)]
    assert joined["union"] == [a | b for a, b in zip(forward, back)]
    result = align(*few, "--reverse-model", MODEL, "--layer", "0", "--head", "4", "--read", "input")
    assert [set(word_links(line)) for line in result.stdout.splitlines()] == joined["lilt-grow-diag"]
    first, second, third, *_ = result.stderr.splitlines()
    assert first.endswith("links come from layer 0, head 4, read by decoder input")
    assert "reverse links come from" in second
    assert third == "fovea: both directions are joined by lilt-grow-diag"


def test_a_pair_that_is_too_long_is_left_out_and_named(tmp_path):
    (tmp_path / "a").write_text("Yes .\n" + "word " * 3000 + "\n")
    (tmp_path / "b").write_text("Oui .\nOui .\n")
    for files in (["a", "b"], ["b", "a"]):
        result = align(*(tmp_path / name for name in files), "--rank", "1", "--out", tmp_path / "links")
        assert (result.returncode, result.stdout) == (0, "")
        last = result.stderr.splitlines()[-1]
        assert "1 of 2 inputs were left out" in last and "line 2: " in last and "too long" in last.replace("longer", "too long")
        first, second = (tmp_path / "links").read_text().splitlines()  # a line for each pair
        assert word_links(first) and second == ""


def test_where_no_pair_can_be_aligned_the_file_stays_as_it_was(tmp_path):
    (tmp_path / "a").write_text("word " * 3000 + "\n")
    (tmp_path / "b").write_text("Oui .\n")
    (tmp_path / "links").write_text("before")
    result = align(tmp_path / "a", tmp_path / "b", "--out", tmp_path / "links")
    assert (result.returncode, result.stdout) == (1, "") and "line 1: " in result.stderr
    assert (tmp_path / "links").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "links"]


def test_what_is_no_text_is_told_once(tmp_path):
    (tmp_path / "a").write_bytes(b"Yes \xff .\nYes \xfe .\nYes .\n")
    (tmp_path / "b").write_text("Oui .\n" * 3)
    result = align(tmp_path / "a", tmp_path / "b")
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 3
    notes = [line for line in result.stderr.splitlines() if "note:" in line]
    assert len(notes) == 1 and "line 1: " in notes[0] and "(and 1 more lines with notes)" in notes[0]


def test_an_interrupt_leaves_no_file_behind(corpus, tmp_path):
    lines = [(corpus / name).read_text() * 200 for name in ("en", "fr")]
    for name, text in zip("ab", lines):
        (tmp_path / name).write_text(text)
    process = subprocess.Popen(
        [PROGRAM, "align", tmp_path / "a", tmp_path / "b", "-m", MODEL, "--rank", "1", "--out", tmp_path / "links"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENVIRONMENT, **ONE_THREAD})
    assert b"links come from" in process.stderr.readline()  # it begins to write after that
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.communicate() == (b"", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


WRONG_USAGE = {
    "symmetrise one direction": (["--symmetrize", "union"], "--symmetrize", "--reverse-model"),
    "unknown name": (["--symmetrize", "grow-diag", "--reverse-model", MODEL], "grow-diag", "lilt-grow-diag"),
    "ranking of two": (["--ranking", "--reverse-model", MODEL], "--ranking", "by itself"),
    "no such layer": (["--layer", "3"], "--layer: 3 is beyond", "3 layers of cross-attention, 0 to 2"),
    "no such head": (["--head", "8"], "--head: 8 is beyond", "8 heads of cross-attention, 0 to 7"),
    "layer below 0": (["--layer", "-1"], "--layer"),
    "no reading": (["--read", "both"], "'both'", "input, output"),
    "largest of heads": (["--head", "max"], "--head: 'max' is not a whole number from 0, or mean"),
    "threshold of argmax": (["--threshold", "0.5"], "--threshold", "--links threshold"),
    "threshold 0": (["--links", "threshold", "--threshold", "0"], "above 0"),
    "no pairs": (["--rank", "0"], "--rank"),
    "a file of links": (["--hyp", "links"], "fovea align evaluate"),
}


@pytest.mark.parametrize("options, facts", [(c[0], c[1:]) for c in WRONG_USAGE.values()], ids=WRONG_USAGE)
def test_wrong_usage_is_exit_code_2(few, options, facts):
    assert_fails(align(*few, *options), 2, *facts)


def test_bad_files_are_exit_code_1(few, tmp_path):
    (tmp_path / "five").write_text("a\n" * 5)
    (tmp_path / "none").write_text("")
    assert_fails(align(few[0], tmp_path / "five"), 1, "few.en has 6 lines but", "five has 5;")
    assert_fails(align(tmp_path / "none", tmp_path / "none"), 1, "are empty")
    assert_fails(align(tmp_path / "missing", few[1]), 1, "missing", "no such file")
    assert_fails(align(few[0], tmp_path), 1, "is a folder")
    assert_fails(align(*few, "--gold", tmp_path / "five"), 1, "five", "is no link")
    (tmp_path / "gold").write_text("1-1\n")
    assert_fails(align(*few, "--gold", tmp_path / "gold"), 1, "gold has 1 lines but", "few.en has 6;")
    assert_fails(align(*few, "--rank", "1", "--layer", "0", "--head", "4", "--out", tmp_path / "no/where", "--json",
                       "--ranking"), 1, "no/where", "no folder")


def test_models_that_cannot_translate_are_refused(few):
    assert_fails(run("align", *few, "-m", ROOT / "tests/data/parity/bert_model"), 1, "does not translate")
    assert_fails(run("align", *few, "-m", "no-such-model"), 1, "no-such-model")


def test_a_link_is_the_largest_of_its_row_and_its_column_unless_told(corpus):
    """AER of the whole data is 11.5 % so, and 14.7 % by the largest of rows alone (docs/alignment.md)."""
    usual, rows = (aligned(corpus / "en", corpus / "fr", "--gold", corpus / "gold", *options) for options in ((), ("--links", "argmax")))
    assert usual == {**aligned(corpus / "en", corpus / "fr", "--gold", corpus / "gold", "--links", "mutual")}
    assert usual["aer"] < rows["aer"] and usual["links"] < rows["links"]


def test_a_model_that_goes_the_wrong_way_is_told(corpus, few):
    right = align(corpus / "en", corpus / "fr", "--out", corpus / "links")
    assert "seems to translate" not in right.stderr
    turned = align(corpus / "fr", corpus / "en", "--out", corpus / "links")
    assert turned.returncode == 0
    assert "seems to translate from the second text into the first" in turned.stderr and "swapped?" in turned.stderr
    reverse = align(corpus / "en", corpus / "fr", "--reverse-model", MODEL, "--out", corpus / "links")
    assert reverse.returncode == 0
    assert "en-fr seems to translate from the first text into the second" in reverse.stderr
    notes = aligned(corpus / "en", corpus / "fr", "--reverse-model", MODEL)["notes"]
    assert len(notes) == 1 and "a reverse model goes the other way" in notes[0]
