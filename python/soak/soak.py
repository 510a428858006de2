"""Random programs, arrays, threads, signals, limits and forks for as long as one likes: `make soak`.

SPMDVM_SOAK_SECONDS (600) says for how long, SPMDVM_SOAK_SEED where to begin (else at a random place),
SPMDVM_SOAK_JOBS (2) how many processes try at once. Trials run in processes of their own, several in each, under a
watchdog. A crash, a hang or a difference is reported with its seed, and a script that repeats it is written to
`out/soak/`. The last line sums up; the exit code is 1 if anything was found.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FINDINGS = HERE.parent.parent / "out" / "soak"
TRIALS_PER_PROCESS = 25
# Seconds that the trials of a process may take; most need a few.
PATIENCE = 300.0


@dataclass
class Run:
    """A process that tries some seeds."""

    process: subprocess.Popen
    output: tempfile._TemporaryFileWrapper
    first: int
    began: float

    @staticmethod
    def start(first: int) -> Run:
        """Start the trials of some seeds, with what they say going to a file: a pipe might fill up."""
        output = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it is read when the process has ended)
        command = [sys.executable, "-X", "faulthandler", str(HERE / "trial.py"), str(first), str(TRIALS_PER_PROCESS)]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        return Run(process, output, first, time.monotonic())

    def finding(self) -> str | None:
        """Say what is wrong with the process, if it has ended so; end it if it hangs."""
        code = self.process.poll()
        if code is None and time.monotonic() - self.began > PATIENCE:
            self.stop()
            return f"hangs: nothing for {PATIENCE:.0f} s"
        if code is None or code == 0:
            return None
        return "differs or fails" if code == 1 else f"crashes with status {code}"

    def stop(self) -> None:
        """End the process and those that it forked."""
        os.killpg(self.process.pid, 9)
        self.process.wait()

    def said(self) -> list[str]:
        """Give the lines of the output."""
        self.output.seek(0)
        return self.output.read().splitlines()


def report(run: Run, what: str) -> None:
    """Print a finding, and write a script that repeats it."""
    lines = run.said()
    seeds = [line.split()[1] for line in lines if line.startswith("seed ")]
    seed = seeds[-1] if seeds else str(run.first)
    last = max((i for i, line in enumerate(lines) if line.startswith("seed ")), default=0)
    text = "\n".join(lines[last:])
    FINDINGS.mkdir(parents=True, exist_ok=True)
    script = FINDINGS / f"seed-{seed}.sh"
    explained = "".join(f"# {line}\n" for line in f"{what}\n{text}".splitlines())
    script.write_text(f"#!/bin/sh\n{explained}exec {sys.executable} -X faulthandler {HERE / 'trial.py'} {seed}\n")
    script.chmod(0o755)
    print(f"seed {seed} {what}; {script} repeats it\n{text}\n", flush=True)


def main() -> int:
    """Try seeds until the time is up."""
    seconds = float(os.environ.get("SPMDVM_SOAK_SECONDS", "600"))
    jobs = int(os.environ.get("SPMDVM_SOAK_JOBS", "2"))
    seed = int(os.environ.get("SPMDVM_SOAK_SEED") or random.randrange(10**9))
    first, trials, findings, runs = seed, 0, 0, []
    end = time.monotonic() + seconds
    while runs or time.monotonic() < end:
        while len(runs) < jobs and time.monotonic() < end:
            runs.append(Run.start(seed))
            seed += TRIALS_PER_PROCESS
        time.sleep(0.1)
        for run in list(runs):
            what = run.finding()
            if what is not None:
                findings += 1
                report(run, what)
            if run.process.poll() is not None:
                trials += sum(line.startswith("seed ") for line in run.said())
                run.output.close()
                runs.remove(run)
    print(f"soak: {trials} trials from seed {first} on in {seconds:.0f} s: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
