/* wb_term_keys: codes beside those of curses. */
#ifndef TUI_WB_TERM_KEYS_H
#define TUI_WB_TERM_KEYS_H

/* What a terminal sends around a paste. Above KEY_MAX, whatever the terminal's description has
 * beyond it. */
enum {
	WB_TERM_PASTE_BEGIN = 0x7f00,
	WB_TERM_PASTE_END,
};

#endif
