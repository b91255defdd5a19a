#!/usr/bin/env bash
# Build NumPy for Pyodide, as README.md says: bash build.sh NUMPY_SOURCE SITE
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
site=$(cd "$2" && pwd)
export PATH="$site/bin:$PATH" PYTHONPATH="$site" LC_ALL=C.UTF-8 CCACHE_DISABLE=1
cd "$1"
rm -rf build
python3 vendored-meson/meson/meson.py setup build --cross-file "$here/cross.txt" --prefix=/usr \
  -Dbuildtype=release -Db_ndebug=if-release -Dblas=none -Dlapack=none -Dallow-noblas=true \
  -Ddisable-optimization=true -Dcpu-baseline=none -Dcpu-dispatch=none
ninja -C build -j2
DESTDIR="$PWD/built" ninja -C build install
find built -type d -name numpy -path "*-packages/numpy" -print -quit
