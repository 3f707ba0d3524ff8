#!/bin/sh
# Install what `make demo` (demo) or `make test` (test) needs: Debian packages, a virtual
# environment with pinned Python packages. Does nothing that is done already.
set -eu

purpose=$1
cd "$(dirname "$0")/.."

packages="linux-perf rt-tests sysbench dbench python3-venv gcc libc6-dev make libjansson-dev bc xz-utils"
requirements="requirements.txt"
if [ "$purpose" = test ]; then
	packages="$packages chromium clang qemu-system-x86 busybox-static openssh-server"
	requirements="requirements-dev.txt"
fi

missing_packages() {
	for package in $packages; do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
			printf '%s ' "$package"
	done
}

install_packages() {
	missing=$(missing_packages)
	[ -n "$missing" ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "setup: this is no Debian; install what stands for these packages: $missing"
		return 1
	fi
	root=""
	if [ "$(id -u)" != 0 ]; then
		root="sudo -n"
		if ! sudo -n true 2>/dev/null; then
			echo "setup: not root, and sudo asks for a password. Missing packages:"
			echo "  sudo apt-get install $missing"
			return 1
		fi
	fi
	echo "setup: installing $missing"
	log=$(mktemp)
	# shellcheck disable=SC2086  # the words are meant to be split
	if ! { $root apt-get update && $root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
		tail -5 "$log"
		rm -f "$log"
		echo "setup: apt-get could not install these packages: $missing"
		return 1
	fi
	rm -f "$log"
}

find_python() {
	for python in python3 python3.13 python3.12 python3.11; do
		if "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
			echo "$python"
			return 0
		fi
	done
	echo "setup: no Python 3.11 or newer with venv; on Debian: apt-get install python3-venv" >&2
	return 1
}

make_environment() {
	stamp=.venv/made-from
	wanted=$(cat requirements.txt "$requirements" pyproject.toml | sha256sum)
	if [ -x .venv/bin/schedlab ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
		return 0
	fi
	# What is set up for the tests serves the demo as well.
	if [ "$purpose" = demo ] && [ -x .venv/bin/schedlab ] && [ "$(cat "$stamp" 2>/dev/null)" = \
		"$(cat requirements.txt requirements-dev.txt pyproject.toml | sha256sum)" ]; then
		return 0
	fi
	echo "setup: making the virtual environment .venv"
	python=$(find_python)
	"$python" -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements"
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	echo "$wanted" >"$stamp"
}

# The kernel sources the simulator's tests build; without them those tests are skipped.
add_kernels() {
	for series in 6.1 6.12; do
		.venv/bin/schedlab kernel show "$series" >/dev/null 2>&1 ||
			.venv/bin/schedlab kernel add --debian "$series" ||
			echo "setup: without the kernel source $series its tests are skipped."
	done
}

if ! install_packages && [ "$purpose" = demo ]; then
	echo "setup: the demo runs real benchmarks and needs these packages; nothing was started."
	exit 1
fi
make_environment
[ "$purpose" = demo ] || add_kernels
