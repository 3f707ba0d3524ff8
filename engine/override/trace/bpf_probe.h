/* SPDX-License-Identifier: GPL-2.0-only */
/* Nobody attaches bpf_probe to our tracepoints. */
