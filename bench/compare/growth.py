"""`fovea bench --growth`: time and memory of a run with all maps against the length of the text, and the exponents."""

import long_model
from report import readable
from turns import exponent, spread, summary, take_turns

LENGTHS = [512 << doubling for doubling in range(7)]  # to 32,768
FITTED = 3  # the longest ones, where attention dominates
MEASURES = ("seconds", "rollout_seconds", "kept_mb", "peak_mb")
COLUMNS = f"{'tokens':>8} {'forward':>9} {'±':>5} {'rollout':>9} {'kept':>9} {'most memory':>12} {'maps stored':>12}"


def measure(session, lengths, rounds, timeout, say):
    """A result for each length; in a fresh process, so that its memory is its own."""
    for tokens in lengths:
        name, way = f"{tokens:,} tokens", session.turns("rollout", session.long_checkpoint(), tokens)
        try:
            answers, _ = take_turns({name: way}, rounds, timeout, cold=[name], say=say)
        finally:
            way.close()
        (found,) = answers.values()
        yield {"tokens": tokens, **{name: summary([answer[name] for answer in found]) for name in MEASURES},
               "maps_stored_mb": 4 * long_model.LAYERS * long_model.HEADS * tokens**2 / 1e6}


def line(result):
    middle = {name: result[name]["median"] for name in MEASURES}
    return f"{result['tokens']:8,} {readable('seconds', middle['seconds']):>9} {100 * spread(result['seconds']):3.0f} %" \
           f" {readable('seconds', middle['rollout_seconds']):>9} {readable('mb', middle['kept_mb']):>9}" \
           f" {readable('mb', middle['peak_mb']):>12} {readable('mb', result['maps_stored_mb']):>12}"


def exponents(results):
    last = results[-FITTED:]
    sizes = [result["tokens"] for result in last]
    fitted = {name: exponent(sizes, [result[name]["median"] for result in last]) for name in ("seconds", "peak_mb")}
    return {"from": sizes[0], "to": sizes[-1], "time": fitted["seconds"], "memory": fitted["peak_mb"]}


def verdict(found):
    span = f"from {found['from']:,} to {found['to']:,} tokens"
    return f"time grows as N^{found['time']:.2f} and memory as N^{found['memory']:.2f} {span}"
