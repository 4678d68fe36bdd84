"""`fovea bench --compare` and `fovea bench --growth`, which run this with any Python 3.10 or newer.

    python3 bench/compare --fovea PROGRAM --compare|--growth [NAME...] [options]

Only torch_*.py import PyTorch, in processes of their own.
"""

import argparse
import json
import pathlib
import signal
import sys
import time

if sys.version_info < (3, 10):
    sys.exit(f"fovea: this is Python {sys.version.split()[0]}; --compare and --growth need 3.10")

import environment
import growth
import report
import rows
from families import FAMILIES
from session import ISAS, Session
from turns import Failed, end_all, take_turns


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise rows.WrongUsage(f"{message}; see `fovea bench --help`")


def at_least_one(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def parse(words):
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--fovea", required=True)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--compare", action="store_true")
    mode.add_argument("--growth", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    for flag in ("--list", "--json"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--python")
    for number, default in (("--threads", None), ("--rounds", None), ("--timeout", 120)):
        parser.add_argument(number, type=at_least_one, default=default)
    parser.add_argument("--isa", choices=ISAS)
    options = parser.parse_intermixed_args(words)
    if options.growth and (options.names or options.list or options.isa):
        parser.error("--growth takes no names, no --list and no --isa")
    if options.out and not options.out.absolute().parent.is_dir():
        parser.error(f"--out {options.out}: there is no such folder")
    return options


def progress(name):
    """Tells on a terminal what is being done, in a line that vanishes."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\033[K{name}: {text}" if text else "\r\033[K", end="", file=sys.stderr, flush=True)


def measure_family(session, group, wanted, options):
    family = FAMILIES[group]
    needed = {row.way for row in wanted} | {row.against for row in wanted if row.against}
    names = [way for way in family.ways if way in needed or family.derived]
    rounds, say, ways = family.rounds or options.rounds or 5, progress(group), {}
    try:
        for way in names:
            say(f"{way}, getting ready")
            ways[way] = family.ways[way](session)
        answers, busy = take_turns(ways, rounds, options.timeout, family.tolerance, family.cold, say)
        for name, derive in family.derived.items():
            answers[name] = [derive({way: answers[way][i] for way in ways}) for i in range(rounds)]
        return answers, busy
    finally:
        for way in ways.values():
            way.close()
        say("")


def compare(session, options):
    chosen = rows.choose(options.names)
    show = (lambda text: None) if options.json else (lambda text: print(text, flush=True))
    start, results, failed, taken, busiest = time.monotonic(), [], [], {}, 0.0
    versions = {"fovea": session.fovea_says("--version").split()[-1], **session.torch_versions()}
    held = f", both held to {options.isa.upper()}" if options.isa else ""
    show(f"{report.machine()['cpu']}, {session.threads} threads{held}; PyTorch {versions['torch']}, transformers "
         f"{versions['transformers']}.\nfovea has every map readable. ratio: to PyTorch without maps (/maps: with), or\n"
         f"to a limit (of). Medians of {options.rounds or 5} turns; ± is highest - lowest, over the median.\n\n{report.heading()}")
    for group in dict.fromkeys(row.group for row in chosen):
        wanted = [row for row in chosen if row.group == group]
        began = time.monotonic()
        try:
            answers, busy = measure_family(session, group, wanted, options)
        except Failed as error:
            environment.say(f"{group}: {error}")
            failed.append({"rows": [row.name for row in wanted], "error": str(error)})
            continue
        finally:
            taken[group] = round(time.monotonic() - began, 1)
        busiest = max(busiest, busy)
        for row in wanted:
            result = report.measured(row, answers)
            results.append(result)
            show(report.line(row, result))
    seconds = time.monotonic() - start
    good = sum(result["ok"] for result in results)
    show(f"\n{len(results)} rows: {good} ok, {len(results) - good} missed"
         f"{f', {len(failed)} failed' if failed else ''}; {seconds:.0f} s.\n"
         f"Whoever waited for its turn used {100 * busiest:.1f} % of a core at most.")
    kept = report.document("compare", session.threads, versions, isa=session.isa_facts(), seconds=round(seconds, 1), seconds_of=taken,
                           complete=not options.names, waiting_cpu_share=round(busiest, 4), rows=results, failed=failed)
    return kept, 1 if failed else 0


def grow(session, options):
    show = (lambda text: None) if options.json else (lambda text: print(text, flush=True))
    show(f"{report.machine()['cpu']}, {session.threads} threads; a GPT-2 shape of 2 layers, every map readable.\n"
         f"Medians of {options.rounds or 3} turns; memory is what comes on top of the weights.\n\n{growth.COLUMNS}")
    results = []
    for result in growth.measure(session, growth.LENGTHS, options.rounds or 3, options.timeout, progress("growth")):
        progress("")("")
        results.append(result)
        show(growth.line(result))
    found = growth.exponents(results)
    show(f"\n{growth.verdict(found)}")
    versions = {"fovea": session.fovea_says("--version").split()[-1]}
    return report.document("growth", session.threads, versions, complete=True, exponents=found, lengths=results), 0


def keep(kept, options, session):
    out = options.out
    if not out and kept["complete"] and (environment.ROOT / "CMakeLists.txt").exists():
        out = report.default_file(environment.ROOT, kept["kind"], session.threads, options.isa)
    if options.json:
        print(json.dumps(kept, indent=1))
    if out:
        out.parent.mkdir(exist_ok=True)
        report.keep(out, kept)
        if not options.json:
            print(f"written: {out}")


def main():
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        options = parse(sys.argv[1:])
        rows.choose(options.names)
        if options.list:
            print("\n".join(map(report.listed, rows.ROWS)))
            return 0
        with Session(options.fovea, options.python, options.threads, options.isa) as session:
            session.turns_program()
            kept, code = (compare if options.compare else grow)(session, options)
            keep(kept, options, session)
            return code
    except rows.WrongUsage as error:
        environment.say(error)
        return 2
    except Failed as error:
        environment.say(error)
        return 1
    except OSError as error:
        environment.say(f"{error.filename}: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        end_all()


if __name__ == "__main__":
    sys.exit(main())
