/* SPDX-License-Identifier: GPL-2.0-only */
/* 6.1 asks the architecture for these; later series have them in generic code. */
#define pte_mkwrite(p)			(p)
#define set_pte_at(mm, addr, p, v)	(*(p) = (v))
