#!/bin/sh
# Install what `make demo` (demo) or `make test` (test) needs: Debian packages, a virtual
# environment with pinned Python packages. Does nothing that is done already. `setup.sh build`
# installs as much as building simulators takes, so that the rest can be installed meanwhile;
# `setup.sh kernels`, after that, downloads the kernels that the tests build.
set -eu

purpose=$1
cd "$(dirname "$0")/.."

packages="linux-perf rt-tests sysbench dbench python3-venv gcc libc6-dev make libjansson-dev bc xz-utils"
requirements="requirements.txt"
if [ "$purpose" = test ]; then
	packages="$packages chromium clang qemu-system-x86 busybox-static openssh-server rt-app trace-cmd"
	packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"
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
		echo "setup: not a Debian system; install the equivalents of: $missing"
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
	if [ -e .venv ] && ! .venv/bin/python -c '' 2>/dev/null; then
		echo "setup: the Python of .venv is gone; making it anew"
		rm -rf .venv
	fi
	wanted=$(cat requirements.txt "$requirements" pyproject.toml | sha256sum)
	if [ -x .venv/bin/schedlab ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
		return 0
	fi
	# What is set up for the tests serves the demo as well.
	if [ "$purpose" != test ] && [ -x .venv/bin/schedlab ] && [ "$(cat "$stamp" 2>/dev/null)" = \
		"$(cat requirements.txt requirements-dev.txt pyproject.toml | sha256sum)" ]; then
		return 0
	fi
	if [ "$purpose" = build ] || [ ! -e .venv ]; then
		echo "setup: making the virtual environment .venv"
		rm -f "$stamp"
		python=$(find_python)
		"$python" -m venv .venv
	fi
	if [ "$purpose" = build ]; then
		# The commands about kernels load no figures and no statistics.
		light=$(sed '/^#/d' requirements.txt |
			grep -Eiv '^(numpy|scipy|matplotlib|contourpy|cycler|fonttools|kiwisolver|pillow|pyparsing)=')
		# shellcheck disable=SC2086  # the words are meant to be split
		pip_install --no-deps $light
		pip_install --no-deps -e .
		return 0
	fi
	pip_install -r "$requirements"
	[ -x .venv/bin/schedlab ] || pip_install --no-deps -e .
	echo "$wanted" >"$stamp"
}

# Python compiles what it loads by itself; compiling all of scipy takes longer than that.
pip_install() {
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile "$@"
}

# The kernel sources the simulator's tests build; without them those tests are skipped.
add_kernels() {
	for series in $(.venv/bin/python -c 'from schedlab.base.series import TESTED; print(*TESTED)'); do
		.venv/bin/schedlab kernel show "$series" >/dev/null 2>&1 ||
			.venv/bin/schedlab kernel add --debian "$series" ||
			echo "setup: without the kernel source $series its tests are skipped."
	done
}

# jansson for arm64, unpacked beside the kernel sources: the system's own architectures and package
# lists stay as they are.
add_arm64_jansson() {
	cache=${SCHEDLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/schedlab}
	[ ! -f "$cache/arm64/usr/include/jansson.h" ] || return 0
	command -v apt-get >/dev/null || return 0
	echo "setup: downloading jansson for arm64"
	scratch=$(mktemp -d)
	mkdir -p "$scratch/lists/partial" "$scratch/archives/partial"
	# The host's hooks may drop its downloads after an update, which another apt is installing.
	printf '#clear APT::Update::%s;\n' Pre-Invoke Post-Invoke Post-Invoke-Success >"$scratch/apt.conf"
	arm64_apt() {
		apt-get -q -c "$scratch/apt.conf" -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
			-o Dir::State::Lists="$scratch/lists" -o Dir::State::status=/dev/null \
			-o Dir::Cache="$scratch" -o APT::Sandbox::User="$(id -un)" "$@"
	}
	(
		cd "$scratch" && arm64_apt update && arm64_apt download libjansson-dev &&
			dpkg-deb -x libjansson-dev_*.deb root && mkdir -p "$cache" &&
			rm -rf "$cache/arm64" && mv root "$cache/arm64"
	) >"$scratch/log" 2>&1 || {
		tail -3 "$scratch/log"
		echo "setup: without jansson for arm64 the test on that architecture is skipped."
	}
	rm -rf "$scratch"
}

if [ "$purpose" = kernels ]; then
	add_kernels
	exit
fi
if ! install_packages && [ "$purpose" != test ]; then
	echo "setup: the demo runs real benchmarks and needs these packages; nothing was started."
	exit 1
fi
make_environment
[ "$purpose" != test ] || add_arm64_jansson
