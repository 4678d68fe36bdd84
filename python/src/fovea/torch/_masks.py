"""What a mask says, as a few numbers instead of a matrix; and masks that are made only when somebody looks at them."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import torch

MASKED = -9000.0  # what is added to the score of a key that is not seen is this or less: exp of it is 0
LARGEST_MATRIX = 1 << 28  # cells of a mask or a bias that nothing shorter says


@dataclasses.dataclass(frozen=True)
class Seen:
    """Which keys a row sees: those that every part allows. Row i stands at place i + offset of the keys."""

    offset: int = 0
    behind: int | None = None  # how many keys before its own place; None: all
    ahead: int | None = None
    key_valid: torch.Tensor | None = None  # [columns], bool
    query_group: torch.Tensor | None = None  # a row sees keys of its own group only
    key_group: torch.Tensor | None = None

    def matrix(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Of these rows and columns, bool."""
        places = rows[:, None] + self.offset
        seen = torch.ones(len(rows), len(columns), dtype=torch.bool, device=rows.device)
        if self.behind is not None:
            seen &= columns[None] >= places - self.behind
        if self.ahead is not None:
            seen &= columns[None] <= places + self.ahead
        if self.key_valid is not None:
            seen &= self.key_valid.to(rows.device)[columns][None]
        if self.query_group is not None and self.key_group is not None:
            seen &= self.query_group.to(rows.device)[rows][:, None] == self.key_group.to(rows.device)[columns][None]
        return seen

    def whole(self, rows: int, columns: int, device: Any) -> torch.Tensor:
        return self.matrix(torch.arange(rows, device=device), torch.arange(columns, device=device))


def understood(allowed: torch.Tensor) -> Seen | None:
    """What a matrix [rows, columns] of bool says in short; None: nothing shorter says the same."""
    rows, columns = allowed.shape
    if bool(allowed.all()):
        return Seen()
    for seen in (_as_range(allowed), _as_groups(allowed)):
        if seen is not None and torch.equal(seen.whole(rows, columns, allowed.device), allowed):
            return seen
    return None


def _as_range(allowed: torch.Tensor) -> Seen | None:
    """A stretch of keys around each row's own place, without columns that nobody sees."""
    rows, columns = allowed.shape
    valid, used = allowed.any(0), allowed.any(1)
    if not bool(used.any()):
        return Seen(key_valid=valid)
    places = torch.arange(rows, device=allowed.device)[used]
    first = allowed.int().argmax(1)[used]
    last = columns - 1 - allowed.flip(1).int().argmax(1)[used]
    key_valid = None if bool(valid.all()) else valid
    ends = torch.arange(columns, device=allowed.device)[valid]
    to_end, from_start = bool((last == ends[-1]).all()), bool((first == ends[0]).all())
    ahead, behind = int((last - places).max()), int((places - first).max())
    if to_end and from_start:
        return Seen(key_valid=key_valid)
    if to_end:
        return Seen(behind=behind, key_valid=key_valid)
    # A causal mask lies `ahead` places off where keys came before the first row; a window around each place is as long on both sides.
    if from_start:
        return Seen(offset=ahead, ahead=0, key_valid=key_valid)
    if ahead == behind:
        return Seen(behind=behind, ahead=ahead, key_valid=key_valid)
    return Seen(offset=ahead, behind=behind + ahead, ahead=0, key_valid=key_valid)


def _as_groups(allowed: torch.Tensor) -> Seen | None:
    """Rows that see the same keys, and no two sorts of rows a key in common; causal within a group, or not."""
    rows, columns = allowed.shape
    for causal in (False, True):
        if causal and rows != columns:
            return None
        patterns = allowed | allowed.T if causal else allowed
        sorts, query_group = torch.unique(patterns, dim=0, return_inverse=True)
        if int(sorts.sum(0).max()) > 1:
            continue
        key_group = torch.where(sorts.any(0), sorts.int().argmax(0), -1)
        found = Seen(query_group=query_group, key_group=key_group, ahead=0 if causal else None)
        if torch.equal(found.whole(rows, columns, allowed.device), allowed):
            return found
    return None


