"""How fast `fovea serve` answers, and whether slow or many clients hold it up.

    python3 bench/serve.py [--program build/release/bin/fovea] [--tokens 100352] [--load-seconds 60] [tiles] [load] [slow]

A map of 100,352 positions, one head, causal, is made here: its keys repeat, so that its log-sum-exps and every weight are known
without the program. `tiles` asks for the overview, first looked at and then exact, and for 50 random tiles of levels 0 to 3 with
4 in flight, which must equal the definition to one code. `load` lets 200 clients ask for tiles of levels 0 to 2. `slow` opens 500
connections that send a byte a second. Needs numpy and safetensors. Ends with 1 if an answer was wrong."""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).resolve().parents[1]
PERIOD, DIM, SCALE = 448, 64, 0.125
STEP = 32 / 65532


class Map:
    """Row i looks at columns 0 to i; keys and queries repeat after PERIOD positions."""

    def __init__(self, tokens):
        self.tokens = tokens // PERIOD * PERIOD
        values = numpy.random.default_rng(7).normal(size=(2, PERIOD, DIM)).astype("f4") * 1.5
        self.queries, self.keys = values
        self.exp = numpy.exp(SCALE * self.queries.astype(float) @ self.keys.astype(float).T)
        rows = numpy.arange(self.tokens)
        sums = numpy.cumsum(self.exp, axis=1)
        place = rows % PERIOD
        self.lse = numpy.log(rows // PERIOD * sums[place, -1] + sums[place, place])

    def save(self, path):
        times = self.tokens // PERIOD
        positions = [str(i) for i in range(self.tokens)]
        axis = {"name": "tokens", "source": "", "positions": positions, "offsets": [[0, 0]] * self.tokens, "special": []}
        rule = {"scale": SCALE, "soft_cap": 0.0, "query_offset": 0, "behind": None, "ahead": 0, "bias": "none"}
        about = {"format_version": 1, "model": "repeating", "model_hash": "0", "axes": [axis],
                 "sites": [{"site": "self.0", "rows": "tokens", "cols": "tokens", "rule": rule}]}
        save_file({"self.0.q": numpy.tile(self.queries, (times, 1))[None], "self.0.k": numpy.tile(self.keys, (times, 1))[None],
                   "self.0.lse": self.lse[None]}, path, {"fovea": json.dumps(about)})

    def pooled(self, level, y, x):
        """The largest weight of each cell, -1 where nothing is allowed."""
        side = 256 << level
        rows = numpy.arange(y * side, min((y + 1) * side, self.tokens))
        cols = numpy.arange(x * side, min((x + 1) * side, self.tokens))
        weights = self.exp[rows % PERIOD][:, cols % PERIOD] / numpy.exp(self.lse[rows])[:, None]
        weights = numpy.where(cols <= rows[:, None], weights, -1)
        bin_size = 1 << level
        pad = [(0, -len(rows) % bin_size), (0, -len(cols) % bin_size)]
        weights = numpy.pad(weights, pad, constant_values=-1)
        return weights.reshape(weights.shape[0] // bin_size, bin_size, -1, bin_size).max(axis=(1, 3))


class Server:
    def __init__(self, program, path):
        self.process = subprocess.Popen([program, "serve", "--port", "0", path], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1].strip().strip("/"))
        self.run = json.loads(self.get("/v1/runs")[2])["runs"][0]["run"]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def get(self, path, connection=None):
        own = connection or self.connect()
        own.request("GET", path)
        answer = own.getresponse()
        content = answer.read()
        if connection is None:
            own.close()
        return answer.status, dict(answer.getheaders()), content

    def tile(self, level, y, x, connection=None):
        return self.get(f"/v1/runs/{self.run}/self/tiles/0/0/{level}/{y}/{x}", connection)

    def memory_mb(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1000

    def stop(self):
        self.process.terminate()
        self.process.wait()


def quantile(times, share):
    return sorted(times)[min(int(share * len(times)), len(times) - 1)] * 1000


def told(what, times):
    print(f"{what}: p50 {quantile(times, 0.5):.1f} ms, p99 {quantile(times, 0.99):.1f} ms, {len(times)} requests", flush=True)


def wrong_codes(content, wanted):
    """How many cells differ from the definition by more than a code."""
    rows, cols = struct.unpack("<HH", content[16:20])
    codes = numpy.frombuffer(content[32:], "<u2").reshape(rows, cols).astype(int)
    exact = numpy.where(wanted < 0, 65534, numpy.where(wanted < 2.0 ** -32, 0, 1 + numpy.rint(
        (numpy.log2(numpy.maximum(wanted, 2.0 ** -32)) + 32) / STEP)))
    return int((numpy.abs(codes - exact) > 1).sum())


def gemm_rate():
    """Floating-point operations a second, of a product of matrices on all cores."""
    a = numpy.random.default_rng(1).normal(size=(2048, 2048)).astype("f4")
    a @ a
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - begin)
    return 2 * 2048 ** 3 / statistics.median(times)


def measure_tiles(server, source):
    top = 0
    while -(-source.tokens // (256 << top)) > 1:
        top += 1
    begin = time.perf_counter()
    status, headers, content = server.tile(top, 0, 0)
    print(f"overview of {source.tokens} positions, first look: {(time.perf_counter() - begin) * 1000:.0f} ms", flush=True)
    assert status == 200 and content[7] & 1
    while json.loads(server.get("/v1/status")[2])["jobs"]["exact"]:
        time.sleep(0.05)
    seconds = time.perf_counter() - begin
    assert not server.tile(top, 0, 0)[2][7] & 1
    flop = 2 * source.tokens ** 2 * DIM / 2
    rate = gemm_rate()
    print(f"exact: {seconds:.1f} s, {flop / seconds / 1e9:.0f} GFLOP/s, {seconds / (flop / rate):.2f} of its {flop / 1e12:.2f} TFLOP over the "
          f"speed of a product of matrices, {rate / 1e9:.0f} GFLOP/s", flush=True)
    chosen = random.Random(3)
    tiles = []
    while len(tiles) < 50:
        level = chosen.randrange(4)
        most = -(-source.tokens // (256 << level))
        y, x = chosen.randrange(most), chosen.randrange(most)
        if x <= y:
            tiles.append((level, y, x))
    connections = threading.local()

    def timed(tile):
        if not hasattr(connections, "own"):
            connections.own = server.connect()
        begun = time.perf_counter()
        answer = server.tile(*tile, connections.own)
        return time.perf_counter() - begun, answer[2]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(timed, tiles))
    told("50 random tiles of levels 0 to 3, 4 in flight", [seconds for seconds, _ in answers])
    wrong = sum(wrong_codes(content, source.pooled(*tile)) for tile, (_, content) in zip(tiles, answers))
    print(f"cells that differ from the definition by more than a code: {wrong}", flush=True)
    return wrong


LOAD_CLIENT = """
import http.client, random, sys, time
port, run, seconds, clients, seed = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
import threading
times, errors = [], []
def client(number):
    chosen = random.Random(seed * 1000 + number)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    time.sleep(chosen.random())
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        level = chosen.randrange(3)
        y = chosen.randrange(3 << (2 - level)); x = chosen.randrange(y + 1)
        begin = time.perf_counter()
        try:
            connection.request("GET", f"/v1/runs/{run}/self/tiles/0/0/{level}/{y}/{x}")
            answer = connection.getresponse()
            length = len(answer.read())
            times.append(time.perf_counter() - begin)
            if answer.status != 200 or length < 32: errors.append(answer.status)
        except OSError as error:
            errors.append(repr(error)); return
        time.sleep(1 + chosen.random())
threads = [threading.Thread(target=client, args=(i,)) for i in range(clients)]
[each.start() for each in threads]; [each.join() for each in threads]
print(len(errors), *errors[:3]); print(*times)
"""


def measure_load(server, seconds):
    before = server.memory_mb()
    processes = [subprocess.Popen([sys.executable, "-c", LOAD_CLIENT, str(server.port), server.run, str(seconds), "100", str(seed)],
                                  stdout=subprocess.PIPE, text=True) for seed in range(2)]
    middle = None
    time.sleep(seconds / 2)
    middle = server.memory_mb()
    times, errors = [], 0
    for process in processes:
        first, second = process.communicate()[0].splitlines()
        errors += int(first.split()[0])
        times += [float(word) for word in second.split()]
    told(f"200 clients for {seconds:.0f} s, tiles of levels 0 to 2", times)
    print(f"errors: {errors}; memory {before:.0f} MB before, {middle:.0f} in the middle, {server.memory_mb():.0f} at the end", flush=True)
    return errors


def measure_slow(server):
    def normal():
        connection, times = server.connect(), []
        for i in range(300):
            begin = time.perf_counter()
            status, _, _ = server.tile(i % 3, i % 7, i % 5 if i % 5 <= i % 7 else 0, connection)
            assert status == 200
            times.append(time.perf_counter() - begin)
        return times

    normal()
    alone = normal()
    told("a client alone", alone)
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(500)]
    done = threading.Event()

    def drip():
        while not done.wait(1):
            for connection in slow:
                try:
                    connection.send(b"G")
                except OSError:
                    pass

    dripping = threading.Thread(target=drip)
    dripping.start()
    time.sleep(2)
    beside = normal()
    told("beside 500 connections that send a byte a second", beside)
    done.set()
    dripping.join()
    for connection in slow:
        connection.close()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["tiles", "load", "slow", []], default=[])
    parser.add_argument("--program", default=ROOT / "build/release/bin/fovea")
    parser.add_argument("--tokens", type=int, default=100352)
    parser.add_argument("--load-seconds", type=float, default=60)
    options = parser.parse_args()
    what = options.what or ["tiles", "load", "slow"]
    with tempfile.TemporaryDirectory() as folder:
        source, path = Map(options.tokens), pathlib.Path(folder) / "long.fovea.safetensors"
        source.save(path)
        server = Server(os.fspath(options.program), path)
        try:
            failures = 0
            if "tiles" in what:
                failures += measure_tiles(server, source)
            if "load" in what:
                failures += measure_load(server, options.load_seconds)
            if "slow" in what:
                failures += measure_slow(server)
        finally:
            server.stop()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
