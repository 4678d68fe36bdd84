"""What one run of the comparison has at hand: programs, models, the PyTorch process, a place for files."""

import array
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import environment
import long_model
from turns import PREPARE_S, Child, Command, Failed, Program, TorchWork, end_all

# What decides how threads wait or where they run; both sides have what a plain process has.
THREAD_SETTINGS = ("OMP_", "GOMP_", "KMP_", "MKL_")
# Instruction sets that both sides can be held to, each by its own switches.
ISAS = {"avx2": {"FOVEA_ISA": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
        "sse4": {"FOVEA_ISA": "sse4", "ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}}
CHECKPOINTS = {"bert": "440 MB", "bert-f16": "220 MB", "bert-bf16": "220 MB", "gpt2": "510 MB", "vit": "90 MB", "detr": "170 MB"}
# Of SmolLM2's size, in rows that are whole blocks of 256.
LLAMA_SHAPE = ("--layers", "8", "--width", "1024", "--inner", "3072", "--heads", "16")


def write_random_llama(kind, folder):
    tool = environment.ROOT / "tools/make_random_model.py"
    for name, more in (("model.gguf", ()), ("f32.gguf", ("--unpacked",))):
        done = subprocess.run([sys.executable, tool, folder / name, "--type", kind, *LLAMA_SHAPE, *more], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(environment.last_line(done.stderr))
    for count in (16, 512):
        ids = array.array("q", (3 + 7919 * i % 31000 for i in range(count)))
        long_model.write_safetensors(folder / f"inputs-{count}.safetensors", [("input_ids", "I64", [count], ids.tobytes())])


class Session:
    def __init__(self, fovea, python=None, threads=None, isa=None):
        self.here = pathlib.Path(__file__).resolve().parent
        self.fovea = pathlib.Path(fovea)
        self.given_python = python
        self.threads = threads or len(os.sched_getaffinity(0))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(THREAD_SETTINGS)}
        for name in {name for switches in ISAS.values() for name in switches}:
            self.environment.pop(name, None)
        self.environment |= {"OMP_NUM_THREADS": str(self.threads), "HF_HUB_OFFLINE": "1", **ISAS.get(isa, {})}
        self.isa, self.isas_of_turns = isa, set()
        self.host, self.versions, self.torch_isa = None, {}, None
        self.temporary = tempfile.TemporaryDirectory(prefix="fovea-bench-")
        self.place = pathlib.Path(self.temporary.name)
        self.cache = environment.cache_folder() / "bench"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_all()
        self.temporary.cleanup()

    @functools.cache
    def turns_program(self):
        for folder in (self.fovea.parent, self.fovea.parent.parent / "libexec/fovea"):
            if os.access(program := folder / "fovea-turns", os.X_OK):
                return program
        raise Failed(f"fovea-turns is not beside {self.fovea}; build it with "
                     "`cmake -DFOVEA_BENCH=ON BUILD && cmake --build BUILD --target fovea-turns`")

    @functools.cache
    def python(self):
        return environment.find_python(self.given_python)

    def turns(self, work, *words):
        program = Program([self.turns_program(), work, *words], self.environment)
        self.isas_of_turns.add(program.ready.get("isa"))
        return program

    def isa_facts(self):
        """What both were held to, and what each said that it uses: fovea's kernels, PyTorch's."""
        return {"held_to": self.isa, "fovea": sorted(filter(None, self.isas_of_turns)), "torch": self.torch_isa}

    def torch_host(self):
        """The process that all works of PyTorch live in; it imports everything once."""
        if not self.host or self.host not in Child.alive:
            try:
                self.host = Child([self.python(), self.here / "torch_host.py", str(self.threads)], self.environment)
                self.versions = self.host.read(PREPARE_S)
                self.torch_isa = self.versions.pop("isa", None)
            except Failed as error:
                raise Failed(f"{error}; --python takes one with {environment.names()}") from None
        return self.host

    def torch_versions(self):
        """Of what is compared with, by name."""
        self.torch_host()
        return self.versions

    def torch(self, work, *words):
        return TorchWork(self.torch_host(), work, *words)

    def command(self, verb, *words, **more):
        return Command([self.fovea, verb, *words], self.environment, **more)

    def fovea_says(self, *words):
        done = subprocess.run([self.fovea, *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PREPARE_S)
        if done.returncode != 0:
            raise Failed(environment.last_line(done.stderr).removeprefix("fovea: "))
        return done.stdout

    def model(self, name):
        bundled = pathlib.Path(os.environ.get("FOVEA_MODELS") or environment.ROOT / "models")
        for folder in (bundled / name, self.cache.parent / "models" / name):
            if folder.is_dir():
                return folder
        raise Failed(f"the model {name} is neither in {bundled} nor in {self.cache.parent / 'models'}; "
                     "`./run` or tools/fetch_models.py fetches it")

    def checkpoint(self, name):
        """A folder with random weights and inputs of every size that is asked for, written when first needed."""
        folder = self.cache / "checkpoints" / name
        if not folder.is_dir():
            environment.say(f"writing random weights, {CHECKPOINTS[name]}, to {folder}; they may be deleted at any time")
            self.written(folder, lambda new: self.torch("write", name, new).turn(PREPARE_S))
        return folder

    def long_checkpoint(self):
        folder = self.cache / "checkpoints/gpt2-long"
        if not folder.is_dir():
            environment.say(f"writing random weights, 160 MB, to {folder}; they may be deleted at any time")
            self.written(folder, long_model.write)
        return folder

    def random_llama(self, kind):
        """A folder with model.gguf in blocks of this type, f32.gguf with the same numbers, and inputs."""
        folder = self.cache / f"checkpoints/llama-{kind}"
        if not folder.is_dir():
            environment.say(f"writing random weights, 600 MB, to {folder}; they may be deleted at any time")
            self.written(folder, lambda new: write_random_llama(kind, new))
        return folder

    def written(self, folder, write):
        """Whole or not at all."""
        new = folder.with_suffix(".part")
        shutil.rmtree(new, ignore_errors=True)
        try:
            new.mkdir(parents=True)
            write(new)
            new.rename(folder)
        except OSError as error:
            raise Failed(f"{folder} cannot be written: {error.strerror}; FOVEA_CACHE names another place") from None
        finally:
            shutil.rmtree(new, ignore_errors=True)
