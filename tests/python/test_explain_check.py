"""`fovea explain --check` and `--compare`: the card against numpy, its files, and the table of methods."""

import csv
import json
import re

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from program import assert_fails, ok, run
from test_explain import SCENE, SCENES, TEXT, TRANSLATOR, explained, softmax, told
from test_picture_files import reading, seeing

GRADES = ["deletion", "insertion", "comprehensiveness", "sufficiency", "infidelity", "tau to gradient", "random weights"]
# Few random orders, so that tests are fast; the numbers of the map itself do not depend on them.
QUICK = ["--check", "--check-orders", "4"]


def table_of(output):
    """The result, and how many inputs it is of."""
    facts = json.loads(output)
    return {**facts["result"], **facts["input"]}


def compared(*arguments):
    return table_of(ok("explain", *arguments, "--compare", "--json"))


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("bert") / "model", "bert_sequence")


def probabilities(model, folder, hidden):
    """Of all classes, of the text whose positions `hidden` nobody may attend to, by the attention mask of --inputs."""
    tokens = json.loads(ok("tokenize", TEXT, "-m", model, "--json"))
    mask = [0 if i in hidden else 1 for i in range(len(tokens["ids"]))]
    save_file({"input_ids": numpy.array(tokens["ids"]), "attention_mask": numpy.array(mask)}, folder / "in.safetensors")
    ok("export", "--inputs", folder / "in.safetensors", "-m", model, "--out", folder / "out.safetensors")
    return softmax(load_file(folder / "out.safetensors")["logits"].astype(float).ravel())


@pytest.mark.numbers
def test_the_card_is_what_numpy_makes_of_runs_without_tokens(classifier, tmp_path):
    answer = explained(TEXT, "-m", classifier, "--method", "rollout", "--check-by", "hide", *QUICK)
    check = answer["check"]
    tokens = json.loads(ok("tokenize", TEXT, "-m", classifier, "--json"))
    places = [i for i, special in enumerate(tokens["special"]) if not special]
    order = sorted(places, key=lambda i: -answer["scores"][i])  # stable: ties as they stand
    best = int(probabilities(classifier, tmp_path, set()).argmax())

    def value(hidden):
        return probabilities(classifier, tmp_path, set(hidden))[best]

    count = len(order)
    deletion = [value(order[:k]) for k in range(count + 1)]
    insertion = [value(order[k:]) for k in range(count + 1)]
    shares = numpy.arange(count + 1) / count
    assert check["deletion_curve"]["shares"] == pytest.approx(shares)
    assert check["deletion_curve"]["values"] == pytest.approx(deletion, abs=1e-5)
    assert check["insertion_curve"]["values"] == pytest.approx(insertion, abs=1e-5)
    assert (check["clean"], check["empty"]) == (pytest.approx(deletion[0], abs=1e-5), pytest.approx(deletion[-1], abs=1e-5))
    tops = [max(1, int(numpy.floor(threshold * count + 0.5))) for threshold in (0.01, 0.05, 0.1, 0.2, 0.5)]
    expected = {"deletion": numpy.trapezoid(deletion, shares), "insertion": numpy.trapezoid(insertion, shares),
                "comprehensiveness": numpy.mean([deletion[0] - deletion[k] for k in tops]),
                "sufficiency": numpy.mean([deletion[0] - insertion[k] for k in tops])}
    for name, number in expected.items():
        assert check["grades"][name]["value"] == pytest.approx(number, abs=1e-5), name
    assert check["positions"] == count and check["removal"] == "hide" and list(check["grades"]) == GRADES


def test_masked_tokens_are_the_default_where_the_model_has_a_mask(classifier, tmp_path):
    assert explained(TEXT, "-m", classifier, "--method", "raw", *QUICK)["check"]["removal"] == "blank"
    causal = models.causal(tmp_path / "causal")
    assert explained(TEXT, "-m", causal, "--method", "raw", *QUICK)["check"]["removal"] == "hide"
    picture = explained(SCENE, "-m", SCENES, "--size", "48x48", "--method", "raw", *QUICK)["check"]
    assert picture["removal"] == "blank" and picture["positions"] == 36