class LazyMask(torch.Tensor):
    """The mask that transformers asks for, kept as what it says. Any operation on it makes the real one first."""

    request: "dict[str, Any]"
    device_: Any

    @staticmethod
    def of(request: dict[str, Any]) -> "LazyMask":
        """``request`` is what transformers calls a function of masks with."""
        shape = (request["batch_size"], 1, int(request["q_length"]), int(request["kv_length"]))
        device = request.get("device", "cpu")
        mask: LazyMask = torch.zeros((), dtype=torch.bool, device=device).expand(shape).as_subclass(LazyMask)
        mask.request = request
        mask.device_ = torch.device(device)
        return mask

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        keywords = keywords or {}
        with torch._C.DisableTorchFunctionSubclass():
            if function in _ABOUT_SHAPE:
                return function(*arguments, **keywords)
            mask = arguments[0] if arguments else None
            if function is torch.Tensor.to and isinstance(mask, LazyMask) and _only_moves(arguments[1:], keywords):
                return LazyMask.of({**mask.request, "device": torch._C._nn._parse_to(*arguments[1:], **keywords)[0]})
            return function(*_made(arguments), **_made(keywords))

    @functools.cached_property
    def for_sdpa(self) -> torch.Tensor | None:
        """What transformers' own function for ``sdpa`` gives: None where the kernel's ``is_causal`` says it."""
        from transformers.masking_utils import sdpa_mask

        made: torch.Tensor | None = sdpa_mask(**self.request)
        return made

    @functools.cached_property
    def whole(self) -> torch.Tensor:
        """The matrix, [batch, 1, rows, columns] of bool."""
        if self.for_sdpa is not None:
            return self.for_sdpa
        from transformers.masking_utils import sdpa_mask

        made: torch.Tensor = sdpa_mask(**{**self.request, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False})
        return made

    def rows_of(self, rows: torch.Tensor) -> torch.Tensor:
        """Some rows of it, [batch, 1, rows, columns], without making the others."""
        request = self.request
        columns = torch.arange(int(request["kv_length"]), device=self.device_) + request.get("kv_offset", 0)
        places = rows.to(self.device_) + request.get("q_offset", 0)
        function = request["mask_function"]
        if request.get("use_vmap"):
            return self.whole[:, :, rows.to(self.device_)]
        batch = torch.arange(request["batch_size"], device=self.device_)
        found = function(batch[:, None, None, None], torch.zeros(1, 1, 1, 1, dtype=torch.long, device=self.device_),
                         places[None, None, :, None], columns[None, None, None])
        padding = self.padding
        if padding is not None:
            found = found & padding[:, None, None]
        return found.expand(request["batch_size"], -1, len(rows), len(columns))

    @functools.cached_property
    def padding(self) -> torch.Tensor | None:
        """[batch, columns], False for padding; None: there is none."""
        given = self.request.get("attention_mask")
        if given is None:
            return None
        offset, columns = int(self.request.get("kv_offset", 0)), int(self.request["kv_length"])
        given = given[:, offset : offset + columns].to(self.device_, torch.bool)
        given = torch.nn.functional.pad(given, (0, columns - given.shape[1]))  # a cache with room to spare
        return None if bool(given.all()) else given

    @property
    def causal(self) -> bool:
        """Whether no row sees what comes behind it."""
        return any(name == "causal" for name, _ in _parts(self.request["mask_function"]) or ())

    def seen(self, sample: int) -> Seen | None:
        """What the mask says of a sample, without making it; None: its function is not one that is known."""
        parts = _parts(self.request["mask_function"])
        if parts is None or self.request.get("use_vmap"):
            return None
        query, key = int(self.request.get("q_offset", 0)), int(self.request.get("kv_offset", 0))
        rows, columns = self.shape[2], self.shape[3]
        behind: list[int] = []
        ahead: list[int] = []
        groups: list[tuple[torch.Tensor, torch.Tensor]] = []
        places = torch.arange(query, query + rows, device=self.device_), torch.arange(key, key + columns, device=self.device_)
        for name, cells in parts:
            if name == "causal":
                ahead.append(0)
            elif name == "behind":
                behind.append(int(cells["sliding_window"]) - 1)
            elif name == "around":
                behind.append(int(cells["sliding_window"]))
                ahead.append(int(cells["sliding_window"]))
            elif name == "packed":
                numbers = cells["packed_sequence_mask"][sample].to(self.device_)
                groups.append((numbers[places[0]], numbers[places[1]]))
            elif name == "chunked":
                before = int(cells["left_padding"][sample])
                groups.append(tuple(torch.div(each - before, cells["chunk_size"], rounding_mode="floor") for each in places))  # type: ignore[arg-type]
        if len(groups) > 1:
            return None
        padding = None if self.padding is None else self.padding[sample]
        if padding is not None and bool(padding.all()):
            padding = None
        offset = query - key
        furthest = max(rows + abs(offset), columns)  # a window beyond all keys is none
        least = min(behind, default=None)
        return Seen(0 if not behind and not ahead else offset, None if least is not None and least >= furthest else least, min(ahead, default=None), padding,
                    *(groups[0] if groups else (None, None)))


