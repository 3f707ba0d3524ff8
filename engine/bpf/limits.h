/* SPDX-License-Identifier: GPL-2.0-only */
/* libc's header of the same name, from what the compiler says of its types. */
#ifndef NATIVE_LIMITS_H
#define NATIVE_LIMITS_H

#define CHAR_BIT	__CHAR_BIT__
#define SCHAR_MAX	__SCHAR_MAX__
#define UCHAR_MAX	(SCHAR_MAX * 2 + 1)
#define SHRT_MAX	__SHRT_MAX__
#define SHRT_MIN	(-SHRT_MAX - 1)
#define USHRT_MAX	(SHRT_MAX * 2 + 1)
#define INT_MAX		__INT_MAX__
#define INT_MIN		(-INT_MAX - 1)
#define UINT_MAX	(INT_MAX * 2U + 1)
#define LONG_MAX	__LONG_MAX__
#define LONG_MIN	(-LONG_MAX - 1)
#define ULONG_MAX	(LONG_MAX * 2UL + 1)
#define LLONG_MAX	__LONG_LONG_MAX__
#define LLONG_MIN	(-LLONG_MAX - 1)
#define ULLONG_MAX	(LLONG_MAX * 2ULL + 1)

#endif
