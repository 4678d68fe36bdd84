"""The gallery: every picture is made, the page names and explains them, and the same again gives the same bytes."""

import html.parser
import json
import re
import shlex
import signal
import subprocess

import pytest
from PIL import Image

from program import ENVIRONMENT, PROGRAM, ROOT, assert_fails, ok, run
from test_real_models import CACHE, fetched

FETCHED = ("all-minilm-l6-v2", "smollm2-135m-instruct")
# What ./run says of itself.
THROUGH_RUN = {"FOVEA_CALLED_AS": "./run"}


class Page(html.parser.HTMLParser):
    """What a page refers to, its texts by tag, and whether its tags are closed."""

    VOID = ("meta", "img")

    def __init__(self, text):
        super().__init__()
        self.files, self.anchors, self.ids, self.images, self.open_tags = [], [], [], [], []
        self.texts = {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        for link in (given.get("href"), given.get("src")):
            if link is not None:
                (self.anchors if link.startswith("#") else self.files).append(link)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "img":
            self.images.append(given)
        if tag not in self.VOID:
            self.open_tags.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        if self.open_tags:
            self.texts[self.open_tags[-1]][-1] += data

    def commands(self):
        return [text for text in self.texts["code"] if " --out " in text and "\n" not in text]


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pictures(folder):
    return {name for name in files(folder) if name.endswith((".png", ".html")) and name != "index.html"}


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    for name in FETCHED:
        fetched(name)  # skips where it cannot be had
    place = tmp_path_factory.mktemp("demo")
    said = ok("demo", cwd=place, environment={"FOVEA_CACHE": str(CACHE)})
    return place / "gallery", said


@pytest.fixture(scope="module")
def page(gallery):
    return Page((gallery[0] / "index.html").read_text())


@pytest.fixture(scope="module")
def poor(tmp_path_factory):
    """The gallery of a machine that has only what is bundled, made through ./run in a copy of the sources."""
    place = tmp_path_factory.mktemp("poor")
    for name in ("examples", "models"):
        (place / name).symlink_to(ROOT / name)
    said = ok("demo", cwd=place, environment={"FOVEA_CACHE": str(place / "none"), **THROUGH_RUN})
    return place, said


def test_the_gallery_is_one_page_with_its_pictures(gallery, page):
    folder, said = gallery
    assert "wrote gallery/index.html" in said and "left out" not in said
    assert page.open_tags == []
    assert all(not link.startswith(("http", "//")) and (folder / link).exists() for link in page.files)
    assert set(page.files) == pictures(folder)
    assert {re.search(r"--out (\S+)", command)[1] for command in page.commands()} == pictures(folder)
    assert "url(" not in (folder / "index.html").read_text()  # a style loads nothing either


def test_every_chapter_has_its_place_in_the_table_of_contents(page):
    chapters = [name for name in page.ids if name not in ("words", "next")]
    assert len(chapters) == 9
    assert page.anchors == chapters_twice(chapters)


def chapters_twice(chapters):
    """In the bar and on the cards."""
    return [f"#{name}" for name in [*chapters, *chapters]]


def test_every_picture_is_told_to_those_who_cannot_see_it(page):
    shown = [image for image in page.images if image["alt"]]
    assert len(shown) == len(page.images) - 9  # the faces on the cards stand beside their names
    assert all(len(image["alt"]) > 30 for image in shown)
    assert all(int(image["width"]) > 0 and int(image["height"]) > 0 for image in page.images)


# Pictures of no attention: boxes that a model answers with, and areas cut out of rows.
WITHOUT_A_SUM = {"6-objects.png", "6-masks.png", "6-why.png", "7-composite.png", "7-distances.png", "7-convolution.png",
                 "8-parts.png", "9-zebra.png", "9-giraffe.png", "9-word.png"}


def test_every_caption_says_what_the_numbers_are(gallery):
    folder, _ = gallery
    for path in sorted(folder.glob("*.png")):
        caption = Image.open(path).text["Description"]
        if path.name[0] == "9":  # of all layers and heads; what is told is the method and the answer
            assert re.match(r"(relevancy|rollout|input-gradient): ", caption), f"{path.name}: {caption}"
        if path.name == "6-objects.png" or path.name[0] == "9":
            continue
        assert re.search(r"\b(rows?|columns?|built, not learned)\b", caption, re.IGNORECASE), f"{path.name}: {caption}"
        if not path.name.startswith(("3-warm", "3-cool", "3-cold", "3-additive", "7-convolution")):  # of no model
            assert re.search(r"\blayers? \d", caption) and re.search(r"\bheads?\b", caption), f"{path.name}: {caption}"
        assert "sum" in caption or path.name in WITHOUT_A_SUM, f"{path.name}: {caption}"
        if path.name[0] in "5678" and path.name != "7-convolution.png" and not path.name.startswith("8-text"):
            assert "a small model trained on synthetic scenes" in caption, f"{path.name}: {caption}"
    assert "not what the model computed" in Image.open(folder / "3-similarities.png").text["Description"]
    additive = Image.open(folder / "3-additive.png").text["Description"]
    assert "additive similarity v · tanh(q Wa_q + k Wa_k), weights as the file states them" in additive and "1 head " in additive


def test_what_is_said_of_the_bundled_models_stands_in_their_cards(page):
    """Parameters, scores and those of random weights: every number of the texts is a number of the model's card."""
    facts = {text for text in page.texts["dd"] if re.match(r"(en-fr|scenes-\w+), made for fovea", text)}
    assert len(facts) == 3
    for fact in facts:
        card = (ROOT / "models" / fact.split(",")[0] / "README.md").read_text()
        for number in re.findall(r"\d[\d,.]*\d|\d+", fact.replace("7.9 million", "7.88 M").replace("7.1 million", "7.07 M")):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", card), f"{number} is not in the card: {fact}"
        assert "random weights" in fact


def test_the_same_again_gives_the_same_bytes(gallery, poor):
    before, again = files(gallery[0]), files(poor[0] / "gallery")
    assert len(again) > 20 and all(before[name] == again[name] for name in again if name != "index.html")


def test_without_models_it_makes_the_rest_and_says_what_is_missing(poor):
    place, said = poor
    text = " ".join(said.split())
    assert "left out: 1-heads.png, 1-head.png, 1-page.html, 3-steps.png, 3-similarities.png need the model all-minilm-l6-v2" in text
    assert "left out: 2-reading.png, 2-matrix.png, 8-text.png, 8-text-heads.png, 8-text-part.png, 9-word.png need the model smollm2-135m-instruct" in text
    assert "python3 tools/fetch_models.py" in text and (ROOT / "tools/fetch_models.py").exists()
    folder = place / "gallery"
    assert (folder / "3-cold.png").exists() and (folder / "8-overview.png").exists() and not (folder / "1-heads.png").exists()
    page = Page((folder / "index.html").read_text())
    assert set(page.files) == pictures(folder)
    assert sum(text.startswith("Left out: ") for text in page.texts["p"]) == 5  # in chapters 1, 2, 3, 8 and 9


def next_commands(said):
    return [line.strip() for line in said.split("Then try\n")[1].splitlines()]


def test_what_it_says_to_try_next_works(gallery, poor, tmp_path):
    for said, environment, cwd in (
        (gallery[1], {"FOVEA_CACHE": str(CACHE)}, tmp_path),
        (poor[1], {"FOVEA_CACHE": str(tmp_path / "none")}, poor[0]),
    ):
        commands = next_commands(said)
        assert 3 <= len(commands) <= 5
        for command in commands:
            name, *words = shlex.split(command)
            assert name == ("fovea" if said is gallery[1] else "./run")
            assert run(*words, cwd=cwd, environment=environment).returncode == 0, command


def test_commands_of_the_page_make_its_pictures(gallery, page, tmp_path):
    """As they are written there, in the folder that the gallery was made from; but for chapter 8, whose input is large."""
    folder, _ = gallery
    for command in page.commands():
        name = re.search(r"--out (\S+)", command)[1]
        if name.startswith("8-"):
            continue
        assert command.startswith("fovea ")
        words = shlex.split(command)[1:]
        words[words.index("--out") + 1] = str(tmp_path / name)
        made = run(*words, cwd=folder.parent, environment={"FOVEA_CACHE": str(CACHE)})
        assert made.returncode == 0, f"{command}: {made.stderr}"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), command


