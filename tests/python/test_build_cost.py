"""The build stays cheap: what the compiler reads, folder by folder, is within the budget of docs/architecture.md."""

import re
import sys

import pytest

from program import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

import build_cost  # noqa: E402


def budget():
    """Folder -> lines, from the table."""
    text = (ROOT / "docs/architecture.md").read_text().split("## What the build may cost")[1]
    return {folder: 1000 * int(thousands) for folder, thousands in re.findall(r"^\| (fovea/\w+) \| (\d+) \|$", text, re.MULTILINE)}


def test_every_folder_reads_no_more_than_it_may():
    costs = build_cost.folder_costs(BUILD)
    assert set(costs) == set(budget()), "docs/architecture.md and the build have other folders"
    dear = [f"{folder} reads {cost.lines:,} lines, {budget()[folder]:,} are allowed"
            for folder, cost in costs.items() if cost.lines > budget()[folder]]
    assert dear == [], "see tools/build_cost.py --headers"


def test_the_dearest_headers_are_listed_first():
    costs = list(build_cost.header_costs(BUILD).values())
    assert len(costs) > 100
    products = [lines * objects for lines, objects in costs]
    assert products == sorted(products, reverse=True)


def test_a_folder_without_a_build_is_refused(tmp_path):
    with pytest.raises(build_cost.Failed, match="holds no build; run ./run first"):
        build_cost.folder_costs(tmp_path)
