# Sourced by `thorough`: steps of one core run two at a time, each on a core of its own; those that use both run alone. A
# step that fails stops no other. What passed on a commit without changes is kept, so that an interrupted run goes on.

. .ci/steps.sh
need git taskset timeout

export left_out=77 # exit status of a step whose last line says why it cannot run here
began=$(date '+%F %T')
titles=()
declare -A core_of=() title_of=() since=()

tree() { # the commit, or "changed"
  if [[ -z $(git status --porcelain) ]]; then git rev-parse --short=12 HEAD; else echo changed; fi
}

commit=$(tree)
kept=build/thorough/$commit
[[ $commit != changed ]] || rm -rf "$kept"
mkdir -p "$kept"

log_of() { echo "$kept/${1//[^[:alnum:].]/-}.log"; } # TITLE

# alone, beside TITLE SECONDS FUNCTION [ARGUMENT...]: begin a step, on both cores or on one, as soon as they are free.
alone() {
  while ((${#children[@]})); do finish; done
  begin 0,1 "$@"
}

beside() {
  local core=0
  while ((${#children[@]} > 1)) || [[ " ${core_of[*]} " == *" 0,1 "* ]]; do finish; done
  [[ " ${core_of[*]} " != *" 0 "* ]] || core=1
  begin "$core" "$@"
}

begin() { # CORES TITLE SECONDS FUNCTION [ARGUMENT...]
  local cores=$1 title=$2 limit=$3 log
  shift 3
  titles+=("$title")
  log=$(log_of "$title")
  if grep -qs ' passed ' "$log.row"; then return; fi
  rm -f "$log.row"
  echo "=== $(date +%T) $title (cores $cores, at most $limit s)"
  printf '\n=== %s (cores %s, at most %s s), %s\n' "$title" "$cores" "$limit" "$(date '+%F %T')" >"$log"
  limited "$cores" "$limit" "$@" >>"$log" 2>&1 &
  children[$!]=$! core_of[$!]=$cores title_of[$!]=$title since[$!]=$SECONDS
}

# Wait for the end of one step, and write its row of the table.
finish() {
  local pid status=0 outcome=passed title log why=
  wait -n -p pid "${children[@]}" || status=$?
  title=${title_of[$pid]}
  log=$(log_of "$title")
  case $status in
    0) [[ $(tree) == "$commit" ]] || outcome=CHANGED why=": the tree is no longer that of $commit" ;;
    "$left_out") outcome="left out" why=": $(tail -n 1 "$log")" ;;
    124 | 137) outcome=LATE ;;
    *) outcome=FAILED ;;
  esac
  printf '%s  %5d s  %-8s  %s\n' "$(date '+%F %T')" "$((SECONDS - since[$pid]))" "$outcome" "$title$why" >"$log.row"
  tee -a "$log" <"$log.row"
  unset "children[$pid]" "core_of[$pid]" "title_of[$pid]" "since[$pid]"
}

# Wait for all, write all logs and the table into one file, and end with 1 unless all is passed or left out.
conclude() {
  local title status=0
  while ((${#children[@]})); do finish; done
  for title in "${titles[@]}"; do
    table+=("$(cat "$(log_of "$title").row")")
    cat "$(log_of "$title")"
    grep -qE ' (passed|left out) ' <<<"${table[-1]}" || status=1
  done >"$kept/all.log"
  {
    printf '\n=== commit %s: when each step ended, its seconds, and how it went\n' "$commit"
    printf '%s\n' "${table[@]}"
    printf 'this run: from %s, %d s on %d cores, status %d\n' "$began" "$SECONDS" "$(nproc)" "$status"
  } | tee -a "$kept/all.log"
  echo "all logs: $kept/all.log"
  exit "$status"
}

