"""In the place of NumPy's builder while pip fetches its source: the real one would configure it all for a name."""

from pathlib import Path


def prepare_metadata_for_build_wheel(folder: str, settings: object = None) -> str:
    """Name and version of the source in the current folder, as pip asks for them."""
    info = Path(folder, "numpy.dist-info")
    info.mkdir()
    info.joinpath("METADATA").write_bytes(Path("PKG-INFO").read_bytes())
    return info.name
