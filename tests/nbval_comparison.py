"""How nbval compares a cell's outputs with the stored ones, and what it leaves alone: a pytest plugin.

nbval 0.11 has no hook for this, so its method is replaced; nbval is pinned in
requirements.txt, and tests/notebooks/test_nbval.py would notice.
"""

from __future__ import annotations

import nbval.plugin

from tools.notebooks import is_shown

WIDGET = "application/vnd.jupyter.widget-view+json"
_compare_outputs = nbval.plugin.IPyNbCell.compare_outputs


def compare_outputs(self, test: list, ref: list, skip_compare: object = None) -> bool:
    """Compare text strictly, leave figures out, and accept a cell that shows a widget.

    Figures are not stored in the notebooks. A widget's own output reaches the
    kernel's front end by comms, which nbval does not follow. That no cell both
    prints and shows, so that no text escapes, is tested in tests/notebooks.
    """
    if any(WIDGET in output.get("data", {}) for output in test):
        return True
    texts = [[output for output in outputs if not is_shown(output)] for outputs in (test, ref)]
    return _compare_outputs(self, *texts, skip_compare)


nbval.plugin.IPyNbCell.compare_outputs = compare_outputs
# With --cov, nbval would also measure inside the kernels. Under pytest-xdist what it measures there is lost, and
# starting it can stall the kernel.
nbval.plugin.setup_coverage = nbval.plugin.teardown_coverage = lambda *arguments: None
