"""python -m posenc.lab: trains and measures the laboratory's models, a run at a time, and takes up where it stopped.

    python -m posenc.lab list                         every run, and what is there of it
    python -m posenc.lab run quick-text-rope_100-0    one run, in a minute or two
    python -m posenc.lab all --profile quick          all runs of a profile that are not there yet
    python -m posenc.lab all --workers 2              all of them, but the exams: some hours of one core
    python -m posenc.lab collect                      writes what is there into posenc-lab
    python -m posenc.lab tables                       prints what the exams found, with intervals
    python -m posenc.lab real …                       measures a real model, SmolLM2-135M (posenc.lab.real)

To add runs to those that ship: `all --missing`, then `collect --keep`.

Finished runs and the state of unfinished ones are kept under --folder, _build/lab.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from posenc.lab import results, store
from posenc.lab.exams import GROUPS
from posenc.lab.execution import carry_out
from posenc.lab.measured import exams
from posenc.lab.runs import PROFILES, Run, examined, planned
from posenc.lab.tables import TABLES, as_text
from posenc.lab.train import SAVE_EVERY, try_rates

TRIAL_SEED = 9  # of the trials of learning rates, and of no run


def device_of_this_process(device: str) -> str:
    """The device that is asked for; of several GPUs that which torchrun gives this process."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" and "LOCAL_RANK" in os.environ else device


def print_tables(words: str) -> None:
    """Prints the tables whose title has some words, when each model learned, and what was planned but is not there."""
    found = exams()
    for table in TABLES:
        if words in table.title:
            print(as_text(table, found), end="\n\n")
    if not words:
        print("The step at which each run had learned its task; - if it had not")
        for name, run in found.runs.items():
            print(f"{name:<45} {run['learned_at'] or '-':>5} of {run['steps']}, learning rate {run['learning_rate']}")
        asked = {(one["run"], one["kind"]) for one in found.measurements}
        missing = [run.name for run in examined() if not any(run.name == name for name, _ in asked)]
        hours = sum(run["processor_seconds"] for run in found.runs.values()) / 3600
        print(f"\n{hours:.1f} hours of one core went into training these {len(found.runs)} models.")
        print(f"\nPlanned, and not reached: {len(missing)} of {len(examined())} runs", *missing, sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m posenc.lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("_build/lab"), help="where runs are kept")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="every planned run, and what is there of it")
    listing.add_argument(
        "--exams", action="store_true", help="the names of those that the exams are put to, and no more"
    )
    one = commands.add_parser("run", help="train and measure the runs that are named")
    one.add_argument("names", nargs="+", metavar="NAME", help="as quick-text-rope_100-0")
    rates = commands.add_parser("rates", help="try the learning rates on every scheme")
    rates.add_argument("--steps", type=int, default=400, help="of each trial (400)")
    everything = commands.add_parser("all", help="train and measure every planned run that is not there yet")
    everything.add_argument("--profile", choices=tuple(PROFILES), help="those of one profile")
    everything.add_argument("--only", metavar="WORDS", help="only runs whose name matches this regular expression")
    everything.add_argument("--missing", action="store_true", help="only those that do not ship yet")
    everything.add_argument("--workers", type=int, default=1, help="processes of one thread each")
    for command in (one, everything):
        command.add_argument("--groups", nargs="+", choices=("all", *GROUPS), help="measure only these of the exams")
        command.add_argument(
            "--device", default="cpu", help="of torch, as cuda; with torchrun each process has its own"
        )
    collecting = commands.add_parser("collect", help="write results and checkpoints into posenc-lab")
    collecting.add_argument("--keep", action="store_true", help="keep what ships of runs that are not in the folder")
    collecting.add_argument("--into", type=Path, help="another place than the package's own")
    commands.add_parser("exams", help="add what the exams found to what ships")
    commands.add_parser("statistics", help="write what the models that ship hold")
    printing = commands.add_parser("tables", help="print what the exams found, with intervals")
    printing.add_argument("--only", metavar="WORDS", default="", help="tables whose title has these words")
    commands.add_parser("real", help="measure a real model, SmolLM2-135M", add_help=False)
    asked, rest = parser.parse_known_args(arguments)
    if asked.command == "real":
        from posenc.lab import real

        return real.main(rest)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")

    if asked.command == "list" and asked.exams:
        print(*(run.name for run in examined()), sep="\n")
    elif asked.command == "list":
        parts = [("trained", ".safetensors"), ("measured", ".json")]
        shipped = results().runs
        lines = []
        for run in planned():
            there = [word for word, ending in parts if (asked.folder / f"{run.name}{ending}").is_file()]
            there += ["ships with posenc-lab"] if run.name in shipped else []
            lines.append(f"{run.name:<45} {', '.join(there) or '-'}")
        print("\n".join([f"What is in {asked.folder}, and what ships:", *lines]))
    elif asked.command == "run":
        try:
            runs = [Run.from_name(name) for name in asked.names]
        except ValueError as wrong:
            parser.error(f"{wrong} (`python -m posenc.lab list` names them)")
        for run in runs:
            print(carry_out(run, asked.folder, asked.groups, device=device_of_this_process(asked.device)))
    elif asked.command == "rates":
        found = {}
        for scheme in dict.fromkeys(run.scheme for run in examined()):
            profile = "four_layers" if "mixed" in scheme else "two_layers"
            found[scheme] = try_rates(Run(profile, "text", scheme, TRIAL_SEED), asked.steps)
            print(scheme, found[scheme], flush=True)
            store.write_json(asked.folder / "rates.json", {"steps": asked.steps, "losses": found})
    elif asked.command == "all":
        shipped = results().runs if asked.missing else {}
        runs = planned() if asked.groups is None else examined()
        runs = [run for run in runs if asked.profile in (None, run.profile) and run.name not in shipped]
        runs = [run for run in runs if re.search(asked.only or "", run.name)]
        # torchrun starts several processes and tells each its number: they share the runs.
        rank, world = (int(os.environ.get(name, default)) for name, default in (("RANK", 0), ("WORLD_SIZE", 1)))
        runs, device = runs[rank::world], device_of_this_process(asked.device)
        # glibc hands every large block back to the system, which clears it anew for the next operation: a quarter of
        # all time. Workers read these settings when they start.
        os.environ |= {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**32)} | os.environ
        # A fresh process for each worker: a forked one would inherit torch's threads in any state.
        with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
            progress = repeat(asked.workers == 1)
            more = (repeat(asked.folder), repeat(asked.groups), progress, repeat(device))
            for number, line in enumerate(pool.map(carry_out, runs, *more), 1):
                print(f"[{number} of {len(runs)}] {line}", flush=True)
    elif asked.command == "exams":
        print(store.collect_exams(asked.folder))
    elif asked.command == "statistics":
        print(store.collect_statistics())
    elif asked.command == "tables":
        print_tables(asked.only)
    else:
        print(store.collect(asked.folder, asked.into, keep=asked.keep))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(f"\nStopped. The same command goes on from the last state kept, every {SAVE_EVERY} steps.")
