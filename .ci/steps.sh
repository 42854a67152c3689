# Sourced by `run` and `thorough`: steps under a time limit and a table at the end. Steps are functions of the sourcing
# script; they run in a shell of their own and see exported variables only.

work=$(mktemp -d "${TMPDIR:-/tmp}/gatekeeper-ci.XXXXXX")
export work
total_limit=${total_limit:-86400} # seconds for all steps together
children=()                       # process ids of the steps that run
table=()

clean_up() {
  local status=$?
  trap - EXIT INT TERM HUP
  if ((${#children[@]})); then
    kill -TERM "${children[@]}" 2>/dev/null || true
    wait "${children[@]}" 2>/dev/null || true
  fi
  rm -rf -- "$work"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# need COMMAND...: end with one clear line when the machine lacks one of them.
need() {
  local command
  for command in "$@"; do
    if ! command -v "$command" >/dev/null; then
      echo "this script needs the command '$command', which was not found" >&2
      exit 1
    fi
  done
}

# limited CORES SECONDS FUNCTION [ARGUMENT...]: become one step, pinned to these cores ("": to none).
limited() {
  local pin=(taskset -c "$1") limit=$2
  [[ -n $1 ]] || pin=()
  shift 2
  exec "${pin[@]}" timeout --kill-after=10 "$limit" bash -euo pipefail -c '"$@"' step "$@" </dev/null
}

# step TITLE SECONDS FUNCTION [ARGUMENT...]: run one step; end the script when it fails or is late.
step() {
  local title=$1 limit=$2 began=$SECONDS status=0
  shift 2
  if ((limit > total_limit - SECONDS)); then limit=$((total_limit > SECONDS ? total_limit - SECONDS : 1)); fi
  printf '\n=== %s (at most %d s)\n' "$title" "$limit"
  # In the background, so that a signal to this script ends the step at once instead of after it.
  limited "" "$limit" "$@" &
  children=($!)
  wait "${children[0]}" || status=$?
  children=()
  table+=("$(printf '%5d s  %s' "$((SECONDS - began))" "$title")")
  if ((status == 0)); then
    printf -- '--- %s: %d s\n' "$title" "$((SECONDS - began))"
  else
    ((status != 124 && status != 137)) || echo "--- no end after $limit seconds" >&2
    printf -- '--- FAILED: %s (exit status %d, %d s)\n' "$title" "$status" "$((SECONDS - began))" >&2
    exit 1
  fi
}

# both FUNCTION FUNCTION: run two functions side by side; what the second one prints comes last.
both() {
  local status=0
  bash -euo pipefail -c "$2" >"$work/$2.log" 2>&1 &
  bash -euo pipefail -c "$1" || status=$?
  wait "$!" || status=$?
  cat "$work/$2.log"
  return "$status"
}

print_table() {
  printf '\n=== seconds\n'
  printf '%s\n' "${table[@]}"
  printf '%5d s  %s\n' "$SECONDS" "in all"
}

# as_small_machine COMMAND...: two cores and 2 GB of address space.
as_small_machine() (
  ulimit -v 2097152 || { echo "ulimit -v cannot be set here" >&2; exit 1; }
  exec taskset -c 0,1 "$@"
)

# core_tests PYTEST...: the tests that need the library alone, without its extras, servers and a browser.
core_tests() {
  "$@" --ignore=tests/adapters --ignore=tests/hooks --ignore=tests/mcp --ignore=tests/serve --ignore=tests/meaning --ignore=tests/chat \
    --ignore=tests/otel --ignore=tests/postgres --ignore=tests/test_sessions.py --ignore=tests/eval/test_evaluation.py \
    --ignore-glob="*/test_benchmark*" -m "not extras"
}

# found_pythons: name each Python from 3.10 to 3.13 that runs here.
found_pythons() {
  local minor candidate
  for minor in 10 11 12 13; do
    for candidate in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python; do
      # A name may stand on the path and still not run (a version manager's shim).
      if "$candidate" -c "import sys, venv; sys.exit(sys.version_info[:2] != (3, $minor))" 2>/dev/null; then
        echo "$candidate"
        break
      fi
    done
  done
}

# newcomer FOLDER COMMAND...: run a command in a shell with no variable but the home, the path, and the way to the
# package index.
newcomer() {
  local folder=$1 name kept=()
  shift
  local to_the_index='^(pip_(index_url|extra_index_url|find_links|trusted_host|cert|config_file)'
  to_the_index+='|ssl_cert_(file|dir)|(https?|no|all)_proxy)$'
  for name in $(compgen -e | grep -iE "$to_the_index"); do
    kept+=("$name=${!name}")
  done
  cd "$folder"
  env -i HOME="$HOME" PATH="$PATH" "${kept[@]}" "$@"
}

export_functions() {
  local name
  for name in $(compgen -A function); do export -f "${name?}"; done
}
