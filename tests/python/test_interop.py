"""Files of fovea open in numpy and safetensors, and theirs in fovea, with equal values.

FOVEA_BUILD names the build folder whose bin/io_probe is tried.
"""

import os
import subprocess
import zipfile

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from program import BUILD

PROBE = BUILD / "bin/io_probe"

DTYPES = ["?", "u1", "i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4", "<u8", "<i8", "<f8"]
SHAPES = [(), (1,), (0,), (5,), (3, 0, 2), (4, 3), (2, 3, 1, 4, 2)]


def probe(*arguments):
    return subprocess.run([PROBE, *arguments], capture_output=True, text=True, check=False)


def copy(source, target):
    result = probe("copy", source, target)
    assert result.returncode == 0, result.stderr
    return target


def sample(shape, dtype):
    count = int(np.prod(shape, dtype=int))
    values = np.random.default_rng(count).integers(0, 2 if dtype == "?" else 100, count)
    return values.astype(dtype).reshape(shape)


def all_samples():
    return {
        f"{np.dtype(dtype).name} {shape}": sample(shape, dtype)
        for dtype in DTYPES
        for shape in SHAPES
    }


def assert_same(actual, expected):
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype, name
        assert actual[name].shape == array.shape, name
        np.testing.assert_array_equal(actual[name], array, err_msg=name)


def load_npz(path):
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy_to_npz_of_fovea(tmp_path, save):
    arrays = all_samples()
    save(tmp_path / "in.npz", **arrays)
    copy(tmp_path / "in.npz", tmp_path / "out.npz")
    assert_same(load_npz(tmp_path / "out.npz"), arrays)


def test_npz_of_numpy_to_safetensors_of_fovea(tmp_path):
    arrays = all_samples()
    np.savez(tmp_path / "in.npz", **arrays)
    copy(tmp_path / "in.npz", tmp_path / "out.safetensors")
    assert_same(load_file(tmp_path / "out.safetensors"), arrays)


def test_safetensors_to_npz_and_back(tmp_path):
    arrays = all_samples()
    save_file(arrays, tmp_path / "in.safetensors")
    copy(tmp_path / "in.safetensors", tmp_path / "middle.npz")
    assert_same(load_npz(tmp_path / "middle.npz"), arrays)
    copy(tmp_path / "middle.npz", tmp_path / "out.safetensors")
    assert_same(load_file(tmp_path / "out.safetensors"), arrays)


def test_safetensors_metadata_survives(tmp_path):
    metadata = {"format": "np", "note": 'quotes " and\nlines, é 漢 🙂', "": ""}
    save_file({"x": np.arange(3)}, tmp_path / "in.safetensors", metadata=metadata)
    copy(tmp_path / "in.safetensors", tmp_path / "out.safetensors")
    with safe_open(tmp_path / "out.safetensors", framework="np") as file:
        assert file.metadata() == metadata


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_is_written_byte_for_byte_as_numpy_writes_it(tmp_path, dtype, shape):
    np.save(tmp_path / "in.npy", sample(shape, dtype))
    copy(tmp_path / "in.npy", tmp_path / "out.npy")
    assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "in.npy").read_bytes()


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (70, 45), (2, 3, 1, 4, 2), (5, 0)])
@pytest.mark.parametrize("dtype", ["?", "<f2", "<i4", "<f8"])
def test_fortran_order_is_read(tmp_path, dtype, shape):
    array = sample(shape, dtype)
    np.save(tmp_path / "in.npy", np.asfortranarray(array))
    copy(tmp_path / "in.npy", tmp_path / "out.npy")
    read = np.load(tmp_path / "out.npy", allow_pickle=False)
    assert read.flags["C_CONTIGUOUS"]
    np.testing.assert_array_equal(read, array)


def test_fortran_order_inside_compressed_npz(tmp_path):
    array = sample((6, 7), "<f4")
    np.savez_compressed(tmp_path / "in.npz", x=np.asfortranarray(array))
    copy(tmp_path / "in.npz", tmp_path / "out.npz")
    assert_same(load_npz(tmp_path / "out.npz"), {"x": array})


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_npy_version_is_read(tmp_path, version):
    array = sample((4, 3), "<f4")
    with open(tmp_path / "in.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    copy(tmp_path / "in.npy", tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), array)


def test_npz_names_beyond_ascii(tmp_path):
    arrays = {"é 漢 🙂": np.arange(3), "layers/0/weight": np.ones(2, "<f4")}
    np.savez(tmp_path / "in.npz", **arrays)
    copy(tmp_path / "in.npz", tmp_path / "out.npz")
    assert_same(load_npz(tmp_path / "out.npz"), arrays)


def test_npz_of_fovea_passes_the_test_of_zipfile(tmp_path):
    np.savez(tmp_path / "in.npz", **all_samples())
    copy(tmp_path / "in.npz", tmp_path / "out.npz")
    with zipfile.ZipFile(tmp_path / "out.npz") as archive:
        assert archive.testzip() is None


def test_npz_is_the_same_at_any_time(tmp_path):
    np.savez(tmp_path / "in.npz", **all_samples())
    first = copy(tmp_path / "in.npz", tmp_path / "1.npz").read_bytes()
    os.utime(tmp_path / "in.npz", (0, 0))
    assert copy(tmp_path / "in.npz", tmp_path / "2.npz").read_bytes() == first


def test_list_tells_name_type_and_shape(tmp_path):
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 3), "<f4"), y=np.array(True))
    result = probe("list", tmp_path / "in.npz")
    assert result.stdout == "x F32 [2, 3]\ny BOOL []\n"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(2, ">f4"), "big-endian"),
        (np.array(["a", "b"]), "strings"),
        (np.zeros(2, "<c8"), "complex numbers"),
        (np.zeros(2, "<M8[s]"), "dates or times"),
        (np.zeros(2, [("a", "<f4")]), "records with fields"),
        (np.array([None, {}]), "Python objects"),
    ],
)
def test_other_arrays_are_refused_by_name_and_nothing_is_written(tmp_path, array, message):
    np.save(tmp_path / "in.npy", array, allow_pickle=True)
    result = probe("copy", tmp_path / "in.npy", tmp_path / "out.npy")
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.npy").exists()
