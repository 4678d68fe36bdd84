"""`fovea serve`: what every route answers, compared with what the program itself says of the same run."""

import json
import os
import re
import signal
import struct
import subprocess

import numpy
import pytest
from models import bert, causal
from png_files import png
from program import ROOT, ok
from serving import decoded, serving, started, wait_until
from test_open import write_run
from test_picture_files import seeing

SENTENCE = "the cat sat on the mat because it was tired"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def model(place):
    return bert(place / "tiny-bert")


@pytest.fixture(scope="module")
def writer(place):
    return causal(place / "tiny-gpt2")


@pytest.fixture(scope="module")
def captured(place, model):
    path = place / "runs" / "cat.fovea.safetensors"
    path.parent.mkdir()
    ok("capture", "-m", model, SENTENCE, "--out", path)
    return path


@pytest.fixture(scope="module")
def server(model, writer, captured):
    with serving(model, writer, captured.parent) as served:
        yield served


@pytest.fixture(scope="module")
def run(server):
    """The captured run."""
    return next(run["run"] for run in server.json("/v1/runs")["runs"] if run["captured"])


def exported(captured, *options):
    """Weights of the same run, as the program writes them."""
    path = captured.parent.parent / "weights.npy"
    ok("open", captured, *options, "--exact", "--out", path)
    return numpy.load(path)


def test_its_address_is_one_line_and_the_port_the_next_that_is_free(model):
    with serving(model, port=0) as served:
        assert served.line.count("\n") == 1 and served.url == f"http://127.0.0.1:{served.port}/"
        result = started("--port", 0, model)
        assert result.port != served.port
        assert result.stop(signal.SIGINT) == (0, "")


def test_models_are_listed_by_their_last_names_and_those_at_hand_too(server):
    models = {model["name"]: model for model in server.json("/v1/models")["models"]}
    assert models["tiny-bert"]["takes"] == ["text"] and not models["tiny-bert"]["writes"]
    assert models["tiny-gpt2"]["writes"]
    assert models["scenes-vit"]["takes"] == ["picture"]  # comes with fovea
    assert models["en-fr"]["translates"]


def test_registries_are_those_of_the_program(server):
    assert server.json("/v1/questions") == json.loads(ok("questions", "--json"))
    assert "rollout" in [method["name"] for method in server.json("/v1/methods")["methods"]]


def test_a_captured_run_says_what_it_is(server, run):
    facts = server.json(f"/v1/runs/{run}")
    (site,) = facts["sites"]
    assert site["name"] == "self" and site["mask"] == "none" and site["layers"] == list(range(len(site["layers"])))
    (axis,) = facts["axes"]
    assert axis["positions"] == site["rows"] == site["columns"] == 12
    assert [position["text"] for position in axis["special"]] == ["[CLS]", "[SEP]"]
    assert facts["captured"] and facts["name"] == "cat.fovea.safetensors"
    assert "error" in json.loads(server.ask(f"/v1/runs/{run}/picture")[2])


def test_a_text_is_run_once_and_then_known_by_its_hash(server, model):
    first, lines = server.run(model="tiny-bert", input={"text": SENTENCE})
    again, short = server.run(model="tiny-bert", input={"text": SENTENCE})
    other, _ = server.run(model="tiny-bert", input={"text": "the dog ran"})
    assert first == again != other and short == [{"run": first}]
    facts = server.json(f"/v1/runs/{first}")
    assert facts["input"]["text"] == SENTENCE and not facts["captured"]
    assert facts["outputs"] == json.loads(ok("text", "-m", model, SENTENCE, "--json"))["outputs"]
    assert {first, other} <= {each["run"] for each in server.json("/v1/runs")["runs"]}


def test_words_are_told_as_they_are_written(server):
    run, lines = server.run(model="tiny-gpt2", input={"text": "the cat sat"}, generate=4)
    written = [line["written"] for line in lines if "written" in line]
    assert len(written) == 4
    assert server.json(f"/v1/runs/{run}")["outputs"]["written_tokens"]


