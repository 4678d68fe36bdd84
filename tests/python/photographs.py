"""Photographs that PyPI packages carry (photographs.txt). Their authors and terms stand in the packages; none is copied into the tree."""

import importlib.util
import pathlib

import pytest

# Twelve motifs: people, animals, things, places, and what a camera sees through other instruments.
SKIMAGE = ("astronaut.png", "camera.png", "chelsea.png", "coffee.png", "coins.png", "gravel.png", "hubble_deep_field.jpg", "moon.png",
           "motorcycle_left.png", "rocket.jpg")
SKLEARN = ("china.jpg", "flower.jpg")


def folder_of(package, *parts):
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"{package} is not installed; ./test installs tests/python/photographs.txt")
    return pathlib.Path(found.submodule_search_locations[0], *parts)


def photographs():
    paths = [folder_of("skimage", "data") / name for name in SKIMAGE] + [folder_of("sklearn", "datasets", "images") / name for name in SKLEARN]
    assert all(path.is_file() for path in paths)
    return paths
