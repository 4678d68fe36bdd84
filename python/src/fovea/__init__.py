"""What a transformer is looking at: every attention map of every head, exactly and at any length.

>>> model = fovea.load("en-fr")
>>> session = model("I love music.")
>>> session.map("cross", layer=2, head=0)[0, 1]
>>> session.align().save("alignment.png")
"""

from . import _load  # first: it loads the engine
from ._answer import Answer, Figure
from ._errors import Busy, Cancelled
from ._many import ask_many
from ._map import AttentionMap
from ._model import Model, load
from ._progress import progress
from ._registry import LocalModel, fetch_defaults, input_fields, methods, models, question_schema, questions
from ._session import Session, Site, open

__version__ = _load.core.version()

__all__ = ["Answer", "AttentionMap", "Busy", "Cancelled", "Figure", "LocalModel", "Model", "Session", "Site", "ask_many", "fetch_defaults",
           "input_fields", "load", "methods", "models", "open", "progress", "question_schema", "questions"]
