#include "tui/wb_line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "tui/history.h"
#include "tui/memory.h"
#include "tui/prompt.h"

/* readline's callbacks carry no context, and there is one line. */
static struct {
	bool open, kept;
	void (*done)(void *ctx, char *line);
	void *ctx;
	char *history;
	FILE *nowhere;
	unsigned char queue[1024]; /* what readline has not read yet */
	size_t first, count;
	char *entered; /* of the handler, until the queue is empty */
	bool ended;
	char **matches;
	size_t match_count;
	int skip; /* columns of the line that are scrolled away */
} line;

static int queue_get(FILE *stream)
{
	(void)stream;
	if (line.count == 0)
		return EOF;
	line.count--;
	return line.queue[line.first++];
}

static int queue_ready(void)
{
	return line.count > 0;
}

static void matches_free(void)
{
	for (size_t i = 0; i < line.match_count; i++)
		free(line.matches[i]);
	free(line.matches);
	line.matches = NULL;
	line.match_count = 0;
}

/* matches[0] is what all have in common. */
static void matches_show(char **matches, int count, int longest)
{
	(void)longest;
	matches_free();
	line.matches = memory_get((size_t)count * sizeof(*line.matches));
	for (int i = 1; i <= count; i++) {
		const char *slash = strrchr(matches[i], '/');

		line.matches[line.match_count++] =
		        memory_copy(slash && slash[1] ? slash + 1 : matches[i]);
	}
}

static void line_entered(char *text)
{
	line.entered = text;
	line.ended = true;
	rl_callback_handler_remove();
}

static void nothing(void)
{
}

static void nothing_int(int meta)
{
	(void)meta;
}

void wb_line_init(struct session *s)
{
	line.nowhere = fopen("/dev/null", "we");
	rl_instream = stdin;
	rl_outstream = line.nowhere;
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_change_environment = 0;
	rl_prep_term_function = nothing_int;
	rl_deprep_term_function = nothing;
	rl_getc_function = queue_get;
	rl_input_available_hook = queue_ready;
	rl_redisplay_function = nothing; /* wb_line_draw does */
	rl_completion_display_matches_hook = matches_show;
	prompt_completion_begin(s);
	rl_initialize();
	rl_variable_bind("bell-style", "none");
	rl_variable_bind("show-all-if-ambiguous", "on");
	rl_variable_bind("enable-bracketed-paste", "off"); /* pastes do not pass through here */
	rl_variable_bind("blink-matching-paren", "off");
	line.history = history_default_path();
	if (line.history)
		history_load(line.history);
}

void wb_line_free(void)
{
	if (line.open)
		rl_callback_handler_remove();
	line.open = false;
	matches_free();
	prompt_completion_end();
	free(line.history);
	line.history = NULL;
	if (line.nowhere)
		fclose(line.nowhere);
	line.nowhere = NULL;
}

bool wb_line_is_open(void)
{
	return line.open;
}

void wb_line_open(const char *prompt, const char *text, bool kept,
                  void (*done)(void *ctx, char *line), void *ctx)
{
	if (line.open)
		wb_line_close();
	line.open = true;
	line.kept = kept;
	line.done = done;
	line.ctx = ctx;
	line.ended = false;
	line.entered = NULL;
	line.count = 0;
	line.skip = 0;
	rl_callback_handler_install(prompt, line_entered);
	rl_insert_text(text);
	rl_point = rl_end;
}

/* After a line was entered or given up: text is NULL then. */
static void line_finish(char *text)
{
	void (*done)(void *, char *) = line.done;

	line.open = false;
	line.count = 0;
	matches_free();
	if (text && line.kept)
		history_add_text(line.history, text);
	done(line.ctx, text);
}

void wb_line_close(void)
{
	if (!line.open)
		return;
	rl_callback_sigcleanup(); /* out of a search in the history */
	rl_replace_line("", 1);
	rl_point = 0;
	rl_callback_handler_remove();
	line_finish(NULL);
}

/* All bytes of a character or key are there before readline reads the first: it would take half a
 * character for one. */
static void queue_run(void)
{
	matches_free();
	while (line.count > 0 && !line.ended)
		rl_callback_read_char();
	line.first = 0;
	if (line.ended) {
		char *text = line.entered;

		line.entered = NULL;
		line.ended = false;
		line_finish(text);
	}
}