def test_ablation_of_single_tokens_is_the_first_point_of_deletion(classifier):
    answer = explained(TEXT, "-m", classifier, "--method", "ablation", "--by", "blank", *QUICK)
    lost = answer["check"]["clean"] - answer["check"]["deletion_curve"]["values"][1]
    assert lost == pytest.approx(max(answer["scores"]), abs=1e-6)


def test_the_same_command_gives_the_same_bytes_and_a_seed_changes_only_what_is_random(classifier):
    def card(*arguments):
        return run("explain", TEXT, "-m", classifier, "--method", "raw", "--json", *QUICK, *arguments).stdout
    assert card() == card()
    one, other = (told(json.loads(text))["check"] for text in (card(), card("--check-seed", "1")))
    assert one["deletion_curve"]["values"] == other["deletion_curve"]["values"]
    assert one["deletion_curve"]["random"] != other["deletion_curve"]["random"]
    assert one["grades"]["random weights"]["value"] != other["grades"]["random weights"]["value"]


def test_raw_attention_stays_in_a_cascade_until_its_layer_is_random(classifier):
    answer = explained(TEXT, "-m", classifier, "--method", "raw", "--layer", "0", "--check-cascade", *QUICK)
    steps = answer["check"]["random_weights"]
    assert steps[0]["weights"] == "layer 1 and above" and steps[-1]["weights"] == "all"
    assert steps[0]["rho"] == pytest.approx(1)
    assert steps[-1]["rho"] != pytest.approx(1) and answer["check"]["grades"]["random weights"]["value"] == steps[-1]["rho"]


def test_an_embedding_compared_with_itself_has_no_gradient(tmp_path):
    model = models.bert(tmp_path / "model", "bert_model")
    own = explained("the cat sat on the mat", "-m", model, "--method", "raw", *QUICK)["check"]
    assert own["clean"] == pytest.approx(1) and own["grades"]["tau to gradient"]["value"] is None
    assert "itself" in own["grades"]["tau to gradient"]["missing"]
    other = explained("the cat sat on the mat", "-m", model, "--method", "raw", "--against", "a dog ran", *QUICK)["check"]
    assert -1 <= other["grades"]["tau to gradient"]["value"] <= 1


def test_a_translation_is_watched_at_the_word_it_writes():
    for method in ("raw", "rollout"):
        check = explained("I love music.", "-m", TRANSLATOR, "--target", "J'aime la musique.", "--method", method, *QUICK)["check"]
        assert check["answer"] == "the word ·musique"
        assert check["removal"] == "hide" and check["clean"] > check["empty"]


def test_the_card_is_below_the_map_and_in_every_file(classifier, tmp_path):
    arguments = [TEXT, "-m", classifier, "--method", "rollout", *QUICK]
    text = ok("explain", *arguments)
    assert text.index("rollout: ") < text.index("faithfulness")
    for name in GRADES:
        assert name in text
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert text == ok("explain", *arguments)
    numbers = explained(*arguments)["check"]["grades"]
    ok("explain", *arguments, "--out", tmp_path / "x.png", "--sidecar", "--check-out", tmp_path / "curves.png")
    assert json.loads((tmp_path / "x.png.json").read_text())["check"]["grades"] == numbers
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    ok("explain", *arguments, "--check-out", tmp_path / "curves.svg", "--svg-text", "--pixels", "1")
    assert "<text" in (tmp_path / "curves.svg").read_text()
    ok("explain", *arguments, "--out", tmp_path / "x.json")
    assert told(json.loads((tmp_path / "x.json").read_text()))["check"]["grades"] == numbers
    ok("explain", *arguments, "--out", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert "How far it can be believed" in page and page.count("<svg") == 2
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names)) and set(re.findall(r'href="#([^"]+)"', page)) <= set(names)
    assert told(json.loads(page.split('id="explanation">')[1].split("</script>")[0]))["check"]["grades"] == numbers


