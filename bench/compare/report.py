"""What is printed and kept of a comparison."""

import datetime
import json
import os
import pathlib
import platform
import re

from turns import spread, summary

FORMAT = 1


def three_digits(number):
    if number >= 99.95:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def readable(measure, amount):
    if measure == "tokens":
        return f"{three_digits(amount)}/s"
    if measure == "mb":
        return f"{three_digits(amount / 1e3)} GB" if amount >= 999.5 else f"{three_digits(amount)} MB"
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if amount * factor >= 0.9995 or unit == "µs":
            return f"{three_digits(amount * factor)} {unit}"


def amounts(row, answers):
    """What the row divides, of every turn."""
    if row.measure == "tokens":
        return [found["seconds"] / found["tokens"] for found in answers]
    return [found[row.measure] for found in answers]


def measured(row, answers):
    """The row's result; `answers` by way, as take_turns() gives them."""
    own = summary(amounts(row, answers[row.way]))
    other = summary(amounts(row, answers[row.against])) if row.against else None
    ratio = own["median"] / (other["median"] if other else row.limit)
    result = {"name": row.name, "about": row.about, "ratio": ratio, "target": row.target, "ok": ratio <= row.target,
              "measure": {"tokens": "seconds per token"}.get(row.measure, row.measure), "fovea": own}
    if other:
        result |= {"against": row.against, row.against: other}
    else:
        result["limit"] = row.limit
    return result


def line(row, result):
    """At most 80 columns: `NAME ratio R target T`, and what that comes from."""
    def shown(summed):
        amount = summed["median"]
        return readable(row.measure, 1 / amount if row.measure == "tokens" else amount), f"{100 * spread(summed):.0f} %"

    amount, wide = shown(result["fovea"])
    text = f"{row.name:<19} ratio {result['ratio']:5.3f} target {row.target:4.2f} {'ok' if result['ok'] else 'miss':<4}" \
           f" {amount:>8} {wide:>5}"
    if row.limit is not None:
        return f"{text} {'of ' + readable(row.measure, row.limit):>10}"
    amount, wide = shown(result[row.against])
    return f"{text} {amount:>10} {wide:>5}"


def listed(row):
    bound = readable(row.measure, row.limit) if row.limit is not None else f"{row.target:.2f}"
    return f"{row.name:<19} {bound:>8}  {row.about}"


def heading():
    return f"{'':48} {'fovea':>8} {'±':>5} {'against':>10} {'±':>5}"


def machine():
    try:
        processor = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        processor = platform.processor() or platform.machine()
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.system()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": processor, "cores": len(os.sched_getaffinity(0)), "memory_gb": round(memory / 1e9, 1), "os": system,
            "kernel": ".".join(platform.release().split(".")[:2])}


def document(kind, threads, versions, **more):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    return {"format": FORMAT, "kind": kind, "date": now, "machine": machine(), "threads": threads, "versions": versions, **more}


def default_file(root, kind, threads, isa=None):
    """In a checkout: bench/results/PROCESSOR-THREADS-KIND.json, or PROCESSOR-ISA-THREADS-KIND.json where both are held to one."""
    name = re.sub(r"[^a-z0-9]+", "-", machine()["cpu"].lower()).strip("-")
    return root / "bench/results" / f"{name}{f'-{isa}' if isa else ''}-{threads}-threads-{kind}.json"


def keep(path, content):
    """Whole or not at all."""
    new = path.with_name(path.name + ".part")
    new.write_text(json.dumps(content, indent=1) + "\n")
    new.replace(path)
