"""Other threads, other processes, Ctrl-C, and PyTorch beside it. Each test starts Python anew."""

import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from program import BUILD

LLAMA = ROOT / "tests/data/parity/llama_gqa"
# As fovea/base/cancel.h promises for what computes, and time for Python to leave on a busy machine.
SOON_SECONDS = 0.3


def start(code, interpreter=sys.executable):
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    environment.pop("GOMP_SPINCOUNT", None)  # which the runner of the tests sets
    # Who runs the tests in the background of a shell ignores Ctrl-C, and so would Python.
    return subprocess.Popen([interpreter, "-u", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def output(code, interpreter=sys.executable):
    process = start(code, interpreter)
    try:
        out, error = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, error
    return out


WORK = f"""
import numpy as np, fovea
def work(seed):
    session = fovea.load({str(LLAMA)!r}).inputs(input_ids=(np.arange(700) * (seed + 3)) % 60)
    return round(float(session.map("self", 1, seed % 7).column_sums()[:5].sum()), 4)
"""


def test_a_forked_process_computes_after_its_parent_has():
    out = output(WORK + """
import os
first = work(1)
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, str(work(1)).encode())
    os._exit(0)
assert os.waitpid(-1, 0)[1] == 0
print(os.read(read, 99).decode() == str(first))
""")
    assert out == "True\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_works_however_it_starts(method, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(WORK + f"""
import multiprocessing
if __name__ == "__main__":
    expected = [work(seed) for seed in range(4)]
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        assert pool.map(work, range(4)) == expected
    print("same")
""")
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120,
                            env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
    assert result.stdout == "same\n", result.stderr


def test_threads_share_a_session():
    assert output(WORK + f"""
from concurrent.futures import ThreadPoolExecutor
session = fovea.load({str(LLAMA)!r}).inputs(input_ids=np.arange(900) % 60)
def read(i):
    m = session.map("self", i % 2, i % 7)
    answer = session.ask("matrix", layer=i % 2, head=i % 7)
    return float(m.entropy().sum()), answer.numpy().shape
with ThreadPoolExecutor(8) as pool:
    together = list(pool.map(read, range(28)))
assert together == [read(i) for i in range(28)]
print("same")
""") == "same\n"


def test_other_threads_run_while_a_model_does():
    """The lock of Python is free: a thread that counts gets on."""
    out = output(WORK + f"""
import threading, time
ticks, done = 0, False
def count():
    global ticks
    while not done:
        time.sleep(0.001)
        ticks += 1
session = fovea.load({str(LLAMA)!r}).inputs(input_ids=np.arange(12000) % 60)
thread = threading.Thread(target=count)
thread.start()
begin = time.monotonic()
session.map("self", 0, 0).column_sums()
seconds = time.monotonic() - begin
done = True
thread.join()
print(seconds, ticks)
""")
    seconds, ticks = map(float, out.split())
    assert ticks > 100 * seconds  # it may wake 1,000 times a second; held, it would not wake at all


LONG_WORK = {
    "a model runs": f"fovea.load({str(LLAMA)!r}).inputs(input_ids=np.arange(60000) % 60).sites",
    "a picture is looked at": "fovea.load('scenes-vit').image(np.zeros((64, 64, 3), np.uint8), size=(2400, 2400)).sites",
    "maps are read": f"[each.entropy() for each in [fovea.load({str(LLAMA)!r}).inputs(input_ids=np.arange(12000) % 60).map()] * 99]",
    "a question is asked": "fovea.load('scenes-vit').image(np.zeros((224, 224, 3), np.uint8)).explain('ablation', class_=0)",
}


@pytest.mark.parametrize("what", LONG_WORK)
def test_ctrl_c_ends_work_soon(what):
    process = start(f"""
import time, numpy as np, fovea
print("ready")
try:
    {LONG_WORK[what]}
    print("finished")
except KeyboardInterrupt:
    print("interrupted", time.monotonic())
""")
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert out.startswith("interrupted"), (out, error)
    assert float(out.split()[1]) - sent <= SOON_SECONDS


def test_after_ctrl_c_the_session_still_works():
    process = start(WORK + f"""
session = fovea.load({str(LLAMA)!r}).inputs(input_ids=np.arange(30000) % 60)
print("ready")
try:
    session.map("self", 0, 0).entropy()
except KeyboardInterrupt:
    pass
print(session.map("self", 0, 0)[5, 5] > 0)
""")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=120)
    assert out == "True\n", error


def test_a_handler_of_ones_own_decides_what_a_signal_does():
    process = start(WORK + """
import signal
class Told(Exception): pass
def tell(*_): raise Told
signal.signal(signal.SIGUSR1, tell)
print("ready")
try:
    for seed in range(10**6): work(seed)
except Told:
    print("told")
""")
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGUSR1)
    assert process.communicate(timeout=60)[0] == "told\n"


def test_ctrl_c_ends_the_program_as_it_ends_the_other_one():
    """Exit code 130 and nothing said, also when Python started it."""
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    scene = ROOT / "models/scenes-vit/demo/scene-1.png"
    process = subprocess.Popen([sys.executable, "-m", "fovea", "image", scene, "-m", "scenes-vit", "--size", "2400x2400"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "") and process.returncode == 130


def test_nothing_is_left_in_the_environment():
    """libgomp is told to wait shortly while it is loaded; what is started later is told nothing."""
    assert output("import os, fovea; print(os.environ.get('GOMP_SPINCOUNT'))") == "None\n"


@pytest.fixture(scope="session")
def torch_python():
    """A Python that has PyTorch beside it: of an environment of its own, which is kept."""
    sys.path.insert(0, str(ROOT / "tools"))
    import run_tests

    try:
        return str(run_tests.python_environment("torch", run_tests.TORCH_REQUIREMENTS))
    except run_tests.StageFailed as error:
        pytest.skip(f"PyTorch cannot be had: {error}")


@pytest.mark.parametrize("order", ["torch, fovea", "fovea, torch"])
def test_pytorch_may_be_imported_before_and_after(order, torch_python):
    """Both compute in turns, in either order of loading; tensors are taken as inputs, and forked children compute."""
    assert output(f"""
import {order}
import os, numpy as np
model = fovea.load({str(LLAMA)!r})
for turn in range(20):
    ids = torch.arange(200)[None] % 60
    session = model.inputs(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert session.map().shape == (200, 200)
    hidden = torch.from_numpy(session.hidden.copy())
    assert torch.isfinite(hidden @ hidden.T).all()
torch.set_num_threads(1)
assert session.map("self", 1, 1).numpy().shape == (200, 200)
pid = os.fork()
if pid == 0:
    os._exit(0 if model.inputs(input_ids=[1, 2, 3]).map()[0, 0] == 1 else 1)
assert os.waitpid(pid, 0)[1] == 0
print("fine")
""", torch_python) == "fine\n"
