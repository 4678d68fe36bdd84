"""Projects that use the library, built as their authors would: what tests of installing and of the how-to pages share."""

import subprocess

from program import BUILD


def run(*command, **options):
    """What a command that must succeed prints."""
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options
    )
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"
    return result.stdout


def install(prefix):
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def configuring(project, folder, prefix):
    return ["cmake", "-S", str(project), "-B", str(folder), "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]


def build(project, folder, prefix):
    run(*configuring(project, folder, prefix))
    run("cmake", "--build", folder)
