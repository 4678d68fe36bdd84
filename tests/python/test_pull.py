"""fovea pull: what is downloaded, where it goes, who may read it, and what the machine allows."""

import json
import os
import pty
import resource
import shutil
import signal
import socket
import subprocess

import pytest

from hub_server import HubServer, git_name
from program import ENVIRONMENT, PROGRAM, assert_fails
from pulling import (COMMIT, FILES, MODEL, WANTED, WEIGHTS, assert_pulled, assert_whole, blob,
                     environment, folder, home, hub, incomplete, names, pull, snapshot)

# What is downloaded, and where it goes ------------------------------------------------------------


def test_a_model_lies_where_every_program_looks_for_it(pull, hub, home):
    result = pull(MODEL)
    assert_pulled(result)
    assert names(home) == WANTED
    assert_whole(home)
    for name in WANTED:
        link = snapshot(home) / name
        depth = "../" * (2 + name.count("/"))
        etag = hub.repositories[MODEL].etag(name)
        assert os.readlink(link) == f"{depth}blobs/{etag}"
    assert {path.name for path in (folder(home) / "blobs").iterdir()} == {
        hub.repositories[MODEL].etag(name) for name in WANTED}
    assert f"{MODEL}: 5 files" in result.stdout
    assert str(snapshot(home)) in result.stdout
    assert result.stdout.endswith(f"try: fovea info -m {MODEL}\n")


def test_a_second_pull_downloads_nothing(pull, hub):
    pull(MODEL)
    hub.requests.clear()
    result = pull(MODEL)
    assert_pulled(result)
    assert "nothing was downloaded" in result.stdout
    assert [request.path for request in hub.requests] == [f"/api/models/{MODEL}/revision/main"]


def test_json_says_what_there_is(pull, home):
    wanted = [{"name": name, "bytes": len(FILES[name])} for name in FILES if name in WANTED]
    answer = {"model": MODEL, "commit": COMMIT, "folder": str(snapshot(home)), "files": wanted,
              "downloaded_bytes": sum(item["bytes"] for item in wanted)}
    assert json.loads(pull(MODEL, "--json").stdout) == answer
    assert json.loads(pull(MODEL, "--json").stdout) == {**answer, "downloaded_bytes": 0}


@pytest.mark.parametrize("kind", ["model.safetensors", "pytorch_model.bin"])
def test_all_shards_that_the_index_names(pull, hub, home, kind):
    stem, suffix = kind.split(".")
    shards = {f"{stem}-0000{i}-of-00002.{suffix}": b"%d" % i * 1000 for i in (1, 2)}
    index = {"weight_map": {"a": min(shards), "b": max(shards), "c": min(shards)}}
    hub.add(MODEL, {"config.json": b"{}", **shards, f"{kind}.index.json": json.dumps(index).encode(),
                    f"{stem}-extra.{suffix}": b"not named"})
    assert_pulled(pull(MODEL))
    assert names(home) == {"config.json", f"{kind}.index.json", *shards}
    for name, content in shards.items():
        assert (snapshot(home) / name).read_bytes() == content


def test_pytorch_weights_serve_where_there_are_no_safetensors(pull, hub, home):
    hub.add(MODEL, {"config.json": b"{}", "pytorch_model.bin": b"weights", "tf_model.h5": b"x"})
    assert_pulled(pull(MODEL))
    assert names(home) == {"config.json", "pytorch_model.bin"}


def test_of_several_gguf_files_the_user_chooses_one(pull, hub, home):
    hub.add(MODEL, {"config.json": b"{}", "a-q8.gguf": b"GGUF a", "b-q4.gguf": b"GGUF b"})
    assert_fails(pull(MODEL), 1, "fovea: --file: ", "choose one of them: a-q8.gguf, b-q4.gguf")
    result = pull(MODEL, "--file", "b-q4.gguf")
    assert_pulled(result)
    assert names(home) == {"config.json", "b-q4.gguf"}
    assert f"try: fovea info -m {snapshot(home) / 'b-q4.gguf'}" in result.stdout
    assert_fails(pull(MODEL, "--file", "c.gguf"), 1, "no file 'c.gguf'", "a-q8.gguf")


def test_weights_of_other_frameworks_are_named(pull, hub):
    hub.add(MODEL, {"config.json": b"{}", "tf_model.h5": b"x", "flax_model.msgpack": b"y"})
    assert_fails(pull(MODEL), 1, "only tf_model.h5, flax_model.msgpack")
    hub.add(MODEL, {"README.md": b""})
    assert_fails(pull(MODEL), 1, "no weights at all")


