"""`fovea serve` among clients that mean it ill, that are slow, that go away, and after a kill -9."""

import concurrent.futures
import io
import json
import os
import pathlib
import random
import signal
import socket
import struct
import time
import zlib

import numpy
import pytest
from models import bert
from png_files import SIGNATURE, chunk, png
from program import ROOT, assert_fails, run
from serving import serving, started, wait_until
from test_open import write_run

CORPUS = ROOT / "tests/fuzz/corpus/http_request"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def model(place):
    return bert(place / "tiny-bert")


@pytest.fixture(scope="module")
def long_path(place):
    path = place / "long.fovea.safetensors"
    write_run(path, [f"w{i}" for i in range(1500)], heads=1, layers=1)
    return path


@pytest.fixture(scope="module")
def server(model, long_path):
    with serving(model, long_path) as served:
        yield served


@pytest.fixture(scope="module")
def tile(server):
    (run,) = (each["run"] for each in server.json("/v1/runs")["runs"] if each["captured"])
    return f"/v1/runs/{run}/self/tiles/0/0"


def raw(server, content, timeout=10):
    """What the server says to these bytes, until it closes or says no more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        connection.settimeout(timeout)
        connection.sendall(content)
        got = b""
        try:
            while part := connection.recv(65536):
                got += part
                head, _, body = got.partition(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                if length and len(body) >= int(length[0].split(b":")[1]):
                    break
        except TimeoutError:
            pass
        return got


def status_of(answer):
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else None


def test_another_site_that_leads_here_is_refused(server):
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example"):
        assert server.error("/v1/models", 403, headers={"Host": host})
        assert server.error("/", 403, headers={"Host": host})
    assert server.get("/v1/runs", headers={"Host": "localhost:9999"})  # as through ssh -L


def test_pages_of_other_sites_may_not_post(server):
    order = json.dumps({"model": "tiny-bert", "input": {"text": "the cat"}})
    for origin in ("http://evil.example", "null", f"http://localhost:{server.port + 1}"):
        server.error("/v1/runs", 403, body=order, headers={"Origin": origin, "Content-Type": "application/json"})
    # What a form of any page may send without asking is no order either.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        server.error("/v1/runs", 415, body=order, headers={"Content-Type": kind})
    status, headers, _ = server.ask("/v1/runs", method="OPTIONS", headers={"Origin": "http://evil.example"})
    assert status in (403, 405) and "access-control-allow-origin" not in headers


def test_no_route_leads_to_a_file(server, place):
    (place / "secret.txt").write_text("secret")
    names = ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "....//", "..%5c", "%00", "a%00b",
             str(place / "secret.txt").replace("/", "%2f")]
    patterns = ["/{}", "/assets/{}", "/v1/{}", "/v1/runs/{}", "/v1/runs/{}/self/labels", "/v1/runs/aa/{}/labels",
                "/v1/runs/aa/self/tiles/0/0/0/0/{}", "/v1/diff/{}/aa/self/tiles/0/0/0/0/0"]
    for name in names:
        for pattern in patterns:
            answer = raw(server, f"GET {pattern.format(name)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert status_of(answer) in (400, 404), (pattern, name, answer[:200])
            assert b"secret" not in answer.partition(b"\r\n\r\n")[2].replace(b"secret.txt", b"") and b"root:" not in answer


def test_a_model_is_a_name_and_never_a_path(server, model):
    for name in (str(model), "../tiny-bert", "./tiny-bert", "tiny-bert/", "/etc/passwd", "tiny-bert/config.json"):
        error = server.error("/v1/runs", 404, body={"model": name, "input": {"text": "the cat"}})
        assert error["field"] == "model"
    for kind, field in (("matrix", "token"), ("maps", "similar_to")):
        status, _, _ = server.ask("/v1/runs/00/ask", body={"kind": kind, field: "/etc/passwd"})
        assert status in (400, 404)


def test_an_upload_that_would_fill_memory_is_refused_at_once(server):
    header = struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(30001) * 100)
    bomb = SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    before = memory(server)
    error = server.error("/v1/uploads", 422, body=bomb, headers={"Content-Type": "image/png"})
    assert "30000" in error["message"].replace(",", "")
    assert memory(server) - before < 100_000
    for content in (b"", b"not a picture", png(10, 10)[:40], b"PK\x03\x04junk", b"\x93NUMPY\x01\x00junk"):
        status, _, _ = server.ask("/v1/uploads", body=content, headers={"Content-Type": "image/png"})
        assert status in (400, 422), content


def memory(server):
    """In kB."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])


