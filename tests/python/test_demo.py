"""The gallery: every picture is made, the page names them, and the same again gives the same bytes."""

import html.parser
import re

import pytest

from program import assert_fails, ok, run
from test_real_models import CACHE, fetched


class Page(html.parser.HTMLParser):
    """What a page refers to, and what stands in its <code>."""

    def __init__(self, text):
        super().__init__()
        self.links, self.commands, self.open_tags, self.in_code = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("href", "src")]
        self.in_code = tag == "code"
        if tag not in ("meta", "img"):
            self.open_tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag
        self.in_code = False

    def handle_data(self, data):
        if self.in_code:
            self.commands.append(data)


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    for name in ("all-minilm-l6-v2", "smollm2-135m-instruct"):
        fetched(name)  # skips where it cannot be had
    place = tmp_path_factory.mktemp("demo")
    said = ok("demo", cwd=place, environment={"FOVEA_CACHE": str(CACHE)})
    return place / "gallery", said


def test_the_gallery_is_one_page_with_its_pictures(gallery):
    folder, said = gallery
    assert "wrote gallery/index.html" in said and "left out" not in said
    page = Page((folder / "index.html").read_text())
    assert page.open_tags == []
    assert all(not link.startswith(("http", "//")) and (folder / link).exists() for link in page.links)
    pictures = {name for name in files(folder) if name.endswith((".png", ".html")) and name != "index.html"}
    assert pictures == set(page.links)
    assert {re.search(r"--out (\S+)", command)[1] for command in page.commands} == pictures


def test_without_models_it_says_what_is_missing_and_makes_the_rest_to_the_byte(gallery, tmp_path):
    said = ok("demo", "--out", "gallery", cwd=tmp_path, environment={"FOVEA_CACHE": str(tmp_path / "none")})
    assert "left out: 1-heads.png needs the model all-minilm-l6-v2" in said
    before, again = files(gallery[0]), files(tmp_path / "gallery")
    assert len(again) > 3 and all(before[name] == again[name] for name in again if name != "index.html")
    assert (tmp_path / "gallery/3-cold.png").exists() and not (tmp_path / "gallery/1-heads.png").exists()
    assert "Left out: 1-heads.png" in (tmp_path / "gallery/index.html").read_text()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    assert_fails(run("demo", "--out", "file/below", cwd=tmp_path), 1, "file/below", "--out")


def test_nothing_calls_attention_importance(gallery):
    folder, _ = gallery
    assert "importan" not in (folder / "index.html").read_text().lower()