@pytest.mark.parametrize("encoding, error", [("L16", 2e-4), ("L8", 5e-2), ("S16", 4e-4), ("F32", 1e-7)])
def test_a_tile_is_the_map_in_its_code(server, run, captured, encoding, error):
    weights = exported(captured, "--layer", 1, "--head", 2)
    header, cells = decoded(server.get(f"/v1/runs/{run}/self/tiles/1/2/0/0/0?enc={encoding}"))
    assert header["encoding"] == encoding and header["pool"] == "none" and not header["approximate"]
    numpy.testing.assert_allclose(cells, weights, rtol=error, atol=1e-9)


@pytest.mark.parametrize("head", ["mean", "max"])
def test_heads_together_are_a_map_too(server, run, captured, head):
    weights = exported(captured, "--layer", 0, "--head", head)
    _, cells = decoded(server.get(f"/v1/runs/{run}/self/tiles/0/{head}/0/0/0?enc=F32"))
    numpy.testing.assert_allclose(cells, weights, rtol=1e-5)


@pytest.mark.parametrize("of", ["weight", "times-even", "score", "value-weighted"])
def test_every_value_of_a_map_can_be_asked_for(server, run, captured, of):
    weights = exported(captured, "--layer", 0, "--head", 1, "--of", of, "--view", "matrix")
    header, cells = decoded(server.get(f"/v1/runs/{run}/self/tiles/0/1/0/0/0?of={of}"))
    assert header["encoding"] == ("S16" if of == "score" else "L16")
    numpy.testing.assert_allclose(cells, weights, rtol=5e-4, atol=1e-9)