def test_a_revision_has_a_ref_of_its_own_and_a_commit_none(pull, hub, home):
    hub.add(MODEL, FILES, revisions=("main", "v1.0", "refs/pr/3"))
    for revision in ("v1.0", "refs/pr/3"):
        result = pull(f"{MODEL}@{revision}")
        assert_pulled(result)
        assert (folder(home) / "refs" / revision).read_text() == COMMIT
        assert f"-m {MODEL}@{revision}" in result.stdout
    assert_pulled(pull(f"{MODEL}@{COMMIT}"))
    assert sorted(path.name for path in (folder(home) / "refs").iterdir()) == ["refs", "v1.0"]


def test_a_new_commit_shares_the_blobs_of_the_old(pull, hub, home):
    pull(MODEL)
    newer = "beef" + "0" * 36
    hub.add(MODEL, {**FILES, "config.json": b'{"model_type": "bert", "new": 1}'}, commit=newer)
    hub.requests.clear()
    assert_pulled(pull(MODEL))
    assert (folder(home) / "refs/main").read_text() == newer
    assert names(home, commit=newer) == WANTED
    assert b"new" in (snapshot(home, commit=newer) / "config.json").read_bytes()
    assert not hub.downloads("model.safetensors")
    assert (snapshot(home) / "config.json").read_bytes() == FILES["config.json"]


def test_a_listing_without_checksums_is_completed_by_asking(pull, hub, home):
    hub.add(MODEL, FILES, with_blobs=False)
    assert_pulled(pull(MODEL))
    assert_whole(home)
    assert blob(home, WEIGHTS).exists()
    assert (folder(home) / "blobs" / git_name(FILES["config.json"])).exists()
    assert sum(request.method == "HEAD" for request in hub.requests) == len(WANTED)


def test_a_renamed_model_is_found(pull, hub):
    hub.renamed["old/name"] = MODEL
    hub.repositories["old/name"] = hub.repositories[MODEL]
    assert_pulled(pull("old/name"))


def test_names_with_spaces_and_signs_arrive(pull, hub, home):
    name = "weights of #1 (50%)?.gguf"
    hub.add(MODEL, {name: b"GGUF", "config.json": b"{}"})
    assert_pulled(pull(MODEL, "--file", name))
    assert (snapshot(home) / name).read_bytes() == b"GGUF"


def test_empty_files_are_files(pull, hub, home):
    hub.add(MODEL, {**FILES, "vocab.txt": b""})
    assert_pulled(pull(MODEL))
    assert (snapshot(home) / "vocab.txt").read_bytes() == b""


def test_the_hub_cache_may_be_elsewhere(pull, tmp_path):
    assert_pulled(pull(MODEL, HF_HUB_CACHE=str(tmp_path / "cache")))
    assert (tmp_path / "cache/models--org--name/refs/main").read_text() == COMMIT


# Who may read what --------------------------------------------------------------------------------


def test_a_model_that_is_not_there(pull):
    assert_fails(pull("org/other"), 1, "org/other", "no such model, or it is private", "HF_TOKEN")
    assert_fails(pull("org/other", HF_TOKEN="hf_x"), 1, "org/other", "404", "no such model")


def test_a_revision_that_is_not_there(pull):
    assert_fails(pull(f"{MODEL}@v9"), 1, MODEL, "no revision 'v9'")


def test_a_private_model_needs_the_token(pull, hub, home):
    hub.add(MODEL, FILES, token="hf_secret")
    assert_fails(pull(MODEL), 1, "401", "HF_TOKEN")
    assert_fails(pull(MODEL, HF_TOKEN="hf_wrong"), 1, "401", "HF_TOKEN")
    assert_pulled(pull(MODEL, HF_TOKEN="hf_secret"))
    assert_whole(home)


def test_a_gated_model_says_where_to_ask(pull, hub):
    hub.add(MODEL, FILES, token="hf_secret", gated=True)
    for token in ("", "hf_other"):
        assert_fails(pull(MODEL, HF_TOKEN=token), 1, "gated", f"{hub.url}/{MODEL}", "HF_TOKEN")


def test_the_token_may_lie_in_a_file(pull, hub, home):
    hub.add(MODEL, FILES, token="hf_secret")
    home.mkdir()
    (home / "token").write_text("hf_secret\n")
    assert_pulled(pull(MODEL))
    (home / "token").write_text("hf_secret\nX-Evil: 1")
    assert_fails(pull(MODEL), 1, home / "token", "no token has")


def test_the_token_goes_to_no_other_host(pull, hub):
    hub.add(MODEL, FILES, token="hf_secret")
    assert_pulled(pull(MODEL, HF_TOKEN="hf_secret"))
    own = f"127.0.0.1:{hub.port}"
    for request in hub.requests:
        expected = "Bearer hf_secret" if request.host == own else None
        assert request.headers.get("authorization") == expected, request
    assert {request.host for request in hub.requests} == {own, f"localhost:{hub.port}"}


