"""python -m posenc.lab: trains and measures the laboratory's models, and resumes where it stopped.

    python -m posenc.lab list                         every run, and what the folder has of it
    python -m posenc.lab run quick-text-rope_100-0    one run, in a minute or two
    python -m posenc.lab all --profile quick          all runs of a profile that are not done yet
    python -m posenc.lab all --workers 2              all runs without the benchmarks: hours of one core
    python -m posenc.lab collect                      writes the results into posenc-lab
    python -m posenc.lab tables                       prints the benchmarks, with intervals
    python -m posenc.lab real …                       measures a real model, SmolLM2-135M (posenc.lab.real)

To add runs to those that ship: `all --missing`, then `collect --keep`.

Finished runs and the state of unfinished ones are in --folder, _build/lab.
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
from posenc.lab.benchmarks import GROUPS
from posenc.lab.execution import carry_out
from posenc.lab.measured import benchmarks
from posenc.lab.runs import PROFILES, Run, benchmarked, planned
from posenc.lab.tables import TABLES, as_text
from posenc.lab.train import SAVE_EVERY, try_rates

TRIAL_SEED = 9  # for trying learning rates; no run has it


def device_of_this_process(device: str) -> str:
    """The device; with several GPUs, the one that torchrun assigns to this process."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" and "LOCAL_RANK" in os.environ else device


def print_tables(words: str) -> None:
    """Prints the tables with these words in their title; without words also learning times and missing runs."""
    found = benchmarks()
    for table in TABLES:
        if words in table.title:
            print(as_text(table, found), end="\n\n")
    if not words:
        print("The step at which each run had learned its task; - if it did not")
        for name, run in found.runs.items():
            print(f"{name:<45} {run['learned_at'] or '-':>5} of {run['steps']}, learning rate {run['learning_rate']}")
        measured = {one["run"] for one in found.measurements}
        missing = [run.name for run in benchmarked() if run.name not in measured]
        hours = sum(run["processor_seconds"] for run in found.runs.values()) / 3600
        print(f"\n{hours:.1f} hours of one core went into training these {len(found.runs)} models.")
        print(f"\nPlanned, but not measured: {len(missing)} of {len(benchmarked())} runs", *missing, sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m posenc.lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("_build/lab"), help="where runs are kept")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="every planned run, and what the folder has of it")
    listing.add_argument(
        "--benchmarks", action="store_true", help="only the names of the runs that the benchmarks measure"
    )
    one = commands.add_parser("run", help="train and measure the named runs")
    one.add_argument("names", nargs="+", metavar="NAME", help="for example quick-text-rope_100-0")
    rates = commands.add_parser("rates", help="try the learning rates with every scheme")
    rates.add_argument("--steps", type=int, default=400, help="per trial (400)")
    everything = commands.add_parser("all", help="train and measure every planned run that is not done yet")
    everything.add_argument("--profile", choices=tuple(PROFILES), help="those of one profile")
    everything.add_argument("--only", metavar="WORDS", help="only runs whose name matches this regular expression")
    everything.add_argument("--missing", action="store_true", help="only runs that do not ship yet")
    everything.add_argument("--workers", type=int, default=1, help="processes of one thread each")
    for command in (one, everything):
        command.add_argument(
            "--groups", nargs="+", choices=("all", *GROUPS), help="measure only these groups of the benchmarks"
        )
        command.add_argument(
            "--device", default="cpu", help="of torch, for example cuda; with torchrun each process has its own"
        )
    collecting = commands.add_parser("collect", help="write results and checkpoints into posenc-lab")
    collecting.add_argument(
        "--keep", action="store_true", help="keep the shipped results of runs that are not in the folder"
    )
    collecting.add_argument("--into", type=Path, help="another folder than the package's")
    commands.add_parser("benchmarks", help="add the benchmarks to those that ship")
    commands.add_parser("statistics", help="write statistics of the models that ship")
    printing = commands.add_parser("tables", help="print the benchmarks, with intervals")
    printing.add_argument("--only", metavar="WORDS", default="", help="tables with these words in their title")
    commands.add_parser("real", help="measure a real model, SmolLM2-135M", add_help=False)
    options, rest = parser.parse_known_args(arguments)
    if options.command == "real":
        from posenc.lab import real

        return real.main(rest)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")

    if options.command == "list" and options.benchmarks:
        print(*(run.name for run in benchmarked()), sep="\n")
    elif options.command == "list":
        parts = [("trained", ".safetensors"), ("measured", ".json")]
        shipped = results().runs
        lines = []
        for run in planned():
            there = [word for word, ending in parts if (options.folder / f"{run.name}{ending}").is_file()]
            there += ["ships with posenc-lab"] if run.name in shipped else []
            lines.append(f"{run.name:<45} {', '.join(there) or '-'}")
        print("\n".join([f"Runs in {options.folder}, and runs that ship:", *lines]))
    elif options.command == "run":
        try:
            runs = [Run.from_name(name) for name in options.names]
        except ValueError as wrong:
            parser.error(f"{wrong} (`python -m posenc.lab list` names them)")
        for run in runs:
            print(carry_out(run, options.folder, options.groups, device=device_of_this_process(options.device)))
    elif options.command == "rates":
        found = {}
        for scheme in dict.fromkeys(run.scheme for run in benchmarked()):
            profile = "four_layers" if "mixed" in scheme else "two_layers"
            found[scheme] = try_rates(Run(profile, "text", scheme, TRIAL_SEED), options.steps)
            print(scheme, found[scheme], flush=True)
            store.write_json(options.folder / "rates.json", {"steps": options.steps, "losses": found})
    elif options.command == "all":
        shipped = results().runs if options.missing else {}
        runs = planned() if options.groups is None else benchmarked()
        runs = [run for run in runs if options.profile in (None, run.profile) and run.name not in shipped]
        runs = [run for run in runs if re.search(options.only or "", run.name)]
        # torchrun starts several processes, which share the runs.
        rank, world = (int(os.environ.get(name, default)) for name, default in (("RANK", 0), ("WORLD_SIZE", 1)))
        runs, device = runs[rank::world], device_of_this_process(options.device)
        # glibc hands every large block back to the system, which clears it anew for the next operation: a quarter of
        # all time. Workers read these settings when they start.
        os.environ |= {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**32)} | os.environ
        # A fresh process for each worker: a forked one would inherit torch's threads in any state.
        with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
            progress = repeat(options.workers == 1)
            more = (repeat(options.folder), repeat(options.groups), progress, repeat(device))
            for number, line in enumerate(pool.map(carry_out, runs, *more), 1):
                print(f"[{number} of {len(runs)}] {line}", flush=True)
    elif options.command == "benchmarks":
        print(store.collect_benchmarks(options.folder))
    elif options.command == "statistics":
        print(store.collect_statistics())
    elif options.command == "tables":
        print_tables(options.only)
    else:
        print(store.collect(options.folder, options.into, keep=options.keep))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(f"\nStopped. The same command goes on from the last state kept, every {SAVE_EVERY} steps.")
