#!/usr/bin/env python3
"""Whole-process figures of wisp beside stated commands, as ratios. Called by scripts/bench; needs the release build.

Each command runs several times in turn with the other; the median of the ratios pair by pair is printed, so that a
machine whose speed drifts does not decide.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

BIN = os.path.join("target", "release")
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


def digest():
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        line = "   Compiling tern-{0} v1.{0}.0\nwarning: unused variable: `x{0}`\n --> src/tern_{0}.rs:{0}:9\n"
        size = number = 0
        while size < 16 << 20:
            number += 1
            size += log.write(line.format(number))
        log.flush()
        grep = f"grep -cE 'error|warning' {log.name} | cat"
        row("digest of a 16 MiB build log", lambda: timed([WISP, "summarise", log.name]),
            lambda: timed(["sh", "-c", grep]), "grep -cE 'error|warning'")


ROWS = {"start": start, "gibibyte": gibibyte, "digest": digest}

if __name__ == "__main__":
    print("| what | wisp | beside | ratio |\n| --- | --- | --- | --- |")
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()
