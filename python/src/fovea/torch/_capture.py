"""The block within which a model's attention is captured."""

import contextlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import torch

from ._calls import Call, Layer, kept, wait_for_copies
from ._check import check
from ._doors import ATTENTION, Watching, _owners, attends_by_table, attends_otherwise, by_table
from ._errors import CaptureError
from ._session import CapturedSession, Found, save, session_of
from ._sites import crosses, names_of

TRIED = {"torch": ("2.11", "2.13"), "transformers": ("5.17", "5.22")}  # the first and the last version that it is made for
OFFLOADS = ("gpu", "host", "disk")


class Run:
    """What one call of the model gave, or all steps of a generation."""

    def __init__(self) -> None:
        self.layers: dict[str, list[Layer]] = {}  # by the path of the module; several: it is called for several layers
        self.inputs: dict[int, dict[str, Any]] = {}  # by the number of the model's call: what its parts were given


class Capture:
    """Keeps what maps are computed from while the model runs. Made by ``capture``."""

    def __init__(self, model: Any, tokenizer: Any, sites: Iterable[str] | None, offload: str, verify: bool) -> None:
        if offload not in OFFLOADS:
            raise ValueError(f"offload: '{offload}' is none of {', '.join(OFFLOADS)}")
        if not isinstance(model, torch.nn.Module) or isinstance(model, torch._dynamo.eval_frame.OptimizedModule):
            raise CaptureError(f"a {type(model).__name__} cannot be captured; give the torch.nn.Module itself, and not what torch.compile made of it")
        if any(part._compiled_call_impl is not None for part in model.modules()):
            raise CaptureError("the model is compiled (model.compile()), which leaves no call to capture; capture it before it is compiled")
        if isinstance(sites, str):
            raise TypeError("sites: give a list of names, such as ['self']")
        self.model, self.tokenizer, self.offload, self.verify = model, tokenizer, offload, verify
        self.runs: list[Run] = []
        self.is_inside = False
        self._wanted = None if sites is None else set(sites)
        self._paths = {id(part): path for path, part in model.named_modules()}
        self._parts = dict(model.named_modules())
        self._by_table = [part for part in model.modules() if attends_by_table(part)]
        self._otherwise = [part for part in model.modules() if attends_otherwise(part)]
        self._chosen = self._choose()
        self._checked: set[int] = set()
        self._running: list[Any] = []  # modules, the innermost last
        self._invocations: dict[int, int] = {}
        self._number = self._depth = 0
        self._inputs: dict[str, Any] = {}
        self._stack = contextlib.ExitStack()

    def _choose(self) -> set[str] | None:
        """The paths of modules that are kept; None: all."""
        if self._wanted is None:
            return None
        names = names_of(self.model, [(self._paths[id(part)], part) for part in [*self._by_table, *self._otherwise]])
        unknown = self._wanted - set(names) - set(names.values())
        if unknown:
            raise ValueError(f"sites: this model has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(set(names.values())))}")
        return {path for path, name in names.items() if {path, name} & self._wanted}

    def __enter__(self) -> "Capture":
        if not self._by_table and not self._otherwise:
            raise CaptureError(f"{type(self.model).__name__} has no module that calls transformers' attention functions, PyTorch's, or softmax in a module named attention")
        if any(id(part) in _owners for part in self.model.modules()):
            raise CaptureError("the model is being captured already; end that block first")
        _warn_of_versions()
        self.runs.clear()
        try:
            for part in self.model.modules():
                _owners[id(part)] = self
                self._stack.callback(_owners.pop, id(part), None)
            self._hook_inputs()
            if self._by_table:
                self._stack.enter_context(by_table(self, self._by_table))
            self._hook_modules(self.model.modules() if self._otherwise else self._by_table)
            if self._otherwise:
                self._stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
                torch.backends.mha.set_fastpath_enabled(False)
                self._stack.enter_context(Watching(self))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stack.close()
        self._running.clear()
        wait_for_copies()
        if kind is None and self._number:
            self._check_called()

    def _hook_inputs(self) -> None:
        """Each part of the model says what it was given; the whole model's calls are counted."""
        for path, part in self._parts.items():
            if part is self.model or hasattr(part, "get_input_embeddings") or path.rsplit(".", 1)[-1] in ("encoder", "decoder"):
                handle = part.register_forward_pre_hook(lambda _, given, named, path=path: self._note(path, given, named), with_kwargs=True)
                self._stack.callback(handle.remove)
        self._stack.callback(self.model.register_forward_pre_hook(lambda *_: self._begin(), with_kwargs=False).remove)
        self._stack.callback(self.model.register_forward_hook(lambda *_: self._end(), always_call=True).remove)

    def _note(self, path: str, given: Any, named: dict[str, Any]) -> None:
        tensors = {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}
        if given and isinstance(given[0], torch.Tensor):
            tensors.setdefault("input_ids" if not given[0].is_floating_point() else "pixel_values" if given[0].ndim >= 4 else "inputs_embeds", given[0])
        for name in ("input_ids", "decoder_input_ids"):
            if name in tensors:
                self._inputs.setdefault(f"{path}:{name}", tensors[name].detach())
        for name in ("pixel_values", "input_features"):
            if name in tensors:
                self._inputs.setdefault(name, tuple(tensors[name].shape))
        if path == "":
            self._inputs["batches"] = [len(value) for value in tensors.values() if value.ndim >= 2]

    def _begin(self) -> None:
        self._depth += 1

    def _end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._number += 1
            self._inputs = {}
            self._running.clear()

    def _hook_modules(self, parts: Iterable[Any]) -> None:
        for part in parts:
            self._stack.callback(part.register_forward_pre_hook(lambda module, _: self._enter(module)).remove)
            self._stack.callback(part.register_forward_hook(lambda module, *_: self._leave(module), always_call=True).remove)

    def _enter(self, module: Any) -> None:
        self._running.append(module)
        self._invocations[id(module)] = self._invocations.get(id(module), 0) + 1

    def _leave(self, module: Any) -> None:
        while self._running and self._running.pop() is not module:
            pass

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """What is done here is not the model's own work."""
        before, self.is_inside = self.is_inside, True
        try:
            yield
        finally:
            self.is_inside = before

    def innermost(self) -> Any:
        """The module that runs now; None: none."""
        return self._running[-1] if self._running else None

    def module_of_attention(self) -> Any:
        """The module that attends now; None: none."""
        return next((module for module in reversed(self._running[-2:]) if ATTENTION.search(type(module).__name__)), None)

    def path_of(self, module: Any) -> str:
        return self._paths[id(module)]

    def will_check(self, module: Any) -> bool:
        """Whether the next call of the module is looked at."""
        return self.verify and id(module) not in self._checked

    def keep(self, module: Any, call: Call, output: Any, more: dict[str, Any] | None) -> None:
        """Takes a call in, after it was looked at if it is the module's first."""
        path = self.path_of(module)
        if self._chosen is not None and path not in self._chosen:
            return
        call.windows = self._windows(call)
        with torch.no_grad():
            if id(module) not in self._checked:
                self._checked.add(id(module))
                if self.verify:
                    check(path, module, call, output, more)
            self._put(path, module, kept(call, self.offload, crosses(path, module)))

    def _windows(self, call: Call) -> int:
        """How many windows of each sample lie on the first axis."""
        first = len(call.q if call.weights is None else call.weights)  # type: ignore[arg-type]
        sizes = self._inputs.get("batches") or [first]
        if first in sizes:
            return 1
        return next((first // size for size in sorted(sizes, reverse=True) if first % size == 0), 1)

    def _put(self, path: str, module: Any, call: Call) -> None:
        token = (self._number, self._invocations.get(id(module), 0))
        if not self.runs:
            self.runs.append(Run())
        layers = self.runs[-1].layers.get(path, [])
        crossing = crosses(path, module)
        turn = sum(layer.invocation[0] == self._number for layer in layers)  # type: ignore[index]
        if layers and layers[turn - 1].invocation == token:
            layers[turn - 1].add(call, chunk=True)
        elif turn < len(layers) and layers[turn].goes_on(call, crossing):
            layers[turn].go_on(call, crossing)
            layers[turn].invocation = token
        else:
            if layers and (turn < len(layers) or self._depth == 0):
                before = layers[min(turn, len(layers) - 1)]
                if call.k is not None and not crossing and call.rows < min(before.rows, call.k.shape[2]):
                    raise CaptureError(f"{path}: a step of a generation whose cache of {call.k.shape[2]} keys does not go on with what was captured, such as a cache of "
                                       "fixed size with a window; generate with the usual cache, or capture one call of the model on what was generated")
                self.runs.append(Run())
            layer = Layer(path, token)
            layer.add(call)
            self.runs[-1].layers.setdefault(path, []).append(layer)
        self.runs[-1].inputs[self._number] = self._inputs

    def _check_called(self) -> None:
        called = {path for run in self.runs for path in run.layers}
        if not called:
            kinds = sorted({type(part).__name__ for part in [*self._by_table, *self._otherwise]})
            raise CaptureError(f"no attention was captured: {', '.join(kinds)} were not called, or go another way; was the model itself called?")
        known = [(self._paths[id(part)], part) for part in [*self._by_table, *self._otherwise]]
        known = [(path, part) for path, part in known if path not in called and (self._chosen is None or path in self._chosen)]
        for path, part in known:
            if id(part) in self._invocations:
                raise CaptureError(f"{path} ({type(part).__name__}) attended in a way that was not understood, and is not captured; capture with sites= without it")
        stacks = {re.sub(r"\d+", "#", path) for path in called}
        missing = [path for path, _ in known if re.sub(r"\d+", "#", path) in stacks]
        if missing and not self.model.training:
            raise CaptureError(f"{missing[0]} was never called, but others like it were; capture with sites= without it")

    def _found(self, run: int) -> Found:
        if not self.runs:
            raise CaptureError("nothing was captured: call the model within the block")
        if not -len(self.runs) <= run < len(self.runs):
            raise IndexError(f"run: {run} is not there; there are {len(self.runs)}")
        chosen = self.runs[run]
        called = [(path, part) for path, part in self._parts.items() if path in chosen.layers]
        layers = [(path, layer) for path, _ in called for layer in chosen.layers[path]]
        return Found(self.model, self.tokenizer, names_of(self.model, called), layers, [chosen.inputs[number] for number in sorted(chosen.inputs)])

    @property
    def samples(self) -> int:
        """How many samples the last run's batch holds."""
        return max(layer.batch for _, layer in self._found(-1).layers)

    def session(self, sample: int = 0, run: int = -1) -> CapturedSession:
        """The session of one sample of the batch, of the last call of the model or of another one (``run``)."""
        return session_of(self._found(run), sample)

    def save(self, path: str | os.PathLike[str], sample: int = 0, run: int = -1) -> None:
        """Writes the run file of one sample, which ``fovea.open`` and ``fovea open`` read."""
        save(session_of(self._found(run), sample), os.fsdecode(path))


def _warn_of_versions() -> None:
    import transformers

    for name, version in (("torch", torch.__version__), ("transformers", transformers.__version__)):
        numbers = [tuple(map(int, each.split(".")[:2])) for each in (TRIED[name][0], version, TRIED[name][1])]
        if not numbers[0] <= numbers[1] <= numbers[2] and name not in _warned:
            _warned.add(name)
            warnings.warn(f"fovea.torch is made for {name} {TRIED[name][0]} to {TRIED[name][1]}; this is {version}. What it captures is checked all the same.",
                          stacklevel=4)


_warned: set[str] = set()


def capture(model: Any, tokenizer: Any = None, sites: Iterable[str] | None = None, offload: Literal["gpu", "host", "disk"] = "gpu", *,
            verify: bool = True) -> Capture:
    """Captures a model's attention within a ``with`` block, at about the plain model's cost and without its matrices.

    ``tokenizer`` (or a processor) names the positions. ``sites`` chooses what is kept, by canonical names (``self``, ``cross``) or paths of modules.
    ``offload`` says where: on the device of the model (``gpu``), in this machine's memory (``host``), or in files without names (``disk``).
    ``verify=False`` leaves out the look at the first call of each module.

    >>> with fovea.torch.capture(model, tokenizer) as c:
    ...     model(**tokenizer("The cat sat.", return_tensors="pt"))
    >>> c.session().map("self", layer=5, head=3)[2, 1]
    """
    return Capture(model, tokenizer, sites, offload, verify)
