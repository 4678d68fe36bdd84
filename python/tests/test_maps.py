"""Any part of a map is what numpy would take of the whole."""

import math

import numpy as np
import pytest

import fovea
from conftest import ROOT


@pytest.fixture
def attention(session):
    return session.map("self", layer=1, head=2)


def test_a_map_is_indexed_as_numpy_indexes(attention):
    whole = attention.numpy()
    assert whole.dtype == np.float32 and whole.shape == attention.shape and len(attention) == len(whole)
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-6)
    keys = [np.s_[2:5, :4], np.s_[:, 3], np.s_[3], np.s_[-1], np.s_[-2, :], np.s_[1:8:3, ::2], np.s_[::-1, ::-2], np.s_[5:2], np.s_[5:2:-1, -1],
            np.s_[:100], np.s_[0, 2:2]]
    for key in keys:
        part = attention[key]
        assert part.shape == whole[key].shape, key
        np.testing.assert_allclose(part, whole[key], atol=1e-7, err_msg=str(key))
    assert attention[2, 3] == pytest.approx(whole[2, 3], abs=1e-7) and isinstance(attention[-1, np.int64(-1)], float)
    np.testing.assert_allclose(attention.row(-1), whole[-1], atol=1e-7)
    np.testing.assert_allclose(attention.column(2), whole[:, 2], atol=1e-7)
    np.testing.assert_allclose(attention.tile(1, 4, 2, 9), whole[1:4, 2:9], atol=1e-7)


def test_sums_entropy_and_the_largest_weights_are_those_of_the_whole(attention):
    whole = attention.numpy().astype(float)
    np.testing.assert_allclose(attention.column_sums(), whole.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(attention.entropy(), -(whole * np.log(whole)).sum(axis=1), atol=1e-5)
    found = attention.top(3, 4)
    assert [column for column, _ in found] == np.argsort(-whole[3], kind="stable")[:4].tolist()
    assert [weight for _, weight in found] == pytest.approx(np.sort(whole[3])[::-1][:4], abs=1e-7)


@pytest.mark.parametrize("how, reduced", [("max", np.max), ("mean", np.mean)])
def test_pooling_gives_the_asked_number_of_cells(long_run, how, reduced):
    """Rows and columns in stretches as equal as can be; a causal map, so that half of the cells are 0."""
    attention = long_run.map("self", 0, 1)
    whole = attention.numpy()
    rows, columns = (np.linspace(0, 3000, count + 1).astype(int) for count in (7, 11))
    expected = [[reduced(whole[a:b, c:d]) for c, d in zip(columns[:-1], columns[1:])] for a, b in zip(rows[:-1], rows[1:])]
    np.testing.assert_allclose(attention.pool(7, 11, how), expected, rtol=1e-4, atol=1e-8)
    assert attention.pool(5000, 2).shape == (3000, 2)


def test_what_the_mask_forbids_is_zero(causal):
    attention = causal("the cat sat").map()
    assert attention[0, 1] == 0 and attention[0, 0] == 1
    assert np.triu(attention.numpy(), 1).max() == 0


def test_numpy_takes_a_map_for_an_array(attention):
    assert np.asarray(attention).shape == attention.shape
    assert np.asarray(attention, dtype=np.float64).dtype == np.float64
    assert np.max(attention) == attention.numpy().max() and attention.nbytes == attention.numpy().nbytes and attention.ndim == 2
    with pytest.raises(ValueError, match="no array to share"):
        np.array(attention, copy=False)


def test_more_than_one_gib_is_refused_unless_forced():
    session = fovea.load(ROOT / "tests/data/parity/llama_gqa").inputs(input_ids=np.ones(17000, int))
    attention = session.map()
    for read in (attention.numpy, lambda: np.asarray(attention), lambda: attention[:], lambda: attention.tile(0, 17000, 0, 17000),
                 lambda: attention.pool(10**9, 10**9)):
        with pytest.raises(ValueError, match=r"17000 x 17000 weights take 1\.1 GiB, more than 1 GiB; .*force=True"):
            read()
    assert attention[16990:, :3].shape == (10, 3)
    assert attention.tile(0, 17000, 0, 2, force=True).shape == (17000, 2)


@pytest.mark.parametrize("key", ["cat", 2.5, None, ..., (1, 2, 3), (), [1, 2], (slice(None), "cat"), np.ones(3, bool)])
def test_what_is_no_index_of_a_map_is_refused(attention, key):
    with pytest.raises((TypeError, IndexError), match="map"):
        attention[key]


@pytest.mark.parametrize("read", [
    lambda a: a[99], lambda a: a[0, -99], lambda a: a.row(99), lambda a: a.column(-99), lambda a: a.top(99)])
def test_positions_that_are_not_there_are_index_errors(attention, read):
    with pytest.raises(IndexError, match=r"99 is not there; there are 13"):
        read(attention)


@pytest.mark.parametrize("read, facts", [
    (lambda a: a.tile(0, 99, 0, 2), "99"), (lambda a: a.tile(3, 1, 0, 2), "3"), (lambda a: a.pool(0, 5), "at least 1 x 1"),
    (lambda a: a.pool(2, 2, how="median"), "how: it is neither"), (lambda a: a.top(0, -2), "-2")])
def test_other_wrong_values_are_value_errors(attention, read, facts):
    with pytest.raises(ValueError, match=facts):
        read(attention)


def test_a_map_says_what_it_is(attention):
    assert repr(attention) == "<AttentionMap 'self', layer 1, head 2: 13 x 13>"
    assert (attention.site, attention.layer, attention.head) == ("self", 1, 2)
    assert math.isclose(attention[0].sum(), 1, abs_tol=1e-6)
