"""fovea pull from a server that cuts connections or sends what it should not."""

import hashlib
import json
import signal
import subprocess
import time

import pytest

from hub_server import git_name
from program import ENVIRONMENT, PROGRAM, assert_fails
from pulling import (FILES, MODEL, SMALL_FILES, WEIGHTS, assert_nothing_visible, assert_pulled,
                     assert_whole, blob, environment, folder, home, hub, incomplete, pull)

# Broken connections -------------------------------------------------------------------------------


def test_a_cut_download_goes_on_where_it_was(pull, hub, home):
    hub.faults.cut_after["model.safetensors"] = [300_000]
    assert_pulled(pull(MODEL))
    assert_whole(home)
    assert [request.range for request in hub.downloads("model.safetensors")] == [None, "bytes=300000-"]


def test_so_does_a_later_call(pull, hub, home):
    hub.faults.cut_after["model.safetensors"] = [100_000, 200_000]
    assert_fails(pull(MODEL, "--retries", "1"), 1, "model.safetensors cannot be downloaded",
                 "localhost", "run it again to go on")
    assert incomplete(home).read_bytes() == WEIGHTS[:300_000]
    assert_nothing_visible(home)
    result = pull(MODEL, "--json")
    assert json.loads(result.stdout)["downloaded_bytes"] == len(WEIGHTS) - 300_000
    assert_whole(home)
    assert [request.range for request in hub.downloads("model.safetensors")] == [
        None, "bytes=100000-", "bytes=300000-"]


def test_an_end_that_was_not_announced_is_a_cut(pull, hub, home):
    hub.faults.length["model.safetensors"] = 0  # the end of the connection is the end of the file
    hub.faults.cut_after["model.safetensors"] = [5000]
    assert_pulled(pull(MODEL))
    assert_whole(home)


def test_a_server_that_ignores_ranges_makes_it_begin_again(pull, hub, home):
    hub.faults.cut_after["model.safetensors"] = [300_000]
    hub.faults.ignore_range = True
    result = pull(MODEL, "--json")
    assert_whole(home)
    small = sum(len(content) for content in SMALL_FILES.values())
    assert json.loads(result.stdout)["downloaded_bytes"] == 300_000 + len(WEIGHTS) + small


def test_a_refused_range_makes_it_begin_again(pull, hub, home):
    hub.faults.cut_after["model.safetensors"] = [300_000]
    hub.faults.refuse_range = True
    assert_pulled(pull(MODEL))
    assert_whole(home)
    assert [request.range for request in hub.downloads("model.safetensors")] == [
        None, "bytes=300000-", None]


def test_a_range_that_was_not_asked_for_is_refused(pull, hub, home):
    hub.faults.cut_after["model.safetensors"] = [300_000]
    hub.faults.wrong_range = True
    assert_fails(pull(MODEL), 1, "bytes 299999-", "byte 300000")
    hub.faults.wrong_range = False
    assert_pulled(pull(MODEL))
    assert_whole(home)


@pytest.mark.parametrize("length", [len(WEIGHTS), len(WEIGHTS) + 5])
def test_a_damaged_partial_file_does_not_become_a_model(pull, hub, home, length):
    (folder(home) / "blobs").mkdir(parents=True)
    incomplete(home).write_bytes(b"x" * length)
    result = pull(MODEL)
    if length == len(WEIGHTS):  # nothing left to ask for, and the checksum is wrong
        assert_fails(result, 1, "checksum", hashlib.sha256(b"x" * length).hexdigest())
        assert not incomplete(home).exists()
        result = pull(MODEL)
    assert_pulled(result)
    assert_whole(home)


def test_a_blob_that_was_cut_short_is_downloaded_again(pull, home):
    pull(MODEL)
    blob(home, WEIGHTS).write_bytes(WEIGHTS[:10])
    assert_pulled(pull(MODEL))
    assert_whole(home)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again_and_what_does_not_is_told(pull, hub, home, status):
    hub.faults.statuses = [status] * 3
    assert_pulled(pull(MODEL))
    assert_whole(home)
    hub.faults.statuses = [status] * 4
    hub.requests.clear()
    assert_fails(pull(MODEL, "--retries", "2"), 1, status, "127.0.0.1")
    assert len(hub.requests) == 3


