#include "tui/wb_term.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "tui/memory.h"
#include "tui/wb_term_keys.h"

volatile sig_atomic_t wb_term_resized, wb_term_stopped, wb_term_continued;

static struct {
	volatile sig_atomic_t taken;
	SCREEN *screen;
	FILE *out;             /* what curses draws on */
	int tty;               /* the same, for write */
	int streams[2];        /* standard output and error as they were */
	int memory;            /* where they lead now; -1: not */
	struct termios before; /* of the terminal */
	char reset[512];       /* takes the terminal back to where it was */
	size_t reset_size;
	bool mouse;
} term = {.memory = -1, .tty = -1, .streams = {-1, -1}};

/* ---- streams ---- */

static void streams_catch(void)
{
	fflush(stdout);
	fflush(stderr);
	dup2(term.memory, STDOUT_FILENO);
	dup2(term.memory, STDERR_FILENO);
}

static void streams_release(void)
{
	fflush(stdout);
	fflush(stderr);
	dup2(term.streams[0], STDOUT_FILENO);
	dup2(term.streams[1], STDERR_FILENO);
}

long wb_term_mark(void)
{
	fflush(stdout);
	fflush(stderr);
	return lseek(term.memory, 0, SEEK_END);
}

char *wb_term_printed(long mark)
{
	long size = wb_term_mark() - mark, got = 0;
	char *text = memory_get((size_t)size + 1);

	while (got < size) {
		ssize_t n = pread(term.memory, text + got, (size_t)(size - got), mark + got);

		if (n <= 0)
			break;
		got += n;
	}
	text[got] = '\0';
	/* Appended to: the next text begins where this one did. */
	if (ftruncate(term.memory, mark) != 0)
		lseek(term.memory, 0, SEEK_END);
	return text;
}

/* ---- signals ---- */

static void on_signal(int number)
{
	switch (number) {
	case SIGWINCH:
		wb_term_resized = 1;
		break;
	case SIGTSTP:
		wb_term_stopped = 1;
		break;
	default:
		wb_term_continued = 1;
	}
}

void wb_term_end_now(void)
{
	ssize_t n;

	if (!term.taken)
		return;
	term.taken = 0;
	n = write(term.tty, term.reset, term.reset_size);
	(void)n; /* nothing could be done about it */
	tcsetattr(term.tty, TCSANOW, &term.before);
	dup2(term.streams[0], STDOUT_FILENO);
	dup2(term.streams[1], STDERR_FILENO);
}

/* A fault of ours: the terminal is given back, then the signal takes its course. The handler is
 * gone by SA_RESETHAND, and the signal is blocked until this returns. */
static void on_fault(int number)
{
	wb_term_end_now();
	raise(number);
}

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT, SIGSYS, SIGTRAP};

static void signals_catch(void)
{
	static char stack[64 * 1024];
	stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND | SA_ONSTACK};
	struct sigaction note = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaltstack(&alternative, NULL); /* for a stack that has overflowed */
	sigemptyset(&fault.sa_mask);
	sigemptyset(&note.sa_mask);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct sigaction before;

		/* A sanitizer's own handler writes its report first. */
		if (sigaction(faults[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(faults[i], &fault, NULL);
	}
	sigaction(SIGWINCH, &note, NULL);
	sigaction(SIGTSTP, &note, NULL);
	sigaction(SIGCONT, &note, NULL);
}

static void signals_release(void)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
}

/* ---- what resets the terminal, made while there is time ---- */

static int reset_put(int c)
{
	if (term.reset_size < sizeof(term.reset))
		term.reset[term.reset_size++] = (char)c;
	return c;
}

static void reset_add(const char *capability)
{
	const char *s = tigetstr(capability);

	if (s && s != (const char *)-1)
		tputs(s, 1, reset_put);
}

static const char mouse_off[] = "\033[?1006l\033[?1002l\033[?1000l";
static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

static bool has_modes(void)
{
	const char *mouse = tigetstr("kmous");

	/* Terminals without a mouse may print what they do not know. */
	return mouse && mouse != (const char *)-1;
}

static void reset_make(void)
{
	term.reset_size = 0;
	if (has_modes()) {
		for (const char *s = mouse_off; *s; s++)
			reset_put(*s);
		for (const char *s = paste_off; *s; s++)
			reset_put(*s);
	}
	reset_add("sgr0");
	reset_add("op");
	reset_add("rmkx");
	reset_add("cnorm");
	reset_add("rmcup");
	reset_put('\r');
}

