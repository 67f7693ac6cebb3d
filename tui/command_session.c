#include "tui/command_session.h"

#include <stdlib.h>
#include <string.h>

#include "engine/claim.h"
#include "engine/environment.h"
#include "engine/experiment.h"
#include "engine/host.h"
#include "engine/nearest.h"
#include "engine/published.h"
#include "tui/file.h"
#include "tui/journal.h"
#include "tui/memory.h"
#include "tui/render_page.h"
#include "tui/script.h"
#include "tui/settings.h"
#include "tui/wb_keys.h"
#include "tui/wb_pane.h"
#include "tui/wb_tab.h"

int command_session_source(struct command_call *call, struct error *err)
{
	const char *path = call->words[0];

	int rc;

	/* In the journal stands this command, not those of the file. */
	call->session->within++;
	rc = script_run_file(call->session, path, call->values.keep_going, err);
	call->session->within--;
	return rc;
}

int command_session_write(struct command_call *call, struct error *err)
{
	const char *path = call->words[0];
	FILE *out = NULL;
	int rc = file_create("write", path, &out, err);

	if (rc)
		return rc;
	journal_write(call->session->journal, out);
	return file_close("write", path, out, ERROR_INTERNAL, err);
}

int command_session_save(struct command_call *call, struct error *err)
{
	char *path = NULL;
	int rc;

	if (strcmp(call->words[0], "settings") != 0)
		return error_set(err, ERROR_INPUT, "save: only settings can be saved, not %s",
		                 call->words[0]);
	rc = settings_save(call->session, &path, err);
	if (rc == ERROR_NONE)
		command_note(call, "saved in %s", path);
	free(path);
	return rc;
}

int command_session_face(struct command_call *call, struct error *err)
{
	struct session *s = call->session;

	if (s->face)
		return s->face->command(s->face_ctx, call, err);
	return error_set(err, ERROR_INPUT,
	                 "%s is for the workbench, which entrylab without a command opens on a "
	                 "terminal",
	                 call->command->name);
}

int command_session_quit(struct command_call *call, struct error *err)
{
	(void)err;
	call->session->quit = true;
	return ERROR_NONE;
}

static bool session_takes_options(const struct command *c)
{
	for (int i = 0; i < OPTIONS; i++) {
		if (c->options & OPTION_BIT(i) && !option_table[i].hidden)
			return true;
	}
	return false;
}

static bool session_option_settable(int id)
{
	return option_table[id].kind == OPTION_SESSION;
}

static int session_option_unknown(const char *name, struct error *err)
{
	const char *names[OPTIONS];
	size_t n = 0;
	int near;

	if (option_find(name, false) >= 0)
		return error_set(err, ERROR_INPUT, "set: %s cannot be set for a session", name);
	for (int i = 0; i < OPTIONS; i++) {
		if (session_option_settable(i))
			names[n++] = option_table[i].name;
	}
	near = nearest_name(name, names, n);
	if (near >= 0)
		return error_set(err, ERROR_INPUT, "set: no option %s; did you mean %s?", name,
		                 names[near]);
	return error_set(err, ERROR_INPUT, "set: no option %s (see: help)", name);
}

static void session_print_options(const struct option_values *v)
{
	for (int i = 0; i < OPTIONS; i++) {
		const struct option_info *o = &option_table[i];
		const char *value = o->initial ? o->initial : o->form ? "not set" : "off";
		bool set = v->set & OPTION_BIT(i);

		if (!session_option_settable(i))
			continue;
		if (set)
			value = v->text[i] ? v->text[i] : "on";
		printf("%-12s %s%s\n", o->name, value, set ? "" : " (default)");
	}
}

