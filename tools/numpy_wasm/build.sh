#!/usr/bin/env bash
# Build NumPy for the page, all steps of README.md: bash tools/numpy_wasm/build.sh FOLDER
# FOLDER takes what is fetched and built. What is there already is not fetched again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
python=${PYTHON:-$repository/.venv/bin/python}
cython=3.3.1 ninja=1.13.2 llvm=21
numpy=$(sed -n 's/^numpy==\([0-9.]*\) .*/\1/p' "$here/own_tests.txt")
mkdir -p "${1:?the folder that takes what is fetched and built}"
cd "$1"

if [ ! -e root ]; then
  echo "1. The compiler and Python, from Debian's unstable suite: unpacked, not installed"
  # a copy of the suite may be older than its lists allow; their signature is looked at all the same
  mmdebstrap --variant=extract --aptopt='Acquire::Check-Valid-Until "false"' --include="base-files,bash,dash,coreutils,\
libc-bin,emscripten,clang-$llvm,lld-$llvm,llvm-$llvm,binaryen,nodejs,python3,python3.14,libpython3.14-dev" unstable unfinished
  mv unfinished root
fi

if [ ! -e site ]; then
  echo "2. NumPy's source and what builds it, from the package index"
  grep '^numpy==' "$here/own_tests.txt" > source.txt  # with its hash
  PYTHONPATH="$here/source_only" "$python" -m pip download --no-binary :all: --require-hashes --no-deps \
    --no-build-isolation --ignore-requires-python --requirement source.txt --dest .
  "$python" -m pip install --target unfinished --no-deps --only-binary :all: --python-version 3.14 \
    "cython==$cython" "ninja==$ninja"
  sed -i '1s|^#!.*|#!/usr/bin/env python3|' unfinished/bin/cython*  # not the Python whose pip this was
  mv unfinished site
fi
pyodide=$(cd "$repository" && "$python" -m tools.page_parts | tail -n 1)

echo "3. The headers of Python as Pyodide was built"
"$python" - "$pyodide/python_stdlib.zip" root/usr/include <<'PROGRAM'
import re, sys, zipfile
from pathlib import Path

library, headers = sys.argv[1], Path(sys.argv[2])
made = {}
exec(zipfile.ZipFile(library).read("_sysconfigdata__emscripten_wasm32-emscripten.py"), made)
known = next(headers.glob("*-linux-gnu/python3.14/pyconfig.h")).read_text()
names = re.findall(r"^(?:#define|/\* #undef) (\w+)", known, re.MULTILINE)
values = {name: made["build_time_vars"][name] for name in names if name in made["build_time_vars"]}
lines = [f"#define {name} {value}" for name, value in values.items() if value != 0]
# defined wherever Python is configured; the variables leave out what begins with an underscore
always = ["#pragma once", "#define _GNU_SOURCE 1"]
(headers / "python3.14" / "pyconfig.h").write_text("\n".join([*always, *lines, ""]))
print(f"{len(values)} macros, {len(lines)} of them defined")
PROGRAM

echo "4. One line of NumPy"
rm -rf "numpy-$numpy"
tar xf "numpy-$numpy.tar.gz"
source=numpy-$numpy/numpy/_core/src/multiarray/temp_elide.c
# the link check that sets it always succeeds for a side module, and a browser has no backtrace
sed -i 's/^#include "numpy\/arrayobject.h"/&\n#undef HAVE_BACKTRACE/' "$source"
grep --quiet '^#undef HAVE_BACKTRACE' "$source"

echo "5. Configure and compile, ten minutes on two cores"
cp "$here/cross.txt" .
bwrap --unshare-net --bind root / --proc /proc --dev /dev --tmpfs /tmp --bind . /mnt --chdir "/mnt/numpy-$numpy" \
  --clearenv \
  --setenv PATH /mnt/site/bin:/usr/bin --setenv PYTHONPATH /mnt/site --setenv HOME /tmp --setenv EM_CACHE /tmp/cache \
  --setenv LC_ALL C.UTF-8 --setenv CCACHE_DISABLE 1 bash -euo pipefail -c '
  python3 vendored-meson/meson/meson.py setup build --cross-file ../cross.txt --prefix=/usr \
    -Dbuildtype=release -Db_ndebug=if-release -Dblas=none -Dlapack=none -Dallow-noblas=true \
    -Ddisable-optimization=true -Dcpu-baseline=none -Dcpu-dispatch=none
  ninja -C build -j2
  DESTDIR="$PWD/built" ninja -C build install'
built=$(find "numpy-$numpy/built" -type d -path "*-packages/numpy" -print -quit)

echo "6. What Pyodide does not have"
missing=$(node "$here/imports.mjs" "$pyodide" "$built")
if [ -n "$missing" ]; then echo "$missing"; exit 1; fi

echo "7. The wheel and its hash"
built=$(realpath "$built") source=$(realpath "numpy-$numpy")
cd "$repository" && "$python" -m tools.numpy_wasm.pack "$built" "$source"
