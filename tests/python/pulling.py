"""What the tests of fovea pull share: a model on a server, a cache in a folder, and what to expect."""

import hashlib

import pytest

from hub_server import HubServer
from program import run

MODEL = "org/name"
COMMIT = "c0ffee" + "0" * 34
WEIGHTS = bytes(range(256)) * 4096  # 1 MiB
SMALL_FILES = {
    "config.json": b'{"model_type": "bert"}',
    "tokenizer.json": b'{"version": "1.0"}',
    "vocab.txt": b"[PAD]\n[UNK]\n",
    "1_Pooling/config.json": b"{}",
}
FILES = {
    ".gitattributes": b"*.bin filter=lfs\n",
    "README.md": b"# a model",
    **SMALL_FILES,
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"the same again",
    "onnx/model.onnx": b"and again",
}
WANTED = {*SMALL_FILES, "model.safetensors"}
# What a test must not inherit from the one who runs it; empty is as good as unset.
CLEAN = dict.fromkeys(["HF_TOKEN", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "http_proxy", "all_proxy",
                       "ALL_PROXY", "no_proxy", "NO_PROXY"], "")


@pytest.fixture
def hub():
    with HubServer() as server:
        server.add(MODEL, FILES)
        yield server


@pytest.fixture
def home(tmp_path):
    return tmp_path / "hf"


@pytest.fixture
def environment(hub, home):
    return {**CLEAN, "HF_ENDPOINT": hub.url, "HF_HOME": str(home)}


@pytest.fixture
def pull(environment):
    def call(*arguments, **extra):
        return run("pull", *arguments, "--retry-delay", "0", environment={**environment, **extra})

    return call


def folder(home, model=MODEL):
    return home / "hub" / ("models--" + model.replace("/", "--"))


def snapshot(home, model=MODEL, commit=COMMIT):
    return folder(home, model) / "snapshots" / commit


def names(home, **which):
    root = snapshot(home, **which)
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}


def blob(home, content):
    return folder(home) / "blobs" / hashlib.sha256(content).hexdigest()


def incomplete(home, content=WEIGHTS):
    return blob(home, content).with_suffix(".incomplete")


def assert_pulled(result):
    assert (result.returncode, result.stderr) == (0, ""), result.stderr


def assert_whole(home, files=None):
    for name in files or WANTED:
        assert (snapshot(home) / name).read_bytes() == FILES[name], name
    assert not list((folder(home) / "blobs").glob("*.incomplete"))
    assert (folder(home) / "refs/main").read_text() == COMMIT


def assert_nothing_visible(home):
    assert not (folder(home) / "snapshots").exists()
    assert not (folder(home) / "refs").exists()
