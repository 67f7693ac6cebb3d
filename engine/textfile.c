#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment_words.h"

/* "4 MiB", "64 KiB": what a kind of file may have at most. */
static const char *most_text(const struct textfile_kind *kind, char *out, size_t size)
{
	if (kind->most % (1 << 20) == 0)
		snprintf(out, size, "%zu MiB", kind->most >> 20);
	else
		snprintf(out, size, "%zu KiB", kind->most >> 10);
	return out;
}

/* Opens without waiting: a named pipe without a writer would otherwise hang the tool. */
static int open_file(const char *path, const struct textfile_kind *kind, int *fd, size_t *size,
                     struct error *err)
{
	struct stat st;
	char most[24];
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return error_errno(err, ERROR_INPUT, "%s: cannot open", path);
	if (fstat(*fd, &st))
		return error_errno(err, ERROR_INPUT, "%s: cannot look at it", path);
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERROR_INPUT, "%s: this is a directory; %s is a file in it",
		                 path, kind->name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_INPUT, "%s: this is no regular file", path);
	if (st.st_size > (off_t)kind->most)
		return error_set(err, ERROR_INPUT, "%s: %lld bytes; %s file has at most %s", path,
		                 (long long)st.st_size, kind->name,
		                 most_text(kind, most, sizeof most));
	*size = (size_t)st.st_size;
	return 0;
}

/* Reads all of an open file of which size bytes are expected. */
static int read_all(int fd, const char *path, size_t size, char **text, size_t *got,
                    struct error *err)
{
	*got = 0;
	*text = malloc(size + 1);
	if (!*text)
		return experiment_words_no_memory(err);
	while (*got < size) {
		ssize_t n = read(fd, *text + *got, size - *got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, ERROR_INPUT, "%s: cannot read", path);
		if (!n)
			break;
		*got += (size_t)n;
	}
	return 0;
}

int textfile_read(const char *path, const struct textfile_kind *kind, char **text, size_t *size,
                  struct error *err)
{
	int fd = -1;
	size_t expected = 0;
	*text = NULL;
	*size = 0;
	int rc = open_file(path, kind, &fd, &expected, err);
	if (!rc)
		rc = read_all(fd, path, expected, text, size, err);
	if (fd >= 0)
		close(fd);
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

/* How many bytes the UTF-8 character at s has (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF), or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	static const struct {
		unsigned char first_lo, first_hi, second_lo, second_hi, length;
	} forms[] = {
	        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
	        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
	        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	if (s[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		if (s[0] < forms[i].first_lo || s[0] > forms[i].first_hi || left < forms[i].length)
			continue;
		if (s[1] < forms[i].second_lo || s[1] > forms[i].second_hi)
			return 0;
		for (size_t j = 2; j < forms[i].length; j++)
			if ((s[j] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

static int check(const char *path, const struct textfile_kind *kind, const char *text, size_t size,
                 struct error *err)
{
	const unsigned char *s = (const unsigned char *)text;
	struct experiment_words_place at = {path, 1};
	char most[24];
	if (!size)
		return experiment_words_fail(&at, err, "the file is empty");
	if (size > kind->most)
		return experiment_words_fail(&at, err, "%zu bytes; %s file has at most %s", size,
		                             kind->name, most_text(kind, most, sizeof most));
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		return experiment_words_fail(
		        &at, err, "the file begins with a byte order mark: save it without");
	for (size_t i = 0; i < size;) {
		if (!s[i])
			return experiment_words_fail(&at, err,
			                             "a NUL byte: this is a binary file, not %s",
			                             kind->content);
		size_t n = utf8_length(s + i, size - i);
		if (!n)
			return experiment_words_fail(
			        &at, err, "byte 0x%02x is not UTF-8: save the file as UTF-8", s[i]);
		at.line += s[i] == '\n';
		i += n;
	}
	return 0;
}

int textfile_keep(const char *path, const struct textfile_kind *kind, const char *text, size_t size,
                  char **out, size_t *out_size, struct error *err)
{
	int rc = check(path, kind, text, size, err);
	char *copy = rc ? NULL : malloc(size + 2);
	size_t n = 0;
	*out = copy;
	if (rc)
		return rc;
	if (!copy)
		return experiment_words_no_memory(err);
	for (size_t i = 0; i < size; i++)
		if (text[i] != '\r' || i + 1 == size || text[i + 1] != '\n')
			copy[n++] = text[i];
	if (copy[n - 1] != '\n')
		copy[n++] = '\n';
	copy[n] = '\0';
	*out_size = n;
	return 0;
}
