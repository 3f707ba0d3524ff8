/* SPDX-License-Identifier: GPL-2.0-only */
/* Nobody attaches perf to our tracepoints. */
