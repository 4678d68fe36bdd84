"""Runs the README's commands on a machine that has nothing: a bare Debian 12 root, made by debootstrap.

    sudo python3 tools/clean_machine.py                  ./run, ./test and the sanitizers; writes docs/clean-machine.md
    sudo python3 tools/clean_machine.py COMMAND…         these instead, each in quotes; writes nothing

The root holds a clone of HEAD and Debian's smallest set of packages. Of the host it has the resolver, certificates of its own,
and what says where packages come from (proxies, apt, pip and npm). Standard library, debootstrap, git and unshare only; takes
about half an hour on two cores and 6 GB of disk. Logs are in build/clean-machine. Exits with 0 if every command did.
"""

import argparse
import contextlib
import dataclasses
import datetime
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/clean-machine"
SUMMARY = ROOT / "docs/clean-machine.md"
RELEASE = "bookworm"
CHECKOUT = pathlib.PurePosixPath("/srv/fovea")
HOME = "root"  # of the only user

# Where a host may say how packages and names are found; those it has are copied to the same place.
HOST_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/npmrc", "/usr/local/share/ca-certificates/*"]
HOME_FILES = [".config/pip/pip.conf", ".pip/pip.conf", ".npmrc"]
HOST_VARIABLES = re.compile(r"(?i)(https?|ftp|all|no)_proxy|PIP_\w+|npm_config_\w+|SSL_CERT_(FILE|DIR)|"
                            r"(REQUESTS|CURL)_CA_BUNDLE|NODE_EXTRA_CA_CERTS")


class Failed(Exception):
    """The machine could not be made; the message says why and what to do."""


@dataclasses.dataclass
class Outcome:
    command: str
    status: int
    seconds: float
    last_line: str


def say(text):
    print(f"clean machine: {text}", flush=True)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def usual_commands():
    """The commands of the README that a newcomer gives first, as they stand there, and what .ci/run adds to them."""
    text = (ROOT / "README.md").read_text()
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    lines = [line.split("#")[0].strip() for line in blocks.splitlines()]
    for command in ("./run", "./test"):
        if command not in lines:
            raise Failed(f"README.md no longer has {command} alone on a line of a sh block; adapt one to the other")
    return ["./run", "./test", "./test --sanitizers-only"]


def check_host():
    if os.geteuid() != 0:
        raise Failed("making a root needs root; run it with sudo")
    for tool in ("debootstrap", "git", "unshare", "chroot"):
        if shutil.which(tool) is None:
            raise Failed(f"{tool} is not here; install it (Debian: apt-get install debootstrap git util-linux)")


@contextlib.contextmanager
def folder_for(given):
    """An empty folder, deleted in the end. Mounts are made in a namespace of their own, so that nothing of the host is below."""
    if given and given.exists() and any(given.iterdir()):
        raise Failed(f"{given} is not empty; name a folder that is, or none")
    if given:
        given.mkdir(parents=True, exist_ok=True)
    folder = given.resolve() if given else pathlib.Path(tempfile.mkdtemp(prefix="fovea-clean-"))
    folder.chmod(0o755)  # apt's own user goes through it
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_root(folder, mirror):
    say(f"making a bare Debian root in {folder}")
    log = LOGS / "debootstrap.log"
    with open(log, "w") as output:
        command = ["debootstrap", "--variant=minbase", RELEASE, folder, *([mirror] if mirror else [])]
        if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT).returncode:
            raise Failed(f"debootstrap failed, see {log}; --mirror names another source of packages")


def copy_from_host(folder):
    paths = [path for pattern in HOST_FILES for path in glob.glob(pattern)]
    # Of apt only what says how to reach a mirror: the rest would make the root less bare.
    paths += [path for path in glob.glob("/etc/apt/apt.conf.d/*") + glob.glob("/etc/apt/apt.conf")
              if re.search(r"Acquire::(https?|ftp)::", pathlib.Path(path).read_text(errors="replace"))]
    for path in map(pathlib.Path, paths):
        if path.is_file():
            target = folder / path.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(path, target)
    for name in HOME_FILES:
        if (source := pathlib.Path.home() / name).is_file():
            (folder / HOME / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / HOME / name)


def copy_repository(folder):
    if output_of("git", "-C", str(ROOT), "status", "--porcelain"):
        say("the working tree has changes that are not committed; HEAD is what is tested")
    # -c: the checkout may be another user's.
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "--quiet", "--depth=1", f"file://{ROOT}",
                    str(folder) + str(CHECKOUT)], check=True)


def environment():
    """A login's variables, and those of the host that say how to reach packages. A path of the host is none of them, but for
    the certificates: the root has these too."""
    passed = {name: value for name, value in os.environ.items()
              if HOST_VARIABLES.fullmatch(name) and (not value.startswith("/") or value.startswith("/etc/ssl/"))}
    return {**passed, "HOME": "/" + HOME, "USER": "root", "LANG": "C.UTF-8", "TERM": "dumb",
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def run_inside(folder, script, log):
    """Runs the script in the root, with the mounts that programs expect; they end with it, as do its processes."""
    inner = (f'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" && '
             f'exec chroot "$0" /bin/bash -c "$1"')
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inner, folder,
               f"cd {CHECKOUT} && {script}"]
    with open(log, "w") as output:
        return subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.STDOUT).returncode


def last_line(log):
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def run_command(folder, command, number):
    log = LOGS / f"{number}.log"
    say(f"{command}, output in {log}")
    start = time.monotonic()
    status = run_inside(folder, command, log)
    outcome = Outcome(command, status, time.monotonic() - start, last_line(log))
    say(f"{command}: exit code {status} after {minutes(outcome.seconds)}: {outcome.last_line}")
    return outcome


def minutes(seconds):
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


def build_facts(folder):
    """Objects, seconds of steps and wall time of the program's build in the root, from ninja's log; read before tests are built."""
    log = pathlib.Path(f"{folder}{CHECKOUT}/build/release/.ninja_log")
    if not log.exists():
        return {}
    steps = [tuple(map(int, line.split("\t")[:2])) for line in log.read_text().splitlines()[1:]]
    objects = sum(line.split("\t")[3].endswith(".o") for line in log.read_text().splitlines()[1:])
    busy = sum(end - start for start, end in steps) / 1000
    wall = (max(end for _, end in steps) - min(start for start, _ in steps)) / 1000
    return {"build of the program": f"{objects} objects, {minutes(busy)} of compiling and linking in {minutes(wall)}, without ccache's help"}


def installed_packages(folder):
    return set(output_of("dpkg-query", f"--admindir={folder}/var/lib/dpkg", "-W", "-f", "${Package}\n").split())


def host_machine():
    model = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores ({model.group(1) if model else os.uname().machine}), {gigabytes:.0f} GiB"


def summary(folder, outcomes, before, more):
    checkout = pathlib.Path(str(folder) + str(CHECKOUT))
    pictures = len(list(checkout.glob("gallery/**/*.png")))
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": output_of("git", "-c", "safe.directory=*", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"),
        "root": f"Debian {(folder / 'etc/debian_version').read_text().strip()}, debootstrap --variant=minbase, {before} packages",
        "machine": host_machine(),
        "packages that the commands installed": str(len(installed_packages(folder)) - before),
        **more,
        "pictures in gallery/": str(pictures),
    }
    rows = [f"| `{one.command}` | {one.status} | {minutes(one.seconds)} | {one.last_line.replace('|', '¦')} |" for one in outcomes]
    return "\n".join([
        "# On a clean machine", "",
        "The README's commands and the sanitizers, one after the other, in a root with nothing but Debian's smallest set of packages.",
        "Written by `sudo python3 tools/clean_machine.py`.", "",
        "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items()), "",
        "| command | exit code | time | last line |", "|---|---|---|---|", *rows, "",
        "The time of the first command includes installing packages, building and fetching models. `.ci/run`, which does the same without",
        f"the gallery, takes about as long as all of them: {minutes(sum(one.seconds for one in outcomes))}.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="instead of those of the README")
    parser.add_argument("--root", type=pathlib.Path, help="an empty folder to make the root in (default: a temporary one)")
    parser.add_argument("--mirror", help="where debootstrap gets packages from (default: where it does by itself)")
    arguments = parser.parse_args()
    try:
        commands = arguments.commands or usual_commands()
        check_host()
        LOGS.mkdir(parents=True, exist_ok=True)
        with folder_for(arguments.root) as folder:
            make_root(folder, arguments.mirror)
            copy_from_host(folder)
            copy_repository(folder)
            before = len(installed_packages(folder))
            outcomes, facts = [], {}
            for number, command in enumerate(commands, 1):
                outcomes.append(run_command(folder, command, number))
                facts = facts or {"packages that the first command installed": str(len(installed_packages(folder)) - before),
                                  **build_facts(folder)}
            text = summary(folder, outcomes, before, facts)
        if arguments.commands:
            print(text)
        else:
            SUMMARY.write_text(text)
            say(f"wrote {SUMMARY.relative_to(ROOT)}")
        return 0 if all(one.status == 0 for one in outcomes) else 1
    except (Failed, subprocess.CalledProcessError) as error:
        print(f"clean_machine: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
