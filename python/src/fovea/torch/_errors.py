"""What goes wrong in capturing."""


class CaptureError(RuntimeError):
    """What was captured cannot be trusted, or the model cannot be captured; the message says which and what to do."""
