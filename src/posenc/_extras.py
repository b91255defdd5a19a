"""What needs more than NumPy and array-api-compat says how to get it; and where the distribution posenc-lab lies."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def missing(error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError:
    """The error of a module that needs an extra of posenc, from that of the library that is not there.

    Args:
        error: what importing the library raised.
        extra: of [project.optional-dependencies] in pyproject.toml.

    Example:
        >>> print(missing(ModuleNotFoundError(name="plotly"), "figures"))
        this part of posenc needs plotly: pip install "posenc[figures]", or pip install ".[figures]" in a clone
    """
    clone = f'".[{extra}]"' + " ./src/posenc_lab" * (extra == "lab")
    how = f'pip install "posenc[{extra}]", or pip install {clone} in a clone'
    return ModuleNotFoundError(f"this part of posenc needs {error.name}: {how}", name=error.name)


def lab_folder(name: str) -> Path:
    """A folder of the distribution posenc-lab.

    Args:
        name: "data" of the laboratory, or "recorded", what the checks of assignments compare with.

    Raises:
        ModuleNotFoundError: posenc-lab is not installed.
    """
    try:
        return Path(str(files("posenc_lab"))) / name
    except ModuleNotFoundError as error:
        how = "pip install posenc-lab, or pip install ./src/posenc_lab in a clone"
        raise ModuleNotFoundError(f"this part of posenc needs posenc-lab: {how}", name=error.name) from None