int command_session_set(struct command_call *call, struct error *err)
{
	struct option_values *session = &call->session->defaults, changed;
	const char *name, *value = call->count > 1 ? call->words[1] : NULL;
	int id, rc;

	if (call->count == 0) {
		session_print_options(session);
		return ERROR_NONE;
	}
	name = call->words[0] + strspn(call->words[0], "-");
	id = option_find(name, false);
	if (id < 0 || !session_option_settable(id))
		return session_option_unknown(name, err);
	if (value && (strcmp(value, "default") == 0 ||
	              (!option_table[id].form && strcmp(value, "off") == 0))) {
		option_unset(session, (enum option_id)id);
		return ERROR_NONE;
	}
	if (value && !option_table[id].form) {
		if (strcmp(value, "on") != 0)
			return error_set(err, ERROR_INPUT, "set %s %s: give on, off or default",
			                 name, value);
		value = NULL;
	}
	/* On a copy, so that a value that is refused changes nothing. */
	option_values_inherit(&changed, session);
	rc = option_set(&changed, (enum option_id)id, value, err);
	if (rc) {
		option_values_free(&changed);
		return rc;
	}
	option_values_free(session);
	*session = changed;
	return ERROR_NONE;
}

static struct render_page session_page(FILE *out)
{
	struct render_style style = render_style_for(out);

	return render_page_on(&style, out);
}

static void help_option_line(const struct render_page *page, int id)
{
	const struct option_info *o = &option_table[id];
	char *heading, *text;

	if (o->hidden)
		return;
	heading = option_heading((enum option_id)id);
	text = o->initial ? memory_format("%s Default: %s.", o->help, o->initial)
	                  : memory_copy(o->help);

	if (strlen(heading) < 25) {
		fprintf(page->out, "  %-24s ", heading);
	} else {
		fprintf(page->out, "  %s\n%27s", heading, "");
	}
	render_page_wrap(page, 27, 27, text);
	free(text);
	free(heading);
}

static void help_paragraphs(const struct render_page *page, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		render_page_say(page, 0, NULL, memory_copy_part(text, n));
		text += n + (text[n] == '\n');
	}
}

void command_session_help_command(const struct command *c, FILE *out)
{
	struct render_page page = session_page(out);

	fprintf(out, "%s%s%s%s\n\n", c->name, *c->synopsis ? " " : "", c->synopsis,
	        session_takes_options(c) ? " [options]" : "");
	help_paragraphs(&page, c->help);
	help_paragraphs(&page, c->details);
	if (session_takes_options(c))
		fputs("\nOptions:\n", out);
	for (int i = 0; i < OPTIONS; i++) {
		if (c->options & OPTION_BIT(i))
			help_option_line(&page, i);
	}
	fprintf(out, "\nExample:\n  %s\n", c->example);
}

static void help_commands(const struct render_page *page)
{
	for (size_t i = 0; i < command_count; i++) {
		fprintf(page->out, "  %-10s ", command_table[i].name);
		render_page_wrap(page, 13, 13, command_table[i].help);
	}
}

static void help_all(FILE *out)
{
	struct render_page page = session_page(out);

	fputs("Commands:\n", out);
	help_commands(&page);
	fputs("\nOptions (help COMMAND lists those it takes):\n", out);
	for (int i = 0; i < OPTIONS; i++) {
		if (option_table[i].kind != OPTION_PROGRAM)
			help_option_line(&page, i);
	}
}

void command_session_help_program(FILE *out)
{
	struct render_page page = session_page(out);

	fputs("entrylab [options] COMMAND ...   one command\n"
	      "entrylab [options] -f FILE       a script\n"
	      "entrylab [options] -i            a prompt\n"
	      "entrylab                         the workbench on a terminal; else commands from "
	      "standard input\n\n"
	      "Commands:\n",
	      out);
	help_commands(&page);
	fputs("\nOptions before any command hold for all that follow:\n", out);
	for (int i = 0; i < OPTIONS; i++) {
		if (option_table[i].kind != OPTION_COMMAND || i == OPTION_HELP)
			help_option_line(&page, i);
	}
	fputs("\nSee entrylab(1) and, at the prompt or here, help COMMAND.\n", out);
}

