/* render_page: where text for a person goes: a stream, a width, a character set.
 *
 * Strings that come from files, hosts and snippets pass render_page_clean before they are measured
 * or written: no control character reaches a terminal, and a page without UTF-8 gets ASCII (what
 * has a likeness gets that: "+-", ">="). */
#ifndef TUI_RENDER_PAGE_H
#define TUI_RENDER_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/render.h"

struct render_page {
	struct render_style style;
	FILE *out;
};

/* The page for a style and a stream, with the width put in range. */
struct render_page render_page_on(const struct render_style *style, FILE *out);

/* A malloc'ed copy of text that the page can show. Newlines stay if lines is set and are spaces
 * otherwise. */
char *render_page_clean(const struct render_page *page, const char *text, bool lines);

/* Columns that cleaned text takes. */
int render_page_width(const struct render_page *page, const char *text);

/* SGR parameters: how a page with colour shows what its words say anyway. */
#define RENDER_PAGE_BOLD "1"
#define RENDER_PAGE_DIM  "2"
#define RENDER_PAGE_GOOD "32"
#define RENDER_PAGE_BAD  "1;31"

/* Switches an SGR attribute on (its parameters) or off (NULL) if the page has colour. */
void render_page_sgr(const struct render_page *page, const char *sgr);

/* Writes text that starts at column `at` (where the cursor is), broken at spaces; lines behind the
 * first are indented to `indent`. Ends the last line. text need not be clean. A word longer than
 * the line is not broken, so that it can be copied. */
void render_page_wrap(const struct render_page *page, int at, int indent, const char *text);

/* One paragraph from column 0, later lines indented. text is malloc'ed, and freed here. sgr may be
 * NULL. */
void render_page_say(const struct render_page *page, int indent, const char *sgr, char *text);

#endif
