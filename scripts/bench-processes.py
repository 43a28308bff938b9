#!/usr/bin/env python3
"""Whole-process figures of wisp beside stated commands, as ratios. Called by scripts/bench; needs the release build.

Each command runs several times in turn with the other; the median of the ratios pair by pair is printed, so that a
machine whose speed drifts does not decide.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BIN = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release")
WISP = os.path.abspath(os.path.join(BIN, "wisp"))
SIM = os.path.abspath(os.path.join(BIN, "ollama-sim"))


def timed(command, env=None, stdin=None):
    """Seconds of wall-clock a command takes."""
    began = time.monotonic()
    done = subprocess.run(command, env=env, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.monotonic() - began
    if done.returncode not in (0, 1):
        sys.exit(f"{command} ended with {done.returncode}")
    return took


def row(what, ours, theirs, against, runs=5):
    """Prints one row: medians in milliseconds and the median ratio."""
    pairs = [(ours(), theirs()) for _ in range(runs + 1)][1:]
    mine = statistics.median(a for a, _ in pairs) * 1000
    other = statistics.median(b for _, b in pairs) * 1000
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"| {what} | {mine:.1f} ms | `{against}` {other:.1f} ms | {ratio:.2f} |", flush=True)


class Scripted:
    """A scripted server whose model runs one command for each prompt."""

    def __init__(self, command):
        script = {
            "steps": [
                {"expect": [{"last_role": "user"}], "repeat": True,
                 "reply": [{"call": {"name": "run_command", "arguments": {"command": command}}}]
                 if command else [{"content": "hi"}]},
                {"expect": [{"last_role": "tool"}, {"tool_result_contains": "exit status"}], "repeat": True,
                 "reply": [{"content": "done"}]},
            ][: 2 if command else 1]
        }
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(script, self.file)
        self.file.flush()
        self.process = subprocess.Popen([SIM, "--script", self.file.name, "--instant"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1].strip()

    def environment(self):
        """A clean environment with a home of its own."""
        home = tempfile.mkdtemp(prefix="wisp-bench-")
        return {"PATH": os.environ["PATH"], "HOME": home, "WISP_HOME": home + "/wisp", "OLLAMA_HOST": self.url, "TERM": "dumb"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()


def start():
    row("`wisp --version`", lambda: timed([WISP, "--version"]), lambda: timed(["true"]), "true", 20)
    with Scripted(None) as server:
        env = server.environment()
        body = json.dumps({"model": "sim", "messages": [{"role": "user", "content": "hi"}]})
        curl = ["curl", "-s", server.url + "/api/chat", "-d", body]
        ask = [WISP, "--model", "sim", "--no-tools", "hi"]
        row("`wisp \"hi\" --no-tools`", lambda: timed(ask, env), lambda: timed(curl), "curl /api/chat", 20)


def gibibyte():
    command = "yes | head -c 1073741824"
    with Scripted(command) as server:
        env = server.environment()
        ask = [WISP, "--model", "sim", "--yes", "go"]
        beside = f"{command} | cat"
        row("`run_command` printing 1 GiB", lambda: timed(ask, env), lambda: timed(["sh", "-c", beside]), beside, 3)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"largest process of all of these: {before / 1024:.0f} MiB (wisp's bar is 48 MiB)")


def filled(line, size=16 << 20):
    """So many bytes of numbered lines."""
    text, length, number = [], 0, 0
    while length < size:
        number += 1
        text.append(line(number))
        length += len(text[-1])
    return "".join(text).encode()


WARNINGS = "   Compiling tern-{0} v1.{0}.0\nwarning: unused variable: `x{0}`\n --> src/tern_{0}.rs:{0}:9\n"
RUSTC = "error[E0425]: cannot find value `x{0}` in this scope\n --> src/tern_{0}.rs:{0}:9\n  |\n{0} |     x{0}\n\n"
GCC = "src/gauge_{0}.c:{0}:10: {1}: {2} [-Wunused-variable]\n"
OPENINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../crates/wisp-digest/tests/openings.txt")


def build_line(number):
    """A build in which one line of a hundred is a warning and one of a thousand an error."""
    if number % 1000 == 7:
        return GCC.format(number, "error", "expected ';'")
    if number % 100 == 3:
        return GCC.format(number, "warning", "unused variable 'depth'")
    return f"  CC      build/objects/subsystem/{number}/gauge_{number}.o -O2 -g -fPIC -Iinclude/tide\n"


def openings(size=16 << 20):
    """Beginnings of blocks in every format, none of which ends."""
    with open(OPENINGS, encoding="utf-8") as lines:
        lines = lines.read().splitlines(keepends=True)
    return filled(lambda number: lines[number * 7 % len(lines)], size)


LOGS = [
    ("full of warnings (cargo)", lambda: filled(WARNINGS.format)),
    ("full of warnings (gcc)", lambda: filled(lambda n: GCC.format(n, "warning", f"unused variable 'depth_{n}'"))),
    ("nothing but errors (rustc)", lambda: filled(RUSTC.format)),
    ("nothing but errors (gcc)", lambda: filled(lambda n: GCC.format(n, "error", f"'depth_{n}' undeclared"))),
    ("a build, 1 line of 100 a warning", lambda: filled(build_line)),
    ("no match", lambda: filled(lambda n: f"[{n}/90000] Copying resources/images/tile_{n}.png to the bundle\n")),
    ("one line", lambda: b"x" * (16 << 20)),
    ("2 million short lines", lambda: b"abcdefg\n" * (2 << 20)),
    ("beginnings of every format, no endings", openings),
    ("the same, 4 MiB", lambda: openings(4 << 20)),
]


def computed(command):
    """Seconds of processor time of a command and what it starts. Both sides of a digest's row use one core, and other
    work on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    timed(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak(command):
    """MiB of memory a command held at most, by GNU time: a child of this process would begin with its peak."""
    shown = subprocess.run(["/usr/bin/time", "-f", "%M"] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(shown.stderr.split()[-1]) / 1024


def digest():
    largest = {}
    for what, make in LOGS:
        with tempfile.NamedTemporaryFile("wb", suffix=".log") as log:
            log.write(make())
            log.flush()
            ours = [WISP, "summarise", log.name]
            grep = ["sh", "-c", f"grep -cE 'error|warning' {log.name} | cat"]
            pairs = [(computed(ours), computed(grep)) for _ in range(25)]
            mine, other = (min(each) * 1000 for each in zip(*pairs))
            print(f"| digest of 16 MiB: {what} | {mine:.1f} ms | `grep -cE 'error|warning'` {other:.1f} ms "
                  f"| {mine / other:.2f} |", flush=True)
            largest[what] = peak(ours)
    print("peak memory, MiB: " + ", ".join(f"{what} {size:.1f}" for what, size in largest.items()))


def log_of_16_mib(file):
    """A build log of 16 MiB in which every thousandth line is an error."""
    size = number = 0
    while size < 16 << 20:
        number += 1
        word = "error[E0308]: mismatched types in" if number % 1000 == 0 else "   Compiling"
        size += file.write(f"{word} tern-{number} v1.{number}.0 (/home/ada/tern/crates/{number})\n")
    file.flush()


def filter_stored():
    """`wisp show ID --matching PATTERN` beside ripgrep, or grep where there is none, over the same bytes."""
    pattern = "error.*E0308"
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        log_of_16_mib(log)
        with Scripted(f"cat {log.name}") as server:
            env = server.environment()
            os.mkdir(env["WISP_HOME"], 0o700)
            with open(env["WISP_HOME"] + "/config.json", "w") as config:
                json.dump({"context": {"outputCeiling": 32 << 20}}, config)
            timed([WISP, "--model", "sim", "--yes", "go"], env)
            kept = json.loads(subprocess.check_output([WISP, "outputs", "--json"], env=env))[0]
            show = [WISP, "show", kept["id"], "--matching", pattern]
            search = ["rg", "-n", "-i", pattern, log.name]
            if not shutil.which("rg"):
                print("ripgrep (rg) is not installed: compared with grep instead", file=sys.stderr)
                search = ["grep", "-nEi", pattern, log.name]
            row("filter 16 MiB by a regex", lambda: timed(show, env), lambda: timed(search), " ".join(search[:-1]), 20)


def page():
    """A 64 KiB page in the middle of 16 MiB: no process to compare with, but a bar of 1 ms and two reads."""
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        log_of_16_mib(log)
        said = subprocess.check_output([os.path.join(BIN, "examples", "speed"), log.name, "E0308", "pages"], text=True)
        print(said.strip(), flush=True)


ROWS = {"start": start, "filter": filter_stored, "page": page, "gibibyte": gibibyte, "digest": digest}

if __name__ == "__main__":
    print("| what | wisp | beside | ratio |\n| --- | --- | --- | --- |")
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()
