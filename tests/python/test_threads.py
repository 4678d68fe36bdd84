"""What the program computes does not depend on how many threads there are, whoever says so."""

import numpy
import pytest

from program import ROOT, ok

SETTINGS = [(["--threads", "1"], {}), (["--threads", "3"], {}), ([], {"OMP_NUM_THREADS": "1"}), ([], {"OMP_THREAD_LIMIT": "1"}),
            (["--threads", "4"], {"OMP_THREAD_LIMIT": "2"}), ([], {"OMP_DYNAMIC": "true"}), ([], {"OMP_WAIT_POLICY": "passive"})]


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return attention(tmp_path_factory.mktemp("usual"), [], {})


def attention(folder, arguments, environment):
    """Of a picture: its layers are large enough to be divided."""
    ok("detect", ROOT / "models/scenes-detr/demo/scene-1.png", "-m", "scenes-detr", "--view", "queries", "--head", "mean", "--out", folder / "map.npy", *arguments,
       environment=environment)
    return numpy.load(folder / "map.npy")


@pytest.mark.parametrize(("arguments", "environment"), SETTINGS)
def test_maps_are_the_same_with_other_threads(tmp_path, usual, arguments, environment):
    assert numpy.abs(attention(tmp_path, arguments, environment) - usual).max() < 1e-6