static void modes_on(void)
{
	if (has_modes()) {
		fputs(paste_on, term.out);
		fflush(term.out);
	}
	wb_term_mouse(term.mouse);
}

static void modes_off(void)
{
	mousemask(0, NULL);
	if (has_modes()) {
		fputs(paste_off, term.out);
		fflush(term.out);
	}
}

/* ---- taking and giving ---- */

bool wb_term_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void wb_term_mouse(bool on)
{
	term.mouse = on;
	mouseinterval(0); /* clicks are told apart by us, without waiting */
	mousemask(on ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0,
	          NULL);
}

static int no_screen(struct error *err, const char *why)
{
	return error_set(err, ERROR_INPUT,
	                 "%s, so there is no workbench; give a command (entrylab --help), a script "
	                 "(-f FILE) or -i for a prompt",
	                 why);
}

static int term_check(struct error *err)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return no_screen(err, "this is no terminal");
	if (!name || !*name || strcmp(name, "dumb") == 0)
		return no_screen(err, "TERM names a terminal that cannot place its cursor");
	return ERROR_NONE;
}

static int streams_begin(struct error *err)
{
	term.streams[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 16);
	term.streams[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 16);
	term.tty = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 16);
	term.memory = memfd_create("printed", MFD_CLOEXEC);
	term.out = term.tty >= 0 ? fdopen(term.tty, "w") : NULL;
	if (term.streams[0] < 0 || term.streams[1] < 0 || term.memory < 0 || !term.out ||
	    fcntl(term.memory, F_SETFL, O_APPEND) != 0)
		return error_errno(err, ERROR_INTERNAL, "no descriptors for the screen");
	return ERROR_NONE;
}

static void curses_set_up(void)
{
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	meta(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, FALSE);
	scrollok(stdscr, FALSE);
	set_escdelay(25);
	define_key("\033[200~", WB_TERM_PASTE_BEGIN);
	define_key("\033[201~", WB_TERM_PASTE_END);
}

int wb_term_begin(bool mouse, struct error *err)
{
	const char *cup;
	int rc = term_check(err);

	if (rc == ERROR_NONE)
		rc = streams_begin(err);
	if (rc)
		return rc;
	tcgetattr(term.tty, &term.before);
	/* Inherited from a shell they would stay when the window changes. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	signals_catch(); /* before curses, which would take SIGWINCH */
	term.screen = newterm(NULL, term.out, stdin);
	cup = term.screen ? tigetstr("cup") : NULL;
	if (!cup || cup == (const char *)-1) {
		if (term.screen) {
			endwin();
			delscreen(term.screen);
		}
		signals_release();
		return no_screen(err, "this terminal is not known (TERM)");
	}
	reset_make();
	term.taken = 1;
	curses_set_up();
	term.mouse = mouse;
	modes_on();
	streams_catch();
	return ERROR_NONE;
}

void wb_term_end(void)
{
	if (!term.taken)
		return;
	modes_off();
	endwin();
	/* In case the terminal was lost half way, and for what curses does not know of. */
	tcsetattr(term.tty, TCSADRAIN, &term.before);
	term.taken = 0;
	streams_release();
	signals_release();
	delscreen(term.screen);
	fclose(term.out);
	close(term.streams[0]);
	close(term.streams[1]);
	close(term.memory);
}

void wb_term_resize(void)
{
	struct winsize size;

	if (ioctl(term.tty, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
		return;
	if (size.ws_row != LINES || size.ws_col != COLS)
		resize_term(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

void wb_term_redraw(void)
{
	clearok(curscr, TRUE);
}

void wb_term_again(void)
{
	reset_prog_mode();
	keypad(stdscr, FALSE);
	keypad(stdscr, TRUE);
	modes_on();
	wb_term_resize();
}

void wb_term_lend(void)
{
	modes_off();
	def_prog_mode();
	endwin();
	streams_release();
}

void wb_term_lend_end(void)
{
	streams_catch();
	reset_prog_mode();
	refresh();
	modes_on();
	wb_term_resize(); /* a change while it was lent was told to others */
}

void wb_term_suspend(void)
{
	struct sigaction ours, usual = {.sa_handler = SIG_DFL};
	sigset_t stop, before;

	wb_term_lend();
	sigemptyset(&usual.sa_mask);
	sigaction(SIGTSTP, &usual, &ours);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	raise(SIGTSTP);
	/* here after fg */
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGTSTP, &ours, NULL);
	wb_term_lend_end();
	wb_term_continued = wb_term_stopped = 0;
}
