"""Attention of any model of PyTorch, captured while it runs with its own fast kernel.

>>> with fovea.torch.capture(model, tokenizer) as c:
...     model(**tokenizer("The cat sat.", return_tensors="pt"))
>>> session = c.session()
>>> session.map("self", layer=5, head=3)[2, 1]
>>> c.save("run.fovea.safetensors")
"""

from ._capture import Capture, capture
from ._errors import CaptureError
from ._records import DeviceMap, Record
from ._session import CapturedSession

__all__ = ["Capture", "CaptureError", "CapturedSession", "DeviceMap", "Record", "capture"]
