#!/bin/sh
# Two comparisons simulated and one on this host, in results/demo; then a line for each and a page.
# What is whole there stays; what was cut off goes on; what cannot go on is moved aside and made anew.
set -eu

cd "$(dirname "$0")/.."
schedlab=.venv/bin/schedlab
demo=results/demo
began=$(date +%s)
# Seconds from the start after which no further block begins, of what is simulated and of all.
simulated_until=180
until=255

# What a result is made of: a plan or its options.
options() {
	case $1 in
	misfit) echo "plans/demo-misfit.toml" ;;
	numa-affinity) echo "plans/demo-numa-affinity.toml" ;;
	host) echo "--suite demo --variant auto --blocks 6" ;;
	esac
}

made_of() {
	echo "$(cat plans/demo-*.toml suites/demo.toml | sha256sum) $(options "$1")"
}

as_planned() {
	[ "$(cat "$demo/$1.of" 2>/dev/null)" = "$(made_of "$1")" ]
}

is_whole() {
	[ -e "$demo/$1/report.txt" ] && as_planned "$1"
}

# budget UNTIL MOST: what is left of the time until then, as an option; one block is run at least.
budget() {
	left=$(($1 - $(date +%s) + began))
	[ "$left" -lt "$2" ] || left=$2
	[ "$left" -gt 0 ] || left=1
	echo "--budget ${left}s"
}

# run LOG WORDS...: run schedlab; a stop ends us as well.
run() {
	log=$1
	shift
	status=0
	$schedlab run "$@" >"$log" 2>&1 || status=$?
	[ "$status" -lt 128 ] || exit "$status"
	return "$status"
}

# Build what both simulated results share, in a job of its own.
build() {
	trap 'exit 143' TERM HUP # at a stop nothing new begins
	$schedlab kernel add --debian 6.1 &&
		$schedlab kernel build demo --base 6.1 --patch MISFIT --patch IMB_NUMA_AFFINITY
}

# result NAME OPTIONS...: make or complete a result, in a job of its own; what it prints goes to
# NAME.log.
result() {
	trap 'exit 143' TERM HUP
	name=$1
	shift
	folder=$demo/$name
	if ! is_whole "$name"; then
		if [ -e "$folder/results.sqlite" ] && as_planned "$name" && can_go_on "$folder"; then
			run "$folder.log" --resume "$folder" || failed "$folder.log"
			return 0
		fi
		set_aside "$folder"
		made_of "$name" >"$folder.of"
		# shellcheck disable=SC2046  # the words are meant to be split
		run "$folder.log" $(options "$name") "$@" --output "$folder" || failed "$folder.log"
	fi
}

# Tell whether a result can be gone on with: not if another version made it, or on another kernel.
can_go_on() {
	run "$1.log" --resume "$1" --dry-run && return 0
	if grep -q "is running this result" "$1.log"; then
		failed "$1.log"
	fi
	return 1
}

set_aside() {
	if [ -e "$1" ]; then
		aside=$1.$(date +%Y-%m-%dT%H-%M-%S)
		mv "$1" "$aside"
		echo "demo: $1 cannot be gone on with and is made anew; what was there is now $aside"
	fi
}

failed() {
	tail -n 5 "$1" >&2
	echo "demo: failed; all it said is in $1" >&2
	exit 1
}

# End what still runs beside us, and what that has started; a stop is said again to what begins late.
end_background() {
	for job in $background; do
		while kill -TERM "$job" 2>/dev/null; do
			pkill -TERM -P "$job" || true
			sleep 0.2
		done
	done
	background=""
}

stopped() {
	trap '' INT TERM HUP
	end_background
	echo "demo: stopped; what is recorded is kept, and \`make demo\` goes on" >&2
	exit 130
}

# await JOB [LOG]: wait for its end; one without LOG has said itself why it failed.
await() {
	status=0
	wait "$1" || status=$?
	[ "$status" -lt 128 ] || stopped
	[ "$status" = 0 ] || [ $# = 1 ] || failed "$2"
	[ "$status" = 0 ] || exit 1
}

step() {
	printf 'demo: %s (%d s)\n' "$1" "$(($(date +%s) - began))"
}

if ! mkdir -p "$demo" || ! true 2>/dev/null >>"$demo/lock"; then
	echo "demo: $demo cannot be written; it is where the results are kept" >&2
	exit 1
fi
exec 9>>"$demo/lock"
if ! flock --nonblock 9; then
	echo "demo: another demo runs here; wait for its end, or stop it: its results are kept" >&2
	exit 1
fi
background=""
trap end_background EXIT
trap stopped INT TERM HUP
scripts/setup.sh build
if is_whole misfit && is_whole numa-affinity; then
	scripts/setup.sh demo
else
	step "building the simulator while the other Python packages are installed"
	build >"$demo/build.log" 2>&1 &
	building=$!
	background=$building
	scripts/setup.sh demo
	await "$building" "$demo/build.log"
	step "simulating misfit balancing on a HiKey960 and pinned STREAM threads on a 256-CPU EPYC"
	jobs=$(($(nproc) * 2)) # beside other work each gets its share
	# shellcheck disable=SC2046  # the words are meant to be split
	result misfit --jobs "$jobs" $(budget $simulated_until 120) &
	misfit=$!
	# shellcheck disable=SC2046  # the words are meant to be split
	result numa-affinity --jobs "$jobs" $(budget $simulated_until 75) &
	numa_affinity=$!
	background="$misfit $numa_affinity"
	await "$misfit"
	await "$numa_affinity"
	background=""
fi
if ! is_whole host; then
	step "measuring this host"
	# shellcheck disable=SC2046  # the words are meant to be split
	result host $(budget $((until - 15)) 60) & # fitting sizes takes some 15 s beside the budget
	background=$!
	await "$background"
	background=""
fi
step "writing the page"
$schedlab overview $demo/misfit $demo/numa-affinity $demo/host --output $demo/report.html
