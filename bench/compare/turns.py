"""Takes turns: in each round every way of doing a work runs once, so that what disturbs the machine disturbs all.

A way answers a turn with a dictionary: "seconds", and what else it measured. "answer", where it is there, is a list of
numbers that all ways must agree on.
"""

import contextlib
import json
import math
import os
import pathlib
import select
import statistics
import subprocess
import tempfile
import time

PREPARE_S = 240  # to open a model or write one
REST_S = 0.02  # between turns: threads that still wait for work go to sleep


class Failed(Exception):
    """A work that could not be done; the message is one line."""


class Child:
    """A process that answers every line it is sent with a line of JSON, and ends with its input."""

    alive = set()  # all of them, for end_all()

    def __init__(self, command, environment):
        self.name = pathlib.Path(command[0]).name
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.buffer = b""
        try:
            self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.errors, env=environment)
        except OSError as error:
            raise Failed(f"{command[0]} cannot be run: {error.strerror}") from None
        Child.alive.add(self)

    def ask(self, line, timeout):
        if self not in Child.alive:
            raise Failed(f"{self.name} was ended before")
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            self.fail("ended")
        return self.read(timeout)

    def read(self, timeout):
        end = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.close()
                raise Failed(f"{self.name} gave no answer for {timeout:g} s and was ended; --timeout gives it longer")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                self.fail("ended")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(f"{self.name}: {answer['error']}")
        return answer

    def fail(self, what):
        self.close()
        self.errors.seek(0)
        said = [line for line in self.errors.read().splitlines() if line.strip()]
        raise Failed(f"{self.name} {what} with code {self.process.returncode}: {said[-1] if said else 'it said nothing'}")

    def cpu_seconds(self):
        """Of all its threads; None where the system does not tell."""
        try:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        """At once, whatever it is doing."""
        Child.alive.discard(self)
        self.process.kill()
        self.process.wait()
        self.process.stdin = None  # what was not sent any more is not worth an error
        self.process.stdout.close()


def end_all():
    for child in list(Child.alive):
        child.close()


class Program:
    """A fovea-turns with one work."""

    def __init__(self, command, environment):
        self.child = Child(command, environment)
        self.ready = self.child.read(PREPARE_S)

    def turn(self, timeout):
        return self.child.ask("", timeout)

    def close(self):
        self.child.close()


class TorchWork:
    """One of the works that the PyTorch process (torch_host.py) holds."""

    def __init__(self, child, work, *words):
        self.child, self.work = child, work
        self.tell("prepare", PREPARE_S, work=work, words=[*map(str, words)])

    def tell(self, what, timeout, **more):
        return self.child.ask(json.dumps({what: id(self), **more}), timeout)

    def turn(self, timeout):
        return self.tell("turn", timeout)

    def close(self):
        with contextlib.suppress(Failed):  # then it is gone anyway, and another error is on its way
            self.tell("drop", PREPARE_S)


class Command:
    """A whole process for each turn, from its start to its end."""

    child = None

    def __init__(self, command, environment, answer=None, file=None):
        """`answer` reads what it printed, `file` is what it writes."""
        self.command, self.environment, self.answer, self.file = [*map(str, command)], environment, answer, file

    def turn(self, timeout):
        start = time.perf_counter()
        try:
            done = subprocess.run(self.command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.command[0]} did not end within {timeout:g} s; --timeout gives it longer") from None
        except OSError as error:
            raise Failed(f"{self.command[0]} cannot be run: {error.strerror}") from None
        found = {"seconds": time.perf_counter() - start}
        if done.returncode != 0:
            raise Failed(f"{' '.join(self.command[:2])}: {(done.stderr.strip() or 'it said nothing').splitlines()[-1]}")
        if self.answer:
            found["answer"] = self.answer(done.stdout)
        if self.file:
            found["mb"] = self.file.stat().st_size / 1e6
        return found

    def close(self):
        pass


def check_answers(answers, tolerance):
    """Of one round, by way: a fast wrong answer is not a result."""
    told = {way: found["answer"] for way, found in answers.items() if "answer" in found}
    for way, numbers in told.items():
        first, expected = next(iter(told.items()))
        if len(numbers) != len(expected):
            raise Failed(f"{first} and {way} gave {len(expected)} and {len(numbers)} numbers; they must give the same")
        largest = max([1, *map(abs, expected)])
        wrong = [(a, b) for a, b in zip(expected, numbers) if not abs(a - b) <= tolerance * largest]  # NaN too
        if wrong:
            raise Failed(f"{first} has {wrong[0][0]:.5g} where {way} has {wrong[0][1]:.5g}; they may differ by "
                         f"{tolerance * largest:.2g}")


def take_turns(ways, rounds, timeout, tolerance=1e-3, cold=(), say=lambda text: None):
    """What every way answered in every round, by way, and how busy each was while another had its turn (a share of one
    core). All but the `cold` ways run once before, which does not count."""
    children = {id(way.child): way.child for way in ways.values() if way.child}
    answers = {name: [] for name in ways}
    busy, waited = 0.0, 0.0
    for number in range(-1, rounds):
        for name, way in ways.items():
            if number < 0 and name in cold:
                continue
            say(f"{name}, {'warming up' if number < 0 else f'turn {number + 1} of {rounds}'}")
            time.sleep(REST_S)
            others = [child for child in children.values() if child is not way.child]
            before, start = [child.cpu_seconds() for child in others], time.perf_counter()
            answers[name].append(way.turn(timeout))
            waited += (time.perf_counter() - start) * len(others)
            busy += sum(child.cpu_seconds() - was for child, was in zip(others, before) if was is not None)
        check_answers({name: given[-1] for name, given in answers.items() if given}, tolerance)
    counted = {name: given[-rounds:] for name, given in answers.items()}
    return counted, busy / waited if waited else 0.0


def summary(values):
    middle = statistics.median(values)
    return {"median": middle, "low": min(values), "high": max(values), "values": list(values)}


def spread(summed):
    """(highest - lowest) / median."""
    return (summed["high"] - summed["low"]) / summed["median"] if summed["median"] else 0.0


def exponent(sizes, amounts):
    """The slope of the line through (log size, log amount), by least squares."""
    xs, ys = [math.log(size) for size in sizes], [math.log(amount) for amount in amounts]
    return statistics.linear_regression(xs, ys).slope