def test_methods_side_by_side_on_one_input(classifier):
    table = compared(TEXT, "-m", classifier, "--check-orders", "4")
    methods = {method["name"]: method for method in table["methods"]}
    names = {method["name"] for method in json.loads(ok("methods", "--json"))}
    assert methods.keys() == names and table["inputs"] == 1
    assert "heads" in methods["span-mass"]["reason"] and "cross-attention" in methods["alti+"]["reason"]
    for name in ("rollout", "ablation"):
        alone = explained(TEXT, "-m", classifier, "--method", name, *QUICK)["check"]["grades"]
        for grade in GRADES:
            assert methods[name]["grades"][grade]["value"] == alone[grade]["value"], (name, grade)
            assert methods[name]["grades"][grade]["verdict"] == alone[grade]["verdict"], (name, grade)
    text = ok("explain", TEXT, "-m", classifier, "--compare", "--check-orders", "4")
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert "random" in text and "span-mass cannot be checked: " in text


def test_methods_side_by_side_on_many_inputs(classifier, tmp_path):
    lines = ["the cat sat on the mat", "a dog ran", "", "it was tired because the cat sat", "the dog was tired ."]
    (tmp_path / "texts.txt").write_text("\n".join(lines))
    arguments = [tmp_path / "texts.txt", "-m", classifier, "--compare", "--method", "raw,ablation"]
    table = table_of(ok("explain", *arguments, "--json"))
    assert table["inputs"] == 4 and [method["name"] for method in table["methods"]] == ["raw", "ablation"]
    values = {grade: [] for grade in GRADES}
    for line in filter(None, lines):
        alone = explained(line, "-m", classifier, "--method", "raw", "--check", "--check-orders", "8")["check"]["grades"]
        for grade in GRADES:
            values[grade].append(alone[grade]["value"])
    for grade in GRADES:
        found = table["methods"][0]["grades"][grade]
        assert found["value"] == pytest.approx(numpy.mean(values[grade]), abs=1e-9), grade
        assert min(values[grade]) <= found["low"] <= found["value"] <= found["high"] <= max(values[grade])
    assert ok("explain", *arguments, "--out", tmp_path / "x.svg", "--svg-text", "--sidecar").endswith(f"wrote {tmp_path / 'x.svg'}\n")
    assert ">ablation</text>" in (tmp_path / "x.svg").read_text()
    assert json.loads((tmp_path / "x.svg.json").read_text())["methods"] == table["methods"]
    ok("explain", *arguments, "--out", tmp_path / "x.csv")
    rows = list(csv.DictReader((tmp_path / "x.csv").open()))
    assert len(rows) == 3 * len(GRADES) and {row["method"] for row in rows} == {"raw", "ablation", "random"}
    assert float(rows[0]["value"]) == pytest.approx(table["methods"][0]["grades"]["deletion"]["value"], rel=1e-8)
    assert run("explain", *arguments, "--json").stdout == run("explain", *arguments, "--json").stdout
    assert table_of(ok("explain", *arguments, "--json", "--limit", "2"))["inputs"] == 2


def test_a_line_of_a_list_is_a_text_whatever_file_is_called_so(classifier, tmp_path):
    (tmp_path / "texts.txt").write_text("logo.png\nthe cat sat\n")
    arguments = ["explain", "texts.txt", "-m", classifier, "--compare", "--method", "raw", "--check-orders", "2", "--json"]
    without = run(*arguments, cwd=tmp_path)
    (tmp_path / "logo.png").write_bytes(SCENE.read_bytes())
    for result in (without, run(*arguments, cwd=tmp_path)):
        assert (result.returncode, result.stderr) == (0, "")
        table = table_of(result.stdout)
        assert (table["inputs"], table["left_out"]) == (2, 0)
    assert result.stdout == without.stdout


def test_lists_and_folders_of_texts_are_read_by_the_text_tower(tmp_path):
    clip = reading(seeing(tmp_path / "clip", "clip_model"), 59)
    (tmp_path / "texts.txt").write_text("a photo.png\nlogo.png\na cat\n")
    arguments = ["-m", clip, "--method", "raw", "--check-orders", "2"]
    table = compared(tmp_path / "texts.txt", *arguments)
    assert (table["inputs"], table["left_out"]) == (3, 0)
    (tmp_path / "folder").mkdir()
    for i, line in enumerate(("a photo.png", "logo.png", "a cat")):
        (tmp_path / f"folder/{i}.txt").write_text(line)
    assert compared(tmp_path / "folder", *arguments)["methods"] == table["methods"]
    assert_fails(run("explain", tmp_path / "texts.txt", "-m", SCENES, "--compare"), 2, "texts.txt", "reads no text", "folder of pictures")