def test_ctrl_c_keeps_what_is_there_for_the_next_call(pull, hub, home, environment):
    hub.faults.hold_after["model.safetensors"] = 200_000
    process = subprocess.Popen([PROGRAM, "pull", MODEL], env={**ENVIRONMENT, **environment},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert hub.holding.wait(30)
    deadline = time.monotonic() + 30
    while not (incomplete(home).exists() and incomplete(home).stat().st_size == 200_000):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 130
    assert_nothing_visible(home)
    hub.faults.hold_after.clear()
    hub.released.set()
    assert_pulled(pull(MODEL))
    assert_whole(home)
    assert hub.downloads("model.safetensors")[-1].range == "bytes=200000-"


def test_two_at_once_download_each_file_once(hub, home, environment):
    hub.faults.hold_after["model.safetensors"] = 200_000
    start = lambda: subprocess.Popen([PROGRAM, "pull", MODEL, "--retry-delay", "0"],
                                     env={**ENVIRONMENT, **environment}, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = start()
    assert hub.holding.wait(30)
    second = start()
    assert "waiting for another download" in second.stderr.readline()
    hub.faults.hold_after.clear()
    hub.released.set()
    for process in (first, second):
        process.communicate(timeout=30)
        assert process.returncode == 0
    assert_whole(home)
    assert [request.range for request in hub.downloads("model.safetensors")] == [
        None, "bytes=200000-"]


# Wrong content ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_wrong_checksum_is_told_with_both(pull, hub, home, name):
    wrong = FILES[name][:-1] + b"!"
    hub.faults.sent[name] = wrong
    sums = (git_name if name == "config.json" else lambda text: hashlib.sha256(text).hexdigest())
    assert_fails(pull(MODEL), 1, name, sums(wrong), sums(FILES[name]), "removed")
    assert not list((folder(home) / "blobs").glob("*.incomplete"))
    assert not (folder(home) / "blobs" / sums(FILES[name])).exists()
    assert_nothing_visible(home)
    hub.faults.sent.clear()
    assert_pulled(pull(MODEL))
    assert_whole(home)


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_too_many_bytes_are_refused(pull, hub, home, name, announced):
    hub.faults.sent[name] = FILES[name] + b"more"
    if not announced:
        hub.faults.length[name] = 0
    assert_fails(pull(MODEL), 1, name, f"should have {len(FILES[name])} bytes")
    assert not list((folder(home) / "blobs").glob("*.incomplete"))
    assert_nothing_visible(home)


@pytest.mark.parametrize("content", [WEIGHTS[:1000], b""])
def test_too_few_bytes_are_refused(pull, hub, home, content):
    hub.faults.sent["model.safetensors"] = content
    assert_fails(pull(MODEL, "--retries", "2"), 1, "model.safetensors", str(len(WEIGHTS)))
    assert not incomplete(home).exists()


@pytest.mark.parametrize("name", [
    "../evil", "/etc/evil", "a/../../evil", "a//evil", "./evil", "..", "", "a/", "a\\b", "a\nb",
    "x" * 300])
def test_a_listing_with_hostile_names_is_refused_whole(pull, hub, home, tmp_path, name):
    hub.add(MODEL, {**FILES, name: b"evil"})
    assert_fails(pull(MODEL), 1, "outside the model's folder")
    assert not home.exists()
    assert not list(tmp_path.rglob("evil"))


def test_an_index_cannot_name_files_that_are_not_listed(pull, hub, home):
    index = {"weight_map": {"a": "../../../evil.safetensors"}}
    hub.add(MODEL, {"config.json": b"{}", "model.safetensors.index.json": json.dumps(index).encode()})
    assert_fails(pull(MODEL), 1, "evil.safetensors", "does not have")
    assert_nothing_visible(home)


@pytest.mark.parametrize("answer, fact", [
    ("nothing", "JSON"), ('{"sha": "../up", "siblings": []}', "'../up'"), ('{"siblings": []}', "sha"),
    ('{"sha": "abc", "siblings": [{"rfilename": "a", "size": -1, "blobId": "b"}]}', "-1"),
    ('{"sha": "abc", "siblings": [{"rfilename": "a", "size": 1, "blobId": "../b"}]}', "'../b'")])
def test_a_listing_that_is_none_is_refused(pull, hub, answer, fact):
    hub.faults.listing = answer.encode()
    assert_fails(pull(MODEL), 1, fact)
