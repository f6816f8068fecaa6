#!/bin/sh
# lint_faces.sh [check|format]: scripts and styles, by tools that come by npm, which only developers need. Where it is
# missing, or cannot reach its registry, lint fails; FACES=no leaves them out, and the last line says so.
set -eu
cd "$(dirname "$0")/.."

lacking() {
  echo "Scripts and styles cannot be checked, as $1: $2, or say FACES=no to leave them out." >&2
  exit 1
}

if [ "${FACES:-yes}" = no ]; then
  echo "NOT CHECKED: scripts and styles, as FACES=no says."
  exit 0
fi
command -v npm >/dev/null || lacking "npm is not installed" "install Node 18 or newer, which brings it"
if ! cmp -s package-lock.json node_modules/.installed; then
  if ! npm ci --loglevel=error; then
    npm view prettier version >/dev/null 2>&1 ||
      lacking "npm reaches no registry" "let \`npm ci\` reach one"
    exit 1
  fi
  cp package-lock.json node_modules/.installed
fi
npm run --silent "${1:-check}"
