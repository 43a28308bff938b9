#!/usr/bin/env python3
"""What wisp-tui costs on a terminal: until its first frame, in memory, while deltas stream in, and while nothing happens.
Called by scripts/bench; needs the release build. Linux only: it reads /proc."""

import fcntl
import glob
import json
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

BIN = os.environ.get("WISP_BENCH_BIN", os.path.join("target", "release"))
TUI = os.path.abspath(os.path.join(BIN, "wisp-tui"))
SIM = os.path.abspath(os.path.join(BIN, "ollama-sim"))
READY = {"type": "status", "model": "m", "directory": "~", "approval": "approve at moderate"}
FRAME_END = b"\x1b[?2026l"


class Terminal:
    """wisp-tui on a pseudo-terminal of 120 columns and 40 rows."""

    def __init__(self, *arguments, **variables):
        home = tempfile.mkdtemp(prefix="wisp-bench-")
        env = {"PATH": os.environ["PATH"], "HOME": home, "WISP_HOME": home + "/wisp", "TERM": "xterm-256color"}
        env.update(variables)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.began = time.monotonic()
        self.process = subprocess.Popen([TUI, *arguments], stdin=slave, stdout=slave, stderr=slave, env=env,
                                        start_new_session=True, cwd=home)
        os.close(slave)
        self.written = bytearray()

    def read(self, seconds):
        """Reads what is written within a time; whether there was any."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            self.written += os.read(self.master, 1 << 16)
        except OSError:
            sys.exit("wisp-tui ended: " + self.written.decode(errors="replace"))
        return True

    def wait_for(self, text, seconds=60):
        """Seconds since the start until the text was written."""
        until = time.monotonic() + seconds
        while text not in self.written:
            if not self.read(max(0, until - time.monotonic())):
                sys.exit(f"waited for {text!r}: {bytes(self.written[-400:])!r}")
        return time.monotonic() - self.began

    def type(self, text):
        os.write(self.master, text.encode())

    def status(self, name):
        """The sum over its threads of a number in /proc/PID/task/TID/status."""
        total = 0
        for task in glob.glob(f"/proc/{self.process.pid}/task/*/status"):
            with open(task) as file:
                total += int(re.search(rf"^{name}:\s+(\d+)", file.read(), re.M).group(1))
        return total

    def resident(self):
        """Mebibytes in memory."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"^VmRSS:\s+(\d+)", file.read(), re.M).group(1)) / 1024

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class Server:
    """A scripted server that answers at once."""

    def __init__(self):
        self.script = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump({"steps": [{"repeat": True, "reply": [{"content": "hi"}]}]}, self.script)
        self.script.flush()
        self.process = subprocess.Popen([SIM, "--script", self.script.name, "--instant"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1].strip()


def recording(lines):
    file = tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False)
    file.write("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    file.close()
    return file.name


def row(what, measured, bar, met):
    print(f"| {what} | {measured} | {bar}: {'met' if met else '**not met**'} |", flush=True)


def start():
    """The first frame, and the first prompt that input can be typed at, with a server that answers."""
    server = Server()
    frames, ready, resident = [], [], []
    for _ in range(11):
        terminal = Terminal("--model", "sim", OLLAMA_HOST=server.url)
        frames.append(terminal.wait_for(FRAME_END) * 1000)
        ready.append(terminal.wait_for(b"approve at moderate") * 1000)
        terminal.read(0.3)
        resident.append(terminal.resident())
        terminal.end()
    server.process.kill()
    first, prompt, memory = (statistics.median(values[1:]) for values in (frames, ready, resident))
    row("first frame", f"{first:.1f} ms", "50 ms", first < 50)
    print(f"| the engine's first prompt in it | {prompt:.1f} ms | |", flush=True)
    row("resident at that prompt", f"{memory:.1f} MiB", "30 MB", memory * 1.048576 < 30)


def deltas(count=25_000, a_second=5_000):
    """Deltas at a steady rate, every word of which must be in what was written; memory before and after the last four
    fifths."""
    message, turn = '> {"type":"message"}', '{"type":"turn","phase":"start","turn":1}'
    lines = [READY, message, turn]
    for n in range(count):
        end = "\n" if n % 9 == 0 else " "
        lines.append({"type": "delta", "text": f"w{n}{end}"})
        if n % (a_second // 100) == 0:
            lines.append("@ 10")
    lines += [{"type": "turn", "phase": "end", "turn": 1, "end": {"seconds": 5.0, "outcome": "ok"}}, READY,
              {"type": "note", "text": "ALL SAID"}, message]
    terminal = Terminal("--replay", recording(lines))
    terminal.wait_for(b"approve at moderate")
    terminal.type("go\r")
    began = time.monotonic()
    terminal.wait_for(f"w{count // 5}".encode())
    early = terminal.resident()
    terminal.wait_for(b"ALL SAID")
    took = time.monotonic() - began
    late = terminal.resident()
    seen = set(re.findall(rb"\bw\d+\b", re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", bytes(terminal.written))))
    words = sum(f"w{n}".encode() in seen for n in range(count))
    terminal.end()
    row(f"{count:,} deltas in {took:.1f} s: dropped", f"{count - words}", "0", words == count)
    row("memory over the last four fifths of them", f"{early:.1f} → {late:.1f} MiB", "flat within 1 MiB", late - early < 1)


def frames():
    """The time a frame takes to be taken in, laid out and written, from the example of that name."""
    example = os.path.join(BIN, "examples", "frames")
    said = subprocess.run([example], capture_output=True, text=True, check=True).stdout
    p99 = re.search(r"p99 ([\d.]+)(µs|ms|s)", said)
    millis = float(p99.group(1)) * {"µs": 0.001, "ms": 1, "s": 1000}[p99.group(2)]
    row("a frame at 5,000 deltas a second, p99", f"{millis:.2f} ms", "16 ms", millis < 16)


def idle(seconds=60):
    """Wake-ups of all threads while nothing happens: voluntary context switches."""
    terminal = Terminal(OLLAMA_HOST="127.0.0.1:9")
    terminal.wait_for(b"approve at moderate")
    terminal.read(3)
    while terminal.read(3):
        pass
    before, bytes_before = terminal.status("voluntary_ctxt_switches"), len(terminal.written)
    time.sleep(seconds)
    terminal.read(0)
    woken, written = terminal.status("voluntary_ctxt_switches") - before, len(terminal.written) - bytes_before
    terminal.end()
    row(f"wake-ups in {seconds} idle seconds", f"{woken}, {written} bytes written", "0", woken == 0 and written == 0)


ROWS = {"start": start, "deltas": deltas, "frames": frames, "idle": idle}

if __name__ == "__main__":
    print("| what | measured | bar |\n| --- | --- | --- |")
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()
