#!/bin/sh
# lint_faces.sh [check|format]: scripts and styles, by tools that come by npm, which only developers need. Where it is
# missing, or cannot reach its registry, the last line says that nothing was checked.
set -eu
cd "$(dirname "$0")/.."

not_checked() {
  echo "NOT CHECKED: scripts and styles, as $1."
  exit 0
}

command -v npm >/dev/null || not_checked "npm is not installed"
if ! cmp -s package-lock.json node_modules/.installed; then
  if ! npm ci --loglevel=error; then
    npm view prettier version >/dev/null 2>&1 || not_checked "npm reaches no registry"
    exit 1
  fi
  cp package-lock.json node_modules/.installed
fi
npm run --silent "${1:-check}"