static int help_unknown(const char *topic, struct error *err)
{
	const char *names[64];
	size_t n = 0;
	int near;

	for (size_t i = 0; i < command_count; i++)
		names[n++] = command_table[i].name;
	for (int i = 0; i < OPTIONS; i++)
		names[n++] = option_table[i].name;
	near = nearest_name(topic + strspn(topic, "-"), names, n);
	if (near >= 0)
		return error_set(err, ERROR_INPUT,
		                 "help: no command or option %s; did you mean %s?", topic,
		                 names[near]);
	return error_set(err, ERROR_INPUT, "help: no command or option %s", topic);
}

/* One fact a line, fields separated by tabs: what the manual's test holds against the manual. */
static void help_tables(void)
{
	for (size_t i = 0; i < command_count; i++)
		printf("command\t%s\t%s\t%s\n", command_table[i].name, command_table[i].synopsis,
		       command_table[i].help);
	for (int i = 0; i < OPTIONS; i++) {
		if (option_table[i].hidden)
			continue;
		printf("option\t%s\t%s\t%s\n", option_table[i].name,
		       option_table[i].form ? option_table[i].form : "", option_table[i].help);
	}
	for (size_t i = 0; i < command_count; i++) {
		for (int o = 0; o < OPTIONS; o++) {
			if (command_table[i].options & OPTION_BIT(o) && !option_table[o].hidden)
				printf("takes\t%s\t%s\n", command_table[i].name,
				       option_table[o].name);
		}
	}
	for (size_t i = 0; i < experiment_key_count; i++)
		printf("key\t%s\t%s\t%s\n", experiment_keys[i].name, experiment_keys[i].form,
		       experiment_keys[i].help);
	for (size_t i = 0; i < claim_key_count; i++)
		printf("claim-key\t%s\t%s\t%s\n", claim_keys[i].name, claim_keys[i].form,
		       claim_keys[i].help);
	for (size_t i = 0; i < published_key_count; i++)
		printf("table-key\t%s\t%s\t%s\n", published_keys[i].name, published_keys[i].form,
		       published_keys[i].help);
	for (size_t i = 0; i < HOST_CAPABILITIES; i++)
		printf("capability\t%s\t%s\n", host_capabilities[i].name,
		       host_capabilities[i].what);
	for (size_t i = 0; i < wb_key_count; i++) {
		char *names = wb_keys_names(&wb_key_table[i]);

		printf("binding\t%s\t%s\n", names, wb_key_table[i].help);
		free(names);
	}
	for (size_t i = 0; i < wb_pane_count; i++)
		printf("pane\t%s\t%s\n", wb_panes[i]->name, wb_panes[i]->help);
	for (size_t i = 0; i < wb_tab_count; i++)
		printf("tab\t%s\t%s\n", wb_tabs[i]->name, wb_tabs[i]->help);
	for (size_t i = 0; i < environment_field_count; i++)
		printf("field\t%s\t%s\n", environment_fields[i].name, environment_fields[i].help);
}

int command_session_help(struct command_call *call, struct error *err)
{
	const char *topic = call->count ? call->words[0] : NULL;
	const struct command *c;
	int id;

	if (call->values.tables) {
		help_tables();
		return ERROR_NONE;
	}
	if (!topic) {
		help_all(stdout);
		return ERROR_NONE;
	}
	c = command_find(topic);
	if (c) {
		command_session_help_command(c, stdout);
		return ERROR_NONE;
	}
	id = option_find(topic, topic[0] == '-');
	if (id < 0)
		return help_unknown(topic, err);
	struct render_page page = session_page(stdout);

	help_option_line(&page, id);
	fputs("  Commands that take it:", stdout);
	for (size_t i = 0; i < command_count; i++) {
		if (command_table[i].options & OPTION_BIT(id))
			printf(" %s", command_table[i].name);
	}
	fputs(option_table[id].kind == OPTION_PROGRAM ? " none; it stands before any command\n"
	                                              : "\n",
	      stdout);
	return ERROR_NONE;
}
