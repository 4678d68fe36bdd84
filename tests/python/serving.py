"""A `fovea serve` for the tests, and what a client needs to ask it."""

import contextlib
import http.client
import json
import re
import select
import signal
import struct
import subprocess
import time

import numpy

from program import ENVIRONMENT, PROGRAM

ENCODINGS = {0: "L16", 1: "L8", 2: "S16", 3: "F32"}


class Served:
    def __init__(self, process, line):
        self.process = process
        self.line = line
        self.url = re.search(r"http://\S+", line).group()
        self.host, self.port = re.match(r"http://(.*):(\d+)/", self.url).groups()
        self.port = int(self.port)

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path, body=None, headers=None, method=None):
        """The status, the header fields (names in lower case) and the body."""
        connection = self.connect()
        if isinstance(body, (dict, list)):
            body, headers = json.dumps(body), {"Content-Type": "application/json", **(headers or {})}
        connection.request(method or ("GET" if body is None else "POST"), path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def get(self, path, **options):
        status, _, content = self.ask(path, **options)
        assert status == 200, (path, status, content[:500])
        return content

    def json(self, path, **options):
        return json.loads(self.get(path, **options))

    def error(self, path, status, **options):
        """The error of a request that must fail with this status: one line, and no path of this machine."""
        got, headers, content = self.ask(path, **options)
        assert got == status, (path, got, content[:500])
        assert headers["content-type"] == "application/json"
        error = json.loads(content)["error"]
        assert error["message"] and "\n" not in error["message"] and error["kind"], error
        return error

    def run(self, **order):
        """Makes a run; gives its hash and all lines."""
        status, headers, content = self.ask("/v1/runs", body=order)
        assert status == 200, content
        assert headers["content-type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in content.decode().splitlines()]
        assert "run" in lines[-1], lines
        return lines[-1]["run"], lines

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


def started(*arguments, environment=None):
    process = subprocess.Popen([str(PROGRAM), "serve", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, env={**ENVIRONMENT, **(environment or {})})
    ready, _, _ = select.select([process.stdout], [], [], 120)
    line = process.stdout.readline() if ready else ""
    if not line:
        process.kill()
        raise AssertionError(f"the server did not say its address: {process.communicate()}")
    return Served(process, line)


@contextlib.contextmanager
def serving(*arguments, port=0, **options):
    served = started("--port", port, *arguments, **options)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            code, err = served.stop()
            assert code == 0, err
            assert "Sanitizer" not in err, err


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.005)


def decoded(content):
    """A tile: what its header says, and its cells; NaN where there is no number."""
    magic, version, encoding, level, flags, row, col, rows, cols, octaves, largest, _ = struct.unpack("<4sBBBBIIHHffI", content[:32])
    assert (magic, version, octaves) == (b"FOVT", 1, 32)
    header = {"encoding": ENCODINGS[encoding], "level": level, "approximate": bool(flags & 1), "causal": bool(flags & 2),
              "pool": "max" if flags & 4 else "mean" if flags & 8 else "none", "row": row, "col": col, "largest": largest}
    kind = {"L16": "<u2", "L8": "u1", "S16": "<u2", "F32": "<f4"}[header["encoding"]]
    raw = numpy.frombuffer(content[32:], kind).reshape(rows, cols)
    if kind == "<f4":
        return header, raw
    top = max(0, int(numpy.ceil(numpy.log2(largest)))) if largest > 1 else 0
    place = (raw & 0x7fff if header["encoding"] == "S16" else raw).astype(float)
    masked = {"L16": 65534, "L8": 254, "S16": 0x7ffe}[header["encoding"]]
    cells = numpy.where(place == 0, 0, 2.0 ** (top - 32 + 32 * (place - 1) / (masked - 2)))
    cells = numpy.where(place >= masked, numpy.nan, cells)
    return header, numpy.where(raw & 0x8000, -cells, cells) if header["encoding"] == "S16" else cells