_ABOUT_SHAPE = {torch.Tensor.shape.__get__, torch.Tensor.dtype.__get__, torch.Tensor.device.__get__, torch.Tensor.ndim.__get__,  # type: ignore[attr-defined]
                torch.Tensor.is_cuda.__get__, torch.Tensor.requires_grad.__get__, torch.Tensor.layout.__get__, torch.Tensor.size,  # type: ignore[attr-defined]
                torch.Tensor.dim, torch.Tensor.numel, torch.Tensor.__len__}


def _only_moves(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    device, dtype = torch._C._nn._parse_to(*arguments, **{k: v for k, v in keywords.items() if k in ("device", "dtype", "non_blocking")})[:2]
    return device is not None and dtype in (None, torch.bool)


def _made(value: Any) -> Any:
    if isinstance(value, LazyMask):
        return value.whole
    if isinstance(value, tuple | list):
        return type(value)(_made(each) for each in value) if type(value) in (tuple, list) else value
    return {name: _made(each) for name, each in value.items()} if type(value) is dict else value


def _parts(function: Callable[..., Any]) -> list[tuple[str, dict[str, Any]]] | None:
    """The functions of masks that this one is the intersection of, by what they say; None: one is not known."""
    code = getattr(function, "__code__", None)
    names = dict(zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()))) if code is not None else {}
    kind = _known_functions().get(code)
    if kind == "and":
        found: list[tuple[str, dict[str, Any]]] = []
        for each in names["mask_functions"]:
            parts = _parts(each)
            if parts is None:
                return None
            found += parts
        return found
    return None if kind is None else [(kind, names)]


@functools.cache
def _known_functions() -> dict[Any, str]:
    """The code of transformers' functions of masks. One that a version lacks is not there."""
    from transformers import masking_utils as masks

    zero = torch.zeros(1, dtype=torch.long)
    made = {"and": ("and_masks", ()), "behind": ("sliding_window_overlay", (1,)), "around": ("sliding_window_bidirectional_overlay", (1,)),
            "packed": ("packed_sequence_mask_function", (zero,)), "chunked": ("chunked_overlay", (1, zero))}
    known = {getattr(masks, name)(*given).__code__: kind for kind, (name, given) in made.items() if hasattr(masks, name)}
    for kind, name in (("causal", "causal_mask_function"), ("all", "bidirectional_mask_function")):
        if hasattr(masks, name):
            known[getattr(masks, name).__code__] = kind
    return known
