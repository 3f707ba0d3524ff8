// SPDX-License-Identifier: GPL-2.0-only
/* Patterns of an event's text. */
#include "pattern.h"

#include <string.h>

size_t digits(const char *text, const char *end, size_t most)
{
	size_t n = 0;

	while (n < most && text + n < end && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

bool word_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool part_is(const struct part *part, const char *text)
{
	return part->length == strlen(text) && !memcmp(part->at, text, part->length);
}

int32_t part_number(const struct part *part)
{
	bool negative = part->length && part->at[0] == '-';
	int32_t value = 0;

	for (size_t i = negative; i < part->length; i++)
		value = value * 10 + (part->at[i] - '0');
	return negative ? -value : value;
}

static bool space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool match_any(const char *pattern, const char *text, const char *end, struct part *parts)
{
	for (const char *stop = end; stop >= text; stop--) {
		if (pattern_match(pattern, stop, end, parts + 1)) {
			*parts = (struct part){ text, stop - text };
			return true;
		}
	}
	return false;
}

bool pattern_match(const char *pattern, const char *text, const char *end, struct part *parts)
{
	size_t length, sign;

	for (; *pattern; pattern++) {
		if (*pattern != '%') {
			if (text == end || *text != *pattern)
				return false;
			text++;
			continue;
		}
		length = 0;
		switch (*++pattern) {
		case '*':
			return true;
		case 's':
			return match_any(pattern + 1, text, end, parts);
		case 'w':
			while (text + length < end && !space(text[length]))
				length++;
			break;
		default:
			sign = *pattern == 'i' && text < end && *text == '-';
			length = digits(text + sign, end, 9);
			if (digits(text + sign + length, end, 1))
				return false;
			length += length ? sign : 0;
		}
		if (!length)
			return false;
		*parts++ = (struct part){ text, length };
		text += length;
	}
	return text == end;
}
