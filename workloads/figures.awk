# SPDX-License-Identifier: GPL-2.0-only
# figures.toml -> a list of X(workload, figure, value), for C.  Times become ns.
BEGIN { print "/* Made of figures.toml. */\n#define WL_FIGURES(X) \\"; ns["ns"] = 1; ns["us"] = 1e3; ns["ms"] = 1e6; ns["s"] = 1e9 }
/^(#.*)?$/ { next }
match($0, /^\[[a-z0-9-]+\]$/) { workload = substr($0, 2, length($0) - 2); gsub(/-/, "_", workload); next }
match($0, /^[a-z0-9_]+ = \{ value = "?[0-9]+(ns|us|ms|s)?"?, /) && workload {
	value = substr($0, 1, RLENGTH)
	sub(/^[^=]*= \{ value = /, "", value)
	unit = value
	gsub(/[^a-z]/, "", unit)
	gsub(/[^0-9]/, "", value)
	printf "\tX(%s, %s, %.0fULL) \\\n", workload, $1, value * (unit ? ns[unit] : 1)
	next
}
{ print "figures.toml:" NR ": neither a workload nor a figure: " $0 > "/dev/stderr"; exit failed = 1 }
END { if (!failed) print "" }
