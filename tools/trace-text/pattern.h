/* SPDX-License-Identifier: GPL-2.0-only */
/* Patterns of an event's text, and the parts of the text that they name. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_PARTS 8

struct part {
	const char *at;
	size_t length;
};

/*
 * Whether a text is as a pattern says; its parts go to @parts in order. In a pattern %s is any
 * text, as long as possible, %d a number of up to nine digits, %i one with a sign, %w a word
 * without spaces, %* whatever is left and no part; all else stands for itself.
 */
bool pattern_match(const char *pattern, const char *text, const char *end, struct part *parts);

/* Whether a part is this text. */
bool part_is(const struct part *part, const char *text);

/* A letter, a digit or _. */
bool word_letter(char c);

const char *skip_spaces(const char *at, const char *end);

/* How many digits a text begins with, @most at most. */
size_t digits(const char *text, const char *end, size_t most);

/* The number that a part is, of at most nine digits. */
int32_t part_number(const struct part *part);

#endif
