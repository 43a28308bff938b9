#!/usr/bin/env python3
"""A conversation of ten thousand turns with the real program: memory and time per turn as it gets longer, and what a
killed conversation of that length takes to open. Called by scripts/bench turns; needs the release build.

Each turn runs a command and talks; the window has 8,192 tokens, so that older turns leave it all the time. "memory" is
what the process holds (VmRSS) when a turn is over, "turn" the mean over the turns since the row before, "saved" what one
save writes: both files that are replaced, and not the past, which only grows.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

BIN = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release")
WISP = os.path.abspath(os.path.join(BIN, "wisp"))
SIM = os.path.abspath(os.path.join(BIN, "ollama-sim"))
TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROWS = sorted({TURNS // 100, TURNS // 10, TURNS // 2, TURNS})
SAID = "The lamp was lit at dusk, and the log says so in so many words. " * 8


def serve():
    """The scripted server: its process and address."""
    steps = [
        {"expect": [{"last_role": "user"}], "repeat": True,
         "reply": [{"call": {"name": "run_command", "arguments": {"command": "seq 1 60"}}}]},
        {"expect": [{"last_role": "tool"}], "repeat": True, "reply": [{"content": SAID}]},
    ]
    script = os.path.join(tempfile.mkdtemp(prefix="wisp-bench-"), "script.json")
    with open(script, "w", encoding="utf-8") as file:
        json.dump({"steps": steps}, file)
    process = subprocess.Popen([SIM, "--script", script, "--instant"], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[-1].strip()


def memory(process):
    """Bytes a process holds."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        row = next(line for line in status if line.startswith("VmRSS"))
    return int(row.split()[1]) * 1024


def asked(process):
    """Reads events up to the next wish for a line."""
    for line in process.stdout:
        if json.loads(line)["type"] == "status":
            return
    sys.exit("wisp ended before its time")


def size(home, ending):
    path = os.path.join(home, "wisp", "transcripts", "long." + ending)
    return os.path.getsize(path) if os.path.exists(path) else 0


def start(home, url, *arguments):
    env = {"PATH": os.environ["PATH"], "HOME": home, "WISP_HOME": home + "/wisp", "OLLAMA_HOST": url}
    command = [WISP, "chat", "--json", "--yes", *arguments]
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, bufsize=1)
    asked(process)
    return process


def main():
    home = tempfile.mkdtemp(prefix="wisp-bench-")
    os.makedirs(home + "/wisp")
    with open(home + "/wisp/config.json", "w", encoding="utf-8") as file:
        json.dump({"model": "sim", "ollama": {"contextLength": 8192}}, file)
    server, url = serve()
    wisp = start(home, url, "--save", "long")
    print("turns\tmemory MiB\tturn ms\tsaved KiB\tpast KiB")
    since, last = time.monotonic(), 0
    for turn in range(1, TURNS + 1):
        message = f"What does the log say of watch {turn}, and is it in order?"
        wisp.stdin.write(json.dumps({"type": "message", "text": message}) + "\n")
        asked(wisp)
        if turn in ROWS:
            mean = (time.monotonic() - since) * 1000 / (turn - last)
            saved = (size(home, "store") + size(home, "json")) / 1024
            print(f"{turn}\t{memory(wisp) / 2**20:.1f}\t{mean:.2f}\t{saved:.0f}\t{size(home, 'past') / 1024:.0f}", flush=True)
            since, last = time.monotonic(), turn
    wisp.kill()
    began = time.monotonic()
    wisp = start(home, url, "--resume", "long")
    print(f"opened again in {(time.monotonic() - began) * 1000:.0f} ms, holding {memory(wisp) / 2**20:.1f} MiB")
    wisp.kill()
    server.kill()


main()