def test_a_folder_of_pictures_with_one_that_is_broken(tmp_path):
    for name in ("scene-1.png", "scene-2.png"):
        (tmp_path / name).write_bytes((SCENES / "demo" / name).read_bytes())
    (tmp_path / "broken.png").write_bytes(b"no picture")
    result = run("explain", tmp_path, "-m", SCENES, "--size", "48x48", "--compare", "--method", "raw,rollout", "--json",
                 "--check-orders", "2")
    assert result.returncode == 0 and "1 of 3 inputs were left out" in result.stderr and "broken.png" in result.stderr
    table = table_of(result.stdout)
    assert (table["inputs"], table["left_out"]) == (2, 1)


@pytest.mark.parametrize("arguments, facts", [
    (["--method", "raw,rollout"], ["2 methods", "--compare"]),
    (["--method", "raw,magic", "--compare"], ["magic", "rollout"]),
    (["--method", "raw", "--check", "--compare"], ["leave out --check"]),
    (["--method", "raw", "--check-orders", "8"], ["--check-orders", "--check"]),
    (["--method", "raw", "--check", "--check-orders", "1"], ["2 or more"]),
    (["--method", "raw", "--check", "--check-steps", "0"], ["1 or more"]),
    (["--method", "raw", "--check", "--check-out", "x.txt"], [".png, .svg or .pdf"]),
    (["--method", "raw", "--check-out", "x.png"], ["give --check"]),
    (["--method", "raw", "--limit", "3"], ["--compare"]),
    (["--compare", "--limit", "3"], ["--limit", "INPUT is one"]),
    (["--compare", "--check-cascade"], ["--check-cascade", "--compare", "leave it out"]),
    (["--compare", "--method", "raw, rollout", "--steps", "3"], ["--steps", "integrated-gradients", "raw, rollout are compared"]),
    (["--compare", "--out", "x.npy"], [".json, .csv, .png, .svg or .pdf"]),
    (["--compare", "--pixels", "2"], ["--pixels is for figures"]),
    (["--compare", "--out", "x.png", "--svg-text"], ["--svg-text is for .svg", "x.png"]),
    (["--compare", "--colors", "viridis"], ["--colors is viridis", "table", "leave it out"]),
    (["--method", "raw", "--check", "--check-out", "x.png", "--svg-text"], ["--svg-text is for .svg", "--check-out is 'x.png'"]),
    (["--method", "raw", "--check", "--check-out", "x.png", "--sidecar"], ["--sidecar is for figures", "--out"]),
])
def test_wrong_use_is_told_before_any_work(classifier, arguments, facts):
    assert_fails(run("explain", TEXT, "-m", classifier, *arguments), 2, *facts)


@pytest.mark.parametrize("arguments, facts", [
    ([TEXT, "--method", "ablation", "--unit", "head", "--check"], ["ablation", "heads", "positions"]),
    (["cat", "--method", "raw", "--check"], ["1 position", "two"]),
    (["", "--method", "raw", "--check"], ["0 positions", "two"]),
    (["cat", "--compare", "--method", "raw,rollout"], ["no method", "1 position"]),
    (["missing.txt", "--compare", "--method", "raw"], ["missing.txt: no such file"]),
])
def test_what_cannot_be_checked_is_said(classifier, arguments, facts):
    assert_fails(run("explain", *arguments, "-m", classifier), 1, *facts)


def test_tables_fold_where_the_terminal_is_narrow(classifier):
    """Nothing is lost: the numbers of a narrow table are those of a wide one."""
    for arguments in (["--method", "raw", *QUICK], ["--compare", "--method", "raw, integrated-gradients", "--check-orders", "4"]):
        wide, narrow = (ok("explain", TEXT, "-m", classifier, *arguments, environment={"COLUMNS": columns}) for columns in ("120", "40"))
        assert max(map(len, narrow.splitlines())) <= 40
        # From the heading of the table on; of the map above it, which is folded too, terminals show other bars.
        tables = [text[re.search(r"^faithfulness|^method +del ", text, re.MULTILINE).start():] for text in (wide, narrow)]
        numbers = [sorted(re.findall(r"-?\d*\.\d{2,3}", table)) for table in tables]
        assert numbers[0] == numbers[1] and len(numbers[0]) > 20
