#include "tui/render.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/record.h"
#include "tui/render_compare.h"
#include "tui/render_csv.h"
#include "tui/render_host.h"
#include "tui/render_page.h"
#include "tui/render_runs.h"
#include "tui/render_summary.h"
#include "tui/render_text.h"

enum { WIDTH_DEFAULT = 100, WIDTH_MOST = 1000 };

const char *const render_format_name[RENDER_FORMATS] = {
        [RENDER_TEXT] = "text",
        [RENDER_JSONL] = "jsonl",
        [RENDER_CSV] = "csv",
};

static int width_of(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width;

	if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	width = columns ? strtol(columns, NULL, 10) : 0;
	return width > 0 && width <= WIDTH_MOST ? (int)width : WIDTH_DEFAULT;
}

static const struct render_style *style_set;

void render_style_set(const struct render_style *style)
{
	style_set = style;
}

struct render_style render_style_for(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(out);

	if (style_set && out == stdout)
		return *style_set;
	return (struct render_style){
	        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	        .width = width_of(fd),
	        .color = isatty(fd) && !(no_color && *no_color) && term && *term &&
	                 strcmp(term, "dumb") != 0,
	};
}

/* Texts and CSV have a decimal point whatever the user's locale writes. The rest of the locale
 * stays: it says how wide characters are. Returns what numbers_back takes. */
static locale_t numbers_plain(void)
{
	locale_t copy = duplocale(uselocale(NULL)), plain;

	if (!copy)
		return NULL;
	plain = newlocale(LC_NUMERIC_MASK, "C", copy);
	if (!plain) {
		freelocale(copy);
		return NULL;
	}
	return uselocale(plain);
}

static void numbers_back(locale_t before)
{
	if (before)
		freelocale(uselocale(before));
}

void render_run(const struct result_run *run, enum render_format format,
                const struct render_style *style, FILE *out)
{
	struct render_page page = render_page_on(style, out);
	locale_t before = numbers_plain();
	char *record;

	switch (format) {
	case RENDER_TEXT:
		render_text_run(&page, run);
		break;
	case RENDER_JSONL:
		record = record_write(run);
		fputs(record ? record
		             : "{\"kind\":\"event\",\"level\":\"error\",\"text\":\"out of "
		               "memory\"}\n",
		      out);
		free(record);
		break;
	case RENDER_CSV:
		render_csv_run(run, out);
		break;
	case RENDER_FORMATS:
		break;
	}
	numbers_back(before);
}

void render_summary(const struct result_run *run, const struct render_style *style, FILE *out)
{
	struct render_page page = render_page_on(style, out);
	locale_t before = numbers_plain();

	render_summary_text(&page, run);
	numbers_back(before);
}

void render_compare(const struct result_run *a, const struct result_run *b,
                    const char *host_difference, enum render_format format,
                    const struct render_style *style, FILE *out)
{
	struct render_page page = render_page_on(style, out);
	locale_t before = numbers_plain();

	render_compare_runs(&page, a, b, host_difference, format);
	numbers_back(before);
}

void render_host(const char *host_json, const struct host_advice *advice, size_t n,
                 enum render_format format, const struct render_style *style, FILE *out)
{
	struct render_page page = render_page_on(style, out);
	locale_t before = numbers_plain();

	render_host_all(&page, host_json, advice, n, format);
	numbers_back(before);
}

void render_runs(const struct archive_entry *entries, size_t n, enum render_format format,
                 const struct render_style *style, FILE *out)
{
	struct render_page page = render_page_on(style, out);
	locale_t before = numbers_plain();

	render_runs_list(&page, entries, n, format);
	numbers_back(before);
}
