"""Nothing stays behind: maps, sessions and answers are gone when nobody has them."""

import gc
import os
import pathlib

import fovea
from conftest import ROOT


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work, warm_up, count):
    for _ in range(warm_up):
        work()
    gc.collect()
    before = resident_bytes()
    for _ in range(count):
        work()
    gc.collect()
    return resident_bytes() - before


def test_ten_thousand_maps_leave_nothing(session):
    def work():
        attention = session.map("self", 1, 2)
        return attention[3, :], attention[0, 0], session.q("self", 1), attention.numpy()

    # 10,000 of the smallest of them would be 20 MB.
    assert growth(work, 2000, 10_000) < 4e6


def test_a_thousand_sessions_leave_nothing(bert):
    def work():
        session = bert("The cat sat on the mat because it was tired.")
        return session.map("self", 1, 2)[3, 4], session.logits, session.tokens

    # A session's run is about 30 kB.
    assert growth(work, 300, 1000) < 6e6


def test_answers_and_errors_leave_nothing(session):
    def work():
        session.ask("read", token="cat").facts
        try:
            session.ask("read", token="zebra")
        except ValueError:
            pass

    assert growth(work, 200, 600) < 6e6


def test_pictures_leave_nothing():
    model = fovea.load("scenes-vit")
    scene = (ROOT / "models/scenes-vit/demo/scene-1.png").read_bytes()
    assert growth(lambda: model.image(scene, size=(32, 32)).sites, 30, 60) < 10e6