def test_every_limit_has_a_status_of_its_own(server):
    def asked(head):
        return status_of(raw(server, head.encode()))

    assert asked("GET /" + "a" * 9000 + " HTTP/1.1\r\nHost: localhost\r\n\r\n") == 414
    assert asked("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "a" * 40000 + "\r\n\r\n") == 431
    assert asked("GET / HTTP/1.1\r\nHost: localhost\r\n" + "X: a\r\nY: b\r\n" + "".join(f"Z{i}: c\r\n" for i in range(120)) + "\r\n") == 431
    post = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    assert asked(post.format("/v1/runs", 2 << 20)) == 413
    assert asked(post.format("/v1/uploads", 1 << 40)) == 413
    assert asked("POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 411
    assert asked("DELETE /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n") == 405


def test_a_token_is_asked_of_all_but_the_page(model):
    token = "s3cret-token-of-32-characters-xx"
    with serving("--token", token, model) as served:
        assert served.url.endswith(f"/?token={token}")
        assert served.ask("/")[0] == 200
        for wrong in (None, "", token[:-1], token + "x", token[:-1] + "y", token.upper()):
            headers = {} if wrong is None else {"Authorization": f"Bearer {wrong}"}
            served.error("/v1/models", 401, headers=headers)
            if wrong:
                served.error(f"/v1/models?token={wrong}", 401)
        assert served.get("/v1/models", headers={"Authorization": f"Bearer {token}"})
        cookie = served.ask(f"/?token={token}")[1]["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert served.get("/v1/models", headers={"Cookie": cookie.split(";")[0]})


def test_an_address_that_others_reach_has_a_token_made_up(model):
    with serving("--host", "0.0.0.0", model) as served:
        token = served.url.partition("?token=")[2]
        assert len(token) == 32
        served.error("/v1/models", 401)
        assert served.get("/v1/models", headers={"Authorization": f"Bearer {token}"})


def test_thousands_of_malformed_requests_end_with_the_right_status(server):
    random_bytes = random.Random(5)
    corpus = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
    statuses = {}
    # Several at a time: most of the time is the system's.
    requests = []
    for i in range(3000):
        content = bytearray(random_bytes.choice(corpus))
        for _ in range(random_bytes.randint(1, 6)):
            at = random_bytes.randrange(len(content))
            content[at:at + random_bytes.randint(0, 4)] = random_bytes.randbytes(random_bytes.randint(0, 4))
        requests.append(bytes(content) + b"\r\n\r\n")

    def ask(content):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            return status_of(connection.recv(65536))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for status in pool.map(ask, requests):
            statuses[status] = statuses.get(status, 0) + 1
    known = {200, 304, 400, 401, 403, 404, 405, 411, 413, 414, 415, 417, 431, 499, 501, 505, None}
    assert set(statuses) <= known, statuses
    assert statuses[400] > 500
    assert server.json("/v1/status")["connections"] < 50


def test_closing_a_request_cancels_its_work(server, model):
    before = server.json("/v1/status")["counts"]["left"]
    body = json.dumps({"model": "scenes-detr", "input": {"upload": upload(server)}}).encode()
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    wait_until(lambda: server.json("/v1/status")["jobs"]["runs"] == 1 or server.json("/v1/runs")["runs"][0]["model"] == "scenes-detr", "the run begins")
    begun = server.json("/v1/status")["jobs"]["runs"] == 1
    connection.close()
    if begun:
        wait_until(lambda: server.json("/v1/status")["jobs"]["runs"] == 0, "the run ends")
        assert server.json("/v1/status")["counts"]["left"] >= before


def upload(server):
    picture = png(1500, 1200, lambda x, y: (x % 251, y % 241, (x + y) % 239))
    return json.loads(server.get("/v1/uploads", body=picture, headers={"Content-Type": "image/png"}))["upload"]


def test_equal_requests_share_one_run(server):
    order = {"model": "tiny-bert", "input": {"text": "a dog ran on a mat because a cat sat"}}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = {run for run, _ in pool.map(lambda _: server.run(**order), range(8))}
    assert len(runs) == 1


def test_slow_connections_hold_nobody_up(server, tile):
    def asked(count):
        times = []
        for i in range(count):
            begin = time.perf_counter()
            server.get(f"{tile}/0/{i % 5}/{i // 5 % 5}")
            times.append(time.perf_counter() - begin)
        return sorted(times)[int(0.9 * count)]

    alone = asked(50)
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
    for connection in slow:
        connection.sendall(b"GET /v1/status HTTP/1.1\r\nX: ")
    for _ in range(3):
        for connection in slow:
            connection.sendall(b"a")
        beside = asked(50)
    assert server.json("/v1/status")["connections"] >= 300
    for connection in slow:
        connection.close()
    assert beside < 3 * alone + 0.05, (alone, beside)
    wait_until(lambda: server.json("/v1/status")["connections"] < 50, "their connections are gone")


def test_many_clients_get_the_same_tiles_and_memory_stays(server, tile):
    wanted = {path: server.get(path) for path in (f"{tile}/{level}/0/0" for level in range(3))}
    before = memory(server)

    def client(number):
        connection = server.connect()
        for i in range(10):
            path = f"{tile}/{(number + i) % 3}/0/0"
            connection.request("GET", path)
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, wanted[path])
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        list(pool.map(client, range(80)))
    assert memory(server) - before < 60_000


def test_runs_are_dropped_by_age_where_memory_is_short(model):
    with serving("--memory", 64, model) as served:
        upload_of = lambda size: json.loads(served.get(  # noqa: E731
            "/v1/uploads", headers={"Content-Type": "application/octet-stream"},
            body=npy(numpy.full((1, size, size), 1 / size, "f4"))))["upload"]
        first, _ = served.run(input={"upload": upload_of(2600)})
        assert served.get(f"/v1/runs/{first}")
        second, _ = served.run(input={"upload": upload_of(2601)})
        third, _ = served.run(input={"upload": upload_of(2602)})
        assert "dropped" in served.error(f"/v1/runs/{first}", 410)["message"]
        assert served.get(f"/v1/runs/{third}")
        assert served.error("/v1/runs/none", 404)
        again, _ = served.run(input={"upload": upload_of(2600)})
        assert again == first and served.get(f"/v1/runs/{first}")
        del second


def npy(array):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


def test_a_model_that_is_gone_or_changed_says_so_and_the_rest_goes_on(place):
    first, second = bert(place / "going"), bert(place / "staying")
    with serving(first, second) as served:
        served.run(model="going", input={"text": "the cat"})
        weights = first / "model.safetensors"
        kept = weights.read_bytes()
        weights.unlink()
        error = served.error("/v1/runs", 422, body={"model": "going", "input": {"text": "the dog"}})
        assert error["field"] == "model" and str(place) not in error["message"]
        assert served.run(model="staying", input={"text": "the dog"})
        weights.write_bytes(kept[:1000])
        assert served.error("/v1/runs", 422, body={"model": "going", "input": {"text": "the dog"}})["field"] == "model"
        weights.write_bytes(kept)
        run, _ = served.run(model="going", input={"text": "the dog ran"})  # a text that the other, its equal, has not run
        # Cut short where it lies, while its run is open: whoever read it now would end the program.
        os.truncate(weights, 1000)
        question = {"kind": "explain", "method": "input-gradient"}
        assert "written to" in served.error(f"/v1/runs/{run}/ask", 422, body=question)["message"]
        assert served.get(f"/v1/runs/{run}/self/row/0/0/0")  # kept in memory
        served.error("/v1/runs", 422, body={"model": "going", "input": {"text": "a dog"}})
        assert served.run(model="staying", input={"text": "a dog"})


def test_a_captured_run_that_is_cut_short_says_so(place, long_path):
    path = place / "cut.fovea.safetensors"
    write_run(path, [f"w{i}" for i in range(700)], heads=1, layers=1)
    with serving(path, long_path) as served:
        cut, whole = (next(each["run"] for each in served.json("/v1/runs")["runs"] if each["name"] == name)
                      for name in ("cut.fovea.safetensors", "long.fovea.safetensors"))
        os.truncate(path, 5000)
        assert "written to" in served.error(f"/v1/runs/{cut}/self/tiles/0/0/0/0/0", 422)["message"]
        assert served.get(f"/v1/runs/{whole}/self/tiles/0/0/0/0/0")


def test_after_kill_9_it_starts_on_the_same_port_with_the_same_answers(place, long_path, tmp_path):
    environment = {"TMPDIR": str(tmp_path)}
    served = started("--port", 0, long_path, environment=environment)
    port = served.port
    (listed,) = served.json("/v1/runs")["runs"]
    path = f"/v1/runs/{listed['run']}/self/tiles/0/0/1/0/0"
    tile_before, etag = served.get(path), served.ask(path)[1]["etag"]
    idle = socket.create_connection(("127.0.0.1", port))
    served.process.kill()
    served.process.wait()
    with serving(long_path, port=port, environment=environment) as again:
        assert again.port == port
        assert again.json("/v1/runs")["runs"] == [listed]
        assert (again.get(path), again.ask(path)[1]["etag"]) == (tile_before, etag)
    idle.close()
    assert list(tmp_path.iterdir()) == []


def test_signals_end_it_cleanly_and_the_port_is_free_at_once(model):
    served = started("--port", 0, model)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
        port = served.port
        served.get("/v1/runs")
        assert served.stop(number) == (0, "")
        served = started("--port", port, model)
        assert served.port == port
    served.stop()


def test_a_port_that_is_taken_is_told(server, model):
    assert_fails(run("serve", "--port", server.port, model), 1, server.port, "another program")
    assert_fails(run("serve", "--port", 70000), 2, "65535")
    assert_fails(run("serve", "--host", "no.such.host.invalid", model), 2, "--host")


def test_without_a_display_the_address_is_said_all_the_same(model):
    served = started("--port", 0, "--open", model, environment={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
    assert served.get("/v1/runs")
    code, err = served.stop()
    assert code == 0


def test_folders_are_searched_for_runs_but_not_deeper(place, long_path, model, tmp_path):
    (tmp_path / "deep").mkdir()
    os.link(long_path, tmp_path / "a.safetensors")
    os.link(long_path, tmp_path / "deep" / "b.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"junk")
    with serving(tmp_path) as served:
        assert [each["name"] for each in served.json("/v1/runs")["runs"]] == ["a.safetensors"]
    assert_fails(run("serve", tmp_path / "none.safetensors"), 1, "none.safetensors")