def test_words_are_written_without_marks_of_spaces():
    """Also where no word has two pieces."""
    fetched("smollm2-135m-instruct")
    command = ("text", "-m", "smollm2-135m-instruct", "The FBI is chasing", "--view", "matrix", "--head", 0, "--json")
    labels = [json.loads(ok(*command, *more, environment={"FOVEA_CACHE": str(CACHE)}))["result"]["rows"] for more in ((), ("--words",))]
    assert labels == [["The", "·FBI", "·is", "·chasing"], ["The", "FBI", "is", "chasing"]]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    assert_fails(run("demo", "--out", "file/below", cwd=tmp_path), 1, "file/below", "--out")


def test_nothing_calls_attention_importance(gallery):
    folder, _ = gallery
    assert "importan" not in (folder / "index.html").read_text().lower()


@pytest.mark.parametrize("cut", ["interrupt", "closed pipe"])
@pytest.mark.parametrize("there", [False, True])
def test_a_gallery_that_is_cut_off_leaves_nothing(tmp_path, there, cut):
    """And of a folder that was there what it held."""
    folder = tmp_path / "new" / "gallery"
    if there:
        folder.mkdir(parents=True)
        (folder / "mine.txt").write_text("kept")
    program = subprocess.Popen([PROGRAM, "demo", "--out", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT,
                               text=True)
    assert program.stdout.readline().startswith("wrote ")  # the first picture is there
    if cut == "interrupt":
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=60)
    else:
        program.stdout.close()
        program.wait(timeout=60)
    assert program.returncode == (130 if cut == "interrupt" else 1)
    assert sorted(path.name for path in tmp_path.rglob("*")) == (["gallery", "mine.txt", "new"] if there else [])