def test_nor_to_another_port_of_the_same_host(pull, hub):
    with HubServer() as other:
        other.add(MODEL, FILES)
        hub.faults.redirect = f"{other.url}/storage/{MODEL}/model.safetensors"
        hub.add(MODEL, {"model.safetensors": WEIGHTS}, token="hf_secret")
        assert_pulled(pull(MODEL, HF_TOKEN="hf_secret"))
        assert len(other.requests) == 1
        assert "authorization" not in other.requests[0].headers


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/x", "gopher://x/"])
def test_redirects_lead_to_http_only(pull, hub, target):
    hub.faults.redirect = target
    assert_fails(pull(MODEL), 1, "redirects to", target)


def test_redirects_in_a_circle_end(pull, hub):
    hub.faults.redirect = f"{hub.url}/{MODEL}/resolve/main/config.json"
    assert_fails(pull(MODEL), 1, "more than 10 times")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate")
def test_https_is_checked_and_never_left(pull, tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=IP:127.0.0.1,DNS:localhost", "-out", certificate, "-keyout", key],
        capture_output=True, check=True)
    with HubServer(certificate, key) as hub:
        hub.add(MODEL, FILES)
        assert_fails(pull(MODEL, HF_ENDPOINT=hub.url), 1, "127.0.0.1", "certificate")
        trusting = {"HF_ENDPOINT": hub.url, "SSL_CERT_FILE": str(certificate)}
        assert_pulled(pull(MODEL, **trusting))
        hub.add("org/other", FILES | {"config.json": b"{}"})
        hub.faults.redirect = hub.url.replace("https:", "http:")
        assert_fails(pull("org/other", **trusting), 1, "not a safe address")


# The machine --------------------------------------------------------------------------------------


def test_without_a_network_it_says_which_host_and_why(pull):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert_fails(pull(MODEL, HF_ENDPOINT=f"http://127.0.0.1:{port}"), 1, "127.0.0.1", "connect",
                 "HF_ENDPOINT")
    assert_fails(pull(MODEL, HF_ENDPOINT="http://no-such-host.invalid"), 1, "no-such-host.invalid",
                 "resolve")


def test_a_proxy_is_used(pull, hub):
    result = pull(MODEL, http_proxy=hub.url, HF_ENDPOINT="http://hub.invalid")
    assert_fails(result, 1, "404")  # the server is no proxy, but was asked as one
    assert hub.requests[0].host == "hub.invalid"


def test_offline_it_refuses(pull, hub):
    assert_fails(pull(MODEL, HF_HUB_OFFLINE="1"), 1, "HF_HUB_OFFLINE")
    assert not hub.requests


@pytest.mark.parametrize("name", ["", "a/b/c", "../up", "org/", "org/name@", "org/name@../up",
                                  "org/name@a//b", "https://huggingface.co/org/name"])
def test_what_is_no_name_is_wrong_usage(pull, hub, name):
    result = pull(name)
    assert result.returncode == 2 and result.stderr.startswith("fovea: "), result.stderr
    assert not hub.requests


def test_an_endpoint_must_be_an_address(pull):
    assert_fails(pull(MODEL, HF_ENDPOINT="ftp://x"), 2, "'ftp://x'", "https://")


def test_a_cache_that_cannot_be_made(pull, tmp_path):
    (tmp_path / "file").write_text("")
    assert_fails(pull(MODEL, HF_HOME=str(tmp_path / "file/hf")), 1, tmp_path / "file/hf", "HF_HOME")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_is_read_only(pull, home):
    (home / "hub").mkdir(parents=True)
    (home / "hub").chmod(0o555)
    assert_fails(pull(MODEL), 1, home / "hub", "Permission denied", "HF_HOME")


def test_a_full_disk_keeps_what_fitted(hub, home, pull, environment):
    def little_room():  # no file may grow beyond; the write fails as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    result = subprocess.run([PROGRAM, "pull", MODEL], env={**ENVIRONMENT, **environment}, text=True,
                            capture_output=True, preexec_fn=little_room, timeout=60)
    assert_fails(result, 1, incomplete(home), "free some space")
    assert incomplete(home).read_bytes() == WEIGHTS[:300_000]
    assert_pulled(pull(MODEL))
    assert_whole(home)


def test_a_terminal_shows_progress_and_a_pipe_does_not(hub, environment):
    hub.add(MODEL, {"model.safetensors": WEIGHTS * 64})
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, "pull", MODEL], env={**ENVIRONMENT, "TERM": "xterm", **environment},
                               stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass  # the terminal's end
    os.close(ours)
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert shown.endswith(b"\r\x1b[K")  # and takes the bar away
