#include "tui/render_page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tui/memory.h"

enum { MIN_WIDTH = 40 };

/* What a page without UTF-8 writes for the characters we draw with or that texts are likely to
 * hold. Any other is '?'. */
static const struct {
	const char *utf8, *ascii;
} likeness[] = {
        {"±", "+-"},   {"·", "|"},   {"≥", ">="}, {"≤", "<="}, {"≠", "!="},
        {"×", "x"},    {"…", "..."}, {"–", "-"},  {"—", "-"},  {"−", "-"},
        {"‘", "'"},    {"’", "'"},   {"“", "\""}, {"”", "\""}, {"®", "(R)"},
        {"™", "(TM)"}, {"µ", "u"},   {"▁", "."},  {"▂", ":"},  {"▃", "-"},
        {"▄", "="},    {"▅", "+"},   {"▆", "*"},  {"▇", "%"},  {"█", "#"},
};

struct render_page render_page_on(const struct render_style *style, FILE *out)
{
	struct render_page page = {*style, out};

	if (page.style.width < MIN_WIDTH)
		page.style.width = MIN_WIDTH;
	return page;
}

/* Appends the likeness of the UTF-8 character at s and returns how many bytes it took. */
static size_t clean_ascii(const char *s, char **to)
{
	size_t used = 1;

	for (size_t i = 0; i < sizeof likeness / sizeof *likeness; i++) {
		size_t len = strlen(likeness[i].utf8);

		if (strncmp(s, likeness[i].utf8, len) == 0) {
			*to = stpcpy(*to, likeness[i].ascii);
			return len;
		}
	}
	while (((unsigned char)s[used] & 0xc0) == 0x80)
		used++;
	*(*to)++ = '?';
	return used;
}

/* Appends the multibyte character at s if it can be shown, and returns how many bytes it took. */
static size_t clean_wide(const char *s, char **to)
{
	mbstate_t state = {0};
	wchar_t c;
	size_t used = mbrtowc(&c, s, strlen(s), &state);

	if (used == 0 || used > MB_LEN_MAX || wcwidth(c) < 0) {
		*(*to)++ = '?';
		return used == 0 || used > MB_LEN_MAX ? 1 : used;
	}
	memcpy(*to, s, used);
	*to += used;
	return used;
}

char *render_page_clean(const struct render_page *page, const char *text, bool lines)
{
	/* The longest likeness of one character is 4 bytes for 2 or 3. */
	char *clean = memory_get(2 * strlen(text) + 1), *to = clean;

	while (*text) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x80) {
			text += page->style.utf8 ? clean_wide(text, &to) : clean_ascii(text, &to);
			continue;
		}
		if (c == '\n')
			*to++ = lines ? '\n' : ' ';
		else if (c == '\t')
			*to++ = ' ';
		else
			*to++ = c < 0x20 || c == 0x7f ? '?' : (char)c;
		text++;
	}
	*to = 0;
	return clean;
}

static int width_of(const struct render_page *page, const char *text, size_t len)
{
	mbstate_t state = {0};
	int width = 0;

	if (!page->style.utf8)
		return (int)len;
	while (len > 0) {
		wchar_t c;
		size_t used = mbrtowc(&c, text, len, &state);
		int columns;

		if (used == 0 || used > len)
			break; /* cannot be: the text is clean */
		columns = wcwidth(c);
		width += columns > 0 ? columns : 0;
		text += used;
		len -= used;
	}
	return width;
}

int render_page_width(const struct render_page *page, const char *text)
{
	return width_of(page, text, strlen(text));
}

void render_page_sgr(const struct render_page *page, const char *sgr)
{
	if (page->style.color)
		fprintf(page->out, "\033[%sm", sgr ? sgr : "0");
}

void render_page_wrap(const struct render_page *page, int at, int indent, const char *text)
{
	char *clean = render_page_clean(page, text, true);
	bool begun = false; /* a word stands on this line */

	for (const char *s = clean; *s;) {
		size_t spaces = strspn(s, " "), len;
		int width;

		if (s[spaces] == 0)
			break;
		if (s[spaces] == '\n') {
			fprintf(page->out, "\n%*s", s[spaces + 1] ? indent : 0, "");
			at = indent;
			begun = false;
			s += spaces + 1;
			continue;
		}
		len = strcspn(s + spaces, " \n");
		width = width_of(page, s + spaces, len);
		if (begun && at + (int)spaces + width > page->style.width) {
			fprintf(page->out, "\n%*s", indent, "");
			at = indent;
			spaces = 0;
		}
		fprintf(page->out, "%*s%.*s", (int)spaces, "", (int)len, s + strspn(s, " "));
		at += (int)spaces + width;
		begun = true;
		s += strspn(s, " ") + len;
	}
	fputc('\n', page->out);
	free(clean);
}

void render_page_say(const struct render_page *page, int indent, const char *sgr, char *text)
{
	if (sgr)
		render_page_sgr(page, sgr);
	render_page_wrap(page, 0, indent, text);
	if (sgr)
		render_page_sgr(page, NULL);
	free(text);
}