static void queue_put(const char *bytes, size_t n)
{
	if (line.first + line.count + n > sizeof(line.queue))
		return;
	memcpy(line.queue + line.first + line.count, bytes, n);
	line.count += n;
}

void wb_line_bytes(const char *bytes)
{
	queue_put(bytes, strlen(bytes));
	queue_run();
}

void wb_line_char(wchar_t c)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t n = wcrtomb(bytes, c, &state);

	if (n == (size_t)-1)
		return;
	queue_put(bytes, n);
	queue_run();
}

void wb_line_escape(void)
{
	if (line.match_count)
		matches_free();
	else if (RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH))
		wb_line_bytes("\007");
	else
		wb_line_close();
}

void wb_line_paste(const char *text)
{
	if (RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH))
		wb_line_bytes("\033"); /* takes what was found */
	rl_insert_text(text);
}

/* ---- drawing ---- */

/* Columns of the part before byte `point`; a newline, which is drawn as a sign, takes one. */
static int line_columns(const char *text, int point)
{
	char *before = memory_copy_part(text, (size_t)point);
	int columns = wb_draw_width(before);

	free(before);
	return columns;
}

/* "\001" and "\002" stand around what readline is told not to count. */
static char *prompt_plain(const char *prompt)
{
	char *plain = memory_copy(prompt ? prompt : ""), *to = plain;

	for (const char *s = plain; *s; s++) {
		if (*s != RL_PROMPT_START_IGNORE && *s != RL_PROMPT_END_IGNORE)
			*to++ = *s;
	}
	*to = '\0';
	return plain;
}

/* The newlines of a paste as signs. malloc'ed. */
static char *one_line(const char *text)
{
	const char *sign = wb_draw_glyph(WB_RETURN);
	char *line_text = memory_get(strlen(text) * strlen(sign) + 1), *to = line_text;

	for (; *text; text++) {
		if (*text == '\n')
			to = stpcpy(to, sign);
		else
			*to++ = *text;
	}
	return line_text;
}

void wb_line_draw(const struct wb_area *a)
{
	char *prompt = prompt_plain(rl_display_prompt), *text = one_line(rl_line_buffer), *all;
	int cursor = wb_draw_width(prompt) + line_columns(rl_line_buffer, rl_point),
	    margin = a->w > 20 ? 8 : 1;
	struct wb_area here = *a;

	all = memory_format("%s%s", prompt, text);
	if (cursor - line.skip >= a->w)
		line.skip = cursor - a->w + margin;
	if (cursor < line.skip + (line.skip ? margin : 0))
		line.skip = cursor > margin ? cursor - margin : 0;
	here.focused = true;
	wb_draw_rich(&here, 0, 0, WB_PLAIN, all, line.skip);
	wb_draw_cursor(&here, 0, cursor - line.skip);
	free(all);
	free(text);
	free(prompt);
}

static int matches_width(void)
{
	int most = 0;

	for (size_t i = 0; i < line.match_count; i++) {
		int w = wb_draw_width(line.matches[i]);

		most = w > most ? w : most;
	}
	return most + 2;
}

int wb_line_matches_height(int width, int most)
{
	int columns, rows;

	if (!line.match_count)
		return 0;
	columns = width / matches_width();
	if (columns < 1)
		columns = 1;
	rows = ((int)line.match_count + columns - 1) / columns;
	return rows < most ? rows : most;
}

void wb_line_matches_draw(const struct wb_area *a)
{
	int width = matches_width(), columns = a->w / width > 0 ? a->w / width : 1;
	int rows = ((int)line.match_count + columns - 1) / columns;
	size_t room = (size_t)(a->h * columns);

	for (int y = 0; y < a->h; y++)
		wb_draw_blank(a, y, WB_PLAIN);
	for (size_t i = 0; i < line.match_count; i++) {
		/* Down the columns if all fit, else along the lines as far as there is room. */
		int y = rows <= a->h ? (int)i % rows : (int)i / columns;
		int x = rows <= a->h ? (int)i / rows : (int)i % columns;

		if (rows > a->h && i + 1 >= room && i + 1 < line.match_count) {
			wb_draw_format(a, a->h - 1, (columns - 1) * width, WB_FAINT, "%zu more",
			               line.match_count - i);
			break;
		}
		wb_draw_text(a, y, 1 + x * width, WB_PLAIN, line.matches[i]);
	}
}