def pooled(weights, allowed, level, pool):
    """By the definition, in double."""
    side, size = 2 ** level, len(weights)
    blocks = -(-size // side)
    cells = numpy.full((blocks, blocks), numpy.nan)
    for r in range(blocks):
        for c in range(blocks):
            part = numpy.s_[r * side:(r + 1) * side, c * side:(c + 1) * side]
            values = weights[part][allowed[part]]
            if values.size:
                cells[r, c] = values.max() if pool == "max" else values.mean()
    return cells


@pytest.fixture(scope="module")
def long_run(place):
    """1,200 causal positions, made without fovea, and their weights in double."""
    path = place / "long.fovea.safetensors"
    maps = write_run(path, [f"w{i}" for i in range(1200)], heads=2, layers=1, causal=True)
    with serving(path) as served:
        yield served, served.json("/v1/runs")["runs"][0]["run"], maps[0]


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_tiles_of_every_level_are_those_of_the_definition(long_run, level, pool):
    served, run, maps = long_run
    wanted = pooled(maps[1], numpy.tri(1200, dtype=bool), level, pool)
    size = len(wanted)
    for y in range(-(-size // 256)):
        for x in range(-(-size // 256)):
            header, cells = decoded(served.get(f"/v1/runs/{run}/self/tiles/0/1/{level}/{y}/{x}?agg={pool}"))
            assert header["causal"] and header["level"] == level and (header["row"], header["col"]) == (256 * y, 256 * x)
            assert header["pool"] == ("none" if level == 0 else pool) and not header["approximate"]
            part = wanted[256 * y:256 * y + 256, 256 * x:256 * x + 256]
            assert cells.shape == part.shape
            numpy.testing.assert_array_equal(numpy.isnan(cells), numpy.isnan(part))
            numpy.testing.assert_allclose(cells, part, rtol=3e-4, atol=3e-10)


def test_an_overview_is_looked_at_first_and_exact_soon_after(place):
    path = place / "longer.fovea.safetensors"
    maps = write_run(path, [f"w{i}" for i in range(2600)], heads=1, layers=1, causal=True)
    wanted = pooled(maps[0][0], numpy.tri(2600, dtype=bool), 4, "max")
    with serving(path) as served:
        run = served.json("/v1/runs")["runs"][0]["run"]
        tile = f"/v1/runs/{run}/self/tiles/0/0/4/0/0"
        _, headers, content = served.ask(tile)
        header, look = decoded(content)
        assert header["approximate"] and header["pool"] == "max"
        assert headers["cache-control"] == "no-store" and "etag" not in headers and headers["retry-after"]
        numpy.testing.assert_array_equal(numpy.isnan(look), numpy.isnan(wanted))
        assert (numpy.nan_to_num(look) <= numpy.nan_to_num(wanted) * 1.001).all()  # of some of the rows
        wait_until(lambda: not decoded(served.get(tile))[0]["approximate"], "the exact tile")
        _, headers, content = served.ask(tile)
        numpy.testing.assert_allclose(decoded(content)[1], wanted, rtol=3e-4, atol=3e-10)
        assert "immutable" in headers["cache-control"] and headers["etag"]
        at_once = decoded(served.get(f"/v1/runs/{run}/self/tiles/0/mean/4/0/0?exact=1&agg=mean"))
        assert not at_once[0]["approximate"]
        numpy.testing.assert_allclose(at_once[1], pooled(maps[0][0], numpy.tri(2600, dtype=bool), 4, "mean"), rtol=3e-4)


def test_times_even_of_a_causal_map_counts_what_a_row_may_see(long_run):
    served, run, maps = long_run
    _, cells = decoded(served.get(f"/v1/runs/{run}/self/tiles/0/0/0/4/4?of=times-even&enc=F32"))
    rows = numpy.arange(1024, 1200)
    wanted = maps[0][1024:, 1024:] * (rows + 1)[:, None]
    numpy.testing.assert_allclose(numpy.nan_to_num(cells), wanted, rtol=2e-4, atol=1e-7)


def test_the_mean_of_heads_pools_cell_by_cell(long_run):
    served, run, maps = long_run
    wanted = pooled(maps.mean(axis=0), numpy.tri(1200, dtype=bool), 3, "max")
    _, cells = decoded(served.get(f"/v1/runs/{run}/self/tiles/0/mean/3/0/0"))
    numpy.testing.assert_allclose(cells, wanted, rtol=3e-4)


def test_what_was_not_captured_says_so(long_run):
    served, run, _ = long_run
    assert "without values" in served.error(f"/v1/runs/{run}/self/tiles/0/0/0/0/0?of=value-weighted", 422)["message"]
    (site,) = served.json(f"/v1/runs/{run}")["sites"]
    assert site["mask"] == "causal" and site["of"] == ["weight", "times-even", "score"]


def test_rows_and_columns_are_plain_numbers(server, run, captured):
    weights = exported(captured, "--layer", 1, "--head", 0)
    row = numpy.frombuffer(server.get(f"/v1/runs/{run}/self/row/1/0/3"), "<f4")
    column = numpy.frombuffer(server.get(f"/v1/runs/{run}/self/column/1/0/5"), "<f4")
    numpy.testing.assert_allclose(row, weights[3], rtol=1e-6)
    numpy.testing.assert_allclose(column, weights[:, 5], rtol=1e-6)
    assert abs(row.sum() - 1) < 1e-5


def test_a_cell_says_what_its_weight_is_made_of(server, run, captured):
    weights = exported(captured, "--layer", 1, "--head", 0)
    cell = server.json(f"/v1/runs/{run}/self/cell/1/0/3/5")
    assert cell["weight"] == pytest.approx(weights[3, 5], rel=1e-6) and cell["value"] == cell["weight"] and cell["allowed"]
    terms = cell["terms"]
    assert terms["dot"] == pytest.approx(sum(q * k for q, k in zip(terms["query"], terms["key"])), rel=1e-9)
    assert terms["products"] == pytest.approx([q * k for q, k in zip(terms["query"], terms["key"])])
    assert terms["score"] == pytest.approx(terms["scaled"]) == pytest.approx(terms["dot"] * terms["scale"])
    assert numpy.exp(terms["score"] - terms["lse"]) == pytest.approx(cell["weight"], rel=1e-5)


def test_labels_tell_tokens_their_bytes_and_their_words(server):
    text = "the unhappy cat"
    run, _ = server.run(model="tiny-bert", input={"text": text})
    answer = server.json(f"/v1/runs/{run}/self/labels?axis=row")
    labels = answer["labels"]
    assert answer["positions"] == len(labels) == 6 and answer["axis"] == "tokens"
    assert [label["kind"] for label in labels] == ["special"] + 4 * ["text"] + ["special"]
    for label in labels[1:-1]:
        begin, end = label["span"]
        assert bytes(label["bytes"]) == text.encode()[begin:end]
    assert labels[2]["group"] == labels[3]["group"] != labels[1]["group"]  # un ##happy
    assert all(isinstance(label["id"], int) for label in labels)
    part = server.json(f"/v1/runs/{run}/self/labels?axis=column&from=2&n=2")
    assert [label["position"] for label in part["labels"]] == [2, 3]


def test_quantiles_are_those_of_all_allowed_weights(server, run, captured):
    weights = exported(captured, "--layer", 1, "--head", 2)
    answer = server.json(f"/v1/runs/{run}/self/quantiles/1/2")
    assert answer["cells"] == weights.size and not answer["approximate"]
    for share, value in answer["quantiles"]:
        assert value == pytest.approx(numpy.quantile(weights, share, method="nearest"), rel=1e-6)


def test_the_strongest_weights_make_up_the_mass_asked_for(server, run, captured):
    weights = exported(captured, "--layer", 1, "--head", 2)
    answer = server.json(f"/v1/runs/{run}/self/topk/1/2?mass=0.5&rows=2:4")
    assert [row["row"] for row in answer["rows"]] == [2, 3]
    for row in answer["rows"]:
        order = numpy.argsort(-weights[row["row"]], kind="stable")
        count = int(numpy.searchsorted(numpy.cumsum(weights[row["row"]][order]), 0.5 * row["total"])) + 1
        assert row["columns"] == order[:count].tolist()
        assert row["sum"] >= 0.5 * row["total"] > row["sum"] - row["values"][-1]


def test_a_sprite_has_every_head_of_every_layer(server, run):
    facts = server.json(f"/v1/runs/{run}")
    (site,) = facts["sites"]
    header, cells = decoded(server.get(f"/v1/runs/{run}/self/sprite?size=12"))
    assert header["encoding"] == "L8"
    assert cells.shape == (12 * len(site["layers"]), 12 * site["heads"])
    _, tile = decoded(server.get(f"/v1/runs/{run}/self/tiles/1/2/0/0/0?enc=F32"))
    numpy.testing.assert_allclose(cells[12:24, 24:36], tile, rtol=5e-2)  # a cell a pixel, here


def test_a_difference_is_signed(server):
    a, _ = server.run(model="tiny-bert", input={"text": "the cat sat on the mat"})
    b, _ = server.run(model="tiny-bert", input={"text": "the dog sat on the mat"})
    header, cells = decoded(server.get(f"/v1/diff/{a}/{b}/self/tiles/1/0/0/0/0"))
    assert header["encoding"] == "S16"
    first, second = (decoded(server.get(f"/v1/runs/{run}/self/tiles/1/0/0/0/0?enc=F32"))[1] for run in (a, b))
    numpy.testing.assert_allclose(cells, first - second, rtol=5e-4, atol=1e-8)
    c, _ = server.run(model="tiny-bert", input={"text": "the cat"})
    assert "8 x 8" in server.error(f"/v1/diff/{a}/{c}/self/tiles/1/0/0/0/0", 400)["message"]


def test_questions_are_answered_as_the_program_answers_them(server, captured, run):
    facts = json.loads(ok("open", captured, "--view", "read", "--token", "cat", "--json"))
    answer = server.json(f"/v1/runs/{run}/ask", body={"kind": "read", "token": "cat"})
    assert answer["result"] == facts["result"] and answer["caption"] == facts["caption"]


@pytest.mark.parametrize("form, begins", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!doctype"),
                                          ("npy", b"\x93NUMPY"), ("csv", b"")])
def test_an_answer_has_the_form_that_is_asked_for(server, run, captured, place, form, begins):
    question = {"kind": "matrix", "layer": 1, "head": 2}
    content = server.get(f"/v1/runs/{run}/ask?as={form}", body=question)
    assert content.lower().startswith(begins.lower())
    path = place / f"same.{form}"
    ok("open", captured, "--layer", 1, "--head", 2, "--view", "matrix", "--out", path)
    if form in ("png", "svg", "npy", "csv"):
        assert content == path.read_bytes()
    types = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "csv": "text/csv"}
    if form in types:
        assert server.get(f"/v1/runs/{run}/ask", body=question, headers={"Accept": types[form]})[:4] == content[:4]


def test_pictures_are_uploads_and_their_runs_depend_on_their_bytes(server):
    upload = json.loads(server.get("/v1/uploads?name=dot.png", body=png(40, 30), headers={"Content-Type": "image/png"}))
    assert (upload["kind"], upload["width"], upload["height"], upload["name"]) == ("picture", 40, 30, "dot.png")
    run, _ = server.run(model="scenes-vit", input={"upload": upload["upload"]})
    facts = server.json(f"/v1/runs/{run}")
    assert facts["sort"] == "picture" and facts["picture"]
    grid = [axis["grid"] for axis in facts["axes"] if "grid" in axis]
    assert grid and facts["outputs"]["classes"]
    status, headers, picture = server.ask(f"/v1/runs/{run}/picture")
    assert (status, headers["content-type"], picture[:4]) == (200, "image/png", b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (facts["picture"]["width"], facts["picture"]["height"])
    maps = server.json(f"/v1/runs/{run}/ask", body={"kind": "maps", "at": [5, 5]})
    assert maps["result"]


def test_a_picture_to_compare_with_is_an_upload(place):
    with serving(seeing(place / "vit", "vit_model")) as served:
        seen, other = (json.loads(served.get(f"/v1/uploads?name={name}.png", body=png(32, 32, color), headers={"Content-Type": "image/png"}))
                       ["upload"] for name, color in (("seen", lambda x, y: (8 * x, 128, 4 * y)), ("other", lambda x, y: (128, 7 * x, 5 * y))))
        run, _ = served.run(model="vit", input={"upload": seen})
        question = {"kind": "explain", "method": "input-gradient", "pictures": {"against": other}}
        answer = served.json(f"/v1/runs/{run}/ask", body=question)
        assert answer["result"]["target"] == "similarity to “other.png”" and any(answer["result"]["scores"])
        named = served.json(f"/v1/runs/{run}/ask", body={**question, "against": "the rose"})
        assert named["result"]["target"] == "similarity to “the rose”" and named["result"]["scores"] == answer["result"]["scores"]
        served.error(f"/v1/runs/{run}/ask", 400, body={**question, "pictures": 5})


def test_uploaded_runs_and_arrays_need_no_model(server, captured, place):
    upload = json.loads(server.get("/v1/uploads", body=captured.read_bytes(), headers={"Content-Type": "application/octet-stream"}))
    run, _ = server.run(input={"upload": upload["upload"]})
    _, tile = decoded(server.get(f"/v1/runs/{run}/self/tiles/1/2/0/0/0?enc=F32"))
    numpy.testing.assert_allclose(tile, exported(captured, "--layer", 1, "--head", 2), rtol=1e-6)
    weights = numpy.full((2, 5, 5), 0.2, "f4")
    numpy.save(place / "even.npy", weights)
    upload = json.loads(server.get("/v1/uploads?name=even.npy", body=(place / "even.npy").read_bytes(),
                                   headers={"Content-Type": "application/octet-stream"}))
    run, _ = server.run(input={"upload": upload["upload"]})
    assert server.json(f"/v1/runs/{run}/self/quantiles/0/1")["mean"] == pytest.approx(0.2)


def test_sinks_are_told(server, place):
    weights = numpy.full((2, 1, 40, 40), 0.5 / 39, "f4")
    weights[1, :, :, 7] = 0.5
    numpy.save(place / "sink.npy", weights)
    upload = json.loads(server.get("/v1/uploads", body=(place / "sink.npy").read_bytes(),
                                   headers={"Content-Type": "application/octet-stream"}))
    run, _ = server.run(input={"upload": upload["upload"]})
    (site,) = server.json(f"/v1/runs/{run}")["sites"]
    assert [sink["position"] for sink in site["sinks"]] == [7] and site["sinks"][0]["share"] == pytest.approx(0.5)


def test_exact_tiles_never_change_and_are_known_by_a_tag(server, run):
    path = f"/v1/runs/{run}/self/tiles/1/2/0/0/0"
    status, headers, _ = server.ask(path)
    assert status == 200 and "immutable" in headers["cache-control"]
    status, again, content = server.ask(path, headers={"If-None-Match": headers["etag"]})
    assert (status, content, again["etag"]) == (304, b"", headers["etag"])
    assert server.ask(path + "?enc=L8")[1]["etag"] != headers["etag"]


def test_a_head_request_gets_the_length_alone(server, run):
    status, headers, content = server.ask(f"/v1/runs/{run}/self/tiles/1/2/0/0/0", method="HEAD")
    assert (status, content, headers["content-length"]) == (200, b"", str(32 + 2 * 144))


def test_wrong_addresses_say_what_there_is(server, run):
    assert server.error("/v1/runs/00/self/tiles/0/0/0/0/0", 404)
    assert "self" in server.error(f"/v1/runs/{run}/cross/tiles/0/0/0/0/0", 404)["message"]
    for path, field in [("self/tiles/99/0/0/0/0", "layer"), ("self/tiles/0/99/0/0/0", "head"), ("self/tiles/0/0/9/0/0", "level"),
                        ("self/tiles/0/0/0/7/0", "ty"), ("self/row/0/0/99", "i"), ("self/column/0/0/99", "j")]:
        assert server.error(f"/v1/runs/{run}/{path}", 404)["field"] == field
    for path, field in [("self/tiles/0/all/0/0/0", "head"), ("self/tiles/0/0/0/0/0?enc=PNG", "enc"),
                        ("self/tiles/0/0/0/0/0?agg=sum", "agg"), ("self/tiles/0/0/0/0/0?of=q", "of"),
                        ("self/tiles/0/0/0/0/0?encoding=L8", "encoding"), ("self/topk/0/0?mass=2", "mass"),
                        ("self/tiles/x/0/0/0/0", "layer")]:
        assert server.error(f"/v1/runs/{run}/{path}", 400)["field"] == field


def test_wrong_orders_name_their_field(server):
    for order, status, field in [({"model": "no", "input": {"text": "a"}}, 404, "model"), ({"model": "tiny-bert"}, 400, "input"),
                                 ({"model": "tiny-bert", "input": {}}, 400, "text"),
                                 ({"model": "tiny-bert", "input": {"txt": "a"}}, 400, "txt"),
                                 ({"model": "tiny-bert", "input": {"text": "a"}, "dtype": "f8"}, 400, "dtype"),
                                 ({"model": "tiny-bert", "input": {"upload": "none"}}, 404, "upload"),
                                 ({"input": {"text": "a"}}, 400, "model")]:
        error = server.error("/v1/runs", status, body=order)
        assert field is None or error["field"] == field, error
    assert server.error("/v1/runs", 400, body="{", headers={"Content-Type": "application/json"})


def test_a_question_that_does_not_fit_is_refused_with_its_field(server, run):
    assert server.error(f"/v1/runs/{run}/ask", 400, body={"kind": "matrx"})["field"] == "kind"
    assert server.error(f"/v1/runs/{run}/ask", 400, body={"kind": "matrix", "leyer": 9})["field"] == "leyer"
    assert server.error(f"/v1/runs/{run}/ask?as=gif", 400, body={"kind": "matrix"})["field"] == "as"


def test_the_page_is_html_with_a_policy(server):
    status, headers, content = server.ask("/")
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert content.lstrip().lower().startswith(b"<!doctype html")
    assert server.error("/no-such-file.js", 404)


def test_the_status_counts(server):
    status = server.json("/v1/status")
    assert status["counts"]["answered"] > 0 and status["connections"] >= 1 and status["program"].startswith("fovea ")
    wait_until(lambda: server.json("/v1/status")["jobs"]["runs"] == 0, "no run under way")


def commands_of_the_page():
    text = (ROOT / "docs/page.md").read_text()
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("command", commands_of_the_page())
def test_the_commands_of_docs_page_work(server, run, tmp_path, command):
    assert command.startswith("curl -s ")
    upload = json.loads(server.get("/v1/uploads", body=png(32, 32), headers={"Content-Type": "image/png"}))["upload"]
    environment = {**os.environ, "SERVER": server.url.rstrip("/"), "RUN": run, "PICTURE": upload}
    command = command.replace("curl ", "curl --fail-with-body ", 1)
    result = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, timeout=120)
    assert result.returncode == 0, (command, result.stdout, result.stderr)
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert all(files) and (files or json.loads(result.stdout.splitlines()[-1]))
    assert b'"error"' not in result.stdout
