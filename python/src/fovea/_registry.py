"""What the registries say: models at hand, methods of explaining, kinds of questions."""

from typing import Any, NamedTuple

from ._load import core as _core


class Described:
    """An entry of a registry: a name, one line about it, and a docstring made from all that it says."""

    def __init__(self, name: str, summary: str, doc: str, fields: tuple[str, ...]) -> None:
        self.name = name
        self.summary = summary
        self.fields = fields
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<{self.name}: {self.summary}>"

    def __str__(self) -> str:
        return self.__doc__ or self.summary


class LocalModel(NamedTuple):
    """A model that is at hand: bundled, fetched, or in the hub's cache."""

    name: str
    folder: str
    model_type: str
    supported: bool


def _filled(text: str, first: str = "", others: str = "") -> str:
    import textwrap

    return textwrap.fill(text, 100, initial_indent=first, subsequent_indent=others)


def _listed(names_and_texts: list[tuple[str, str]]) -> str:
    return "\n".join(_filled(f"{name}: {text}", "    ", "        ") for name, text in names_and_texts)


def _of_field(field: _core.Field) -> tuple[str, str]:
    return field.name, field.help + (f" (otherwise {field.otherwise})" if field.otherwise else "")


def models() -> dict[str, LocalModel]:
    """The models at hand, by the name that ``fovea.load`` takes."""
    return {model.name: LocalModel(model.name, model.folder, model.model_type, model.supported) for model in _core.local_models()}


def methods() -> dict[str, Described]:
    """The methods of ``session.explain``, by name: what each answers, when it misleads, and its parameters."""
    described = {}
    for method in _core.methods():
        parameters = [(parameter.name.replace("-", "_"), f"{parameter.help} ({', '.join(parameter.choices) or f'{parameter.least:g} to {parameter.most:g}'}; "
                       f"otherwise {parameter.otherwise})") for parameter in method.parameters]
        parts = [method.summary, _filled(method.answers), f"Cost: {method.cost}"]
        parts += ["Parameters:\n" + _listed(parameters)] if parameters else []
        described[method.name] = Described(method.name, method.summary, "\n\n".join(parts),
                                           tuple(name for name, _ in parameters))
    return described


def questions() -> dict[str, Described]:
    """The kinds of questions that ``session.ask`` takes, by name, with their fields."""
    described = {}
    for kind in _core.questions():
        parts = [kind.summary] + (["Counted over many inputs: fovea.ask_many."] if kind.over_many else [])
        parts += ["Fields:\n" + _listed([_of_field(field) for field in kind.fields])] if kind.fields else []
        described[kind.name] = Described(kind.name, kind.summary, "\n\n".join(parts), tuple(field.name for field in kind.fields))
    return described


def input_fields() -> dict[str, str]:
    """What ``model(text, ...)`` takes beside the text, by name."""
    return dict(_of_field(field) for field in _core.input_fields() if field.name != "text")


def question_schema() -> dict[str, Any]:
    """The JSON Schema of questions and inputs."""
    found: dict[str, Any] = _core.question_schema()
    return found


def fetch_defaults() -> None:
    """Fetches the two text models that do not come with the package, unless they are there.

    Raises OSError if they cannot be fetched now.
    """
    from . import _fetch_models as fetching

    cache = fetching.cache_folder()
    for name in fetching.DEFAULTS:
        try:
            fetching.fetch(name, cache)
        except fetching.NotNow as error:
            raise OSError(f"{name} cannot be fetched now: {error}") from error
        except fetching.WrongFile as error:
            raise ValueError(f"{name}: {error}") from error
