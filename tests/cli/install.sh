# The installed program runs from where it was installed to.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# A copy of the sources, so that nothing is built in the tree; with what the program under test was built of, where it is there.
copy_of_the_tree() {
	need make gcc
	mkdir tree
	(cd "$TOP" && tar cf - --exclude=.git --exclude='build*' --exclude=entrylab Makefile engine counters tui experiments man) | tar xf - -C tree ||
		fail "cannot copy the tree"
	export SETUP=no
}

# The paths are compiled in, so the program is built for the place where it is to run.
test_make_install_gives_a_program_that_runs_from_there() {
	local place=$PWD/there/usr abi
	copy_of_the_tree
	COMMAND="make install PREFIX=$place"
	make -s -C tree BUILD="$PWD/objects" BIN="$PWD/objects/entrylab" CFLAGS=-O1 PREFIX="$place" install -j2 >out 2>err ||
		fail "make install fails"
	[ -x "$place/bin/entrylab" ] && [ -x "$place/libexec/entrylab/entrylab-worker-x86_64" ] || fail "not installed: $(find there -type f)"
	rm -rf objects tree
	unset ENTRYLAB_EXPERIMENTS
	PROGRAM=$place/bin/entrylab
	lab list
	expect_exit 0
	expect_out 'segreg'
	lab show segreg --format jsonl
	expect_json '.[0].path|startswith($p)' --arg p "$place/share/entrylab/experiments/"
	for abi in x86_64 i386; do
		[ -e "$place/libexec/entrylab/entrylab-worker-$abi" ] || continue
		lab run ladder adds=1 abi=$abi --time 0.1
		expect_measured
		expect_out 'cycles'
	done
	[ -f "$place/share/man/man1/entrylab.1" ] || fail "no manual"
	(cd / && XDG_DATA_HOME=$HOME/data "$PROGRAM" asm nop --time 0.1 >/dev/null) || [ $? = 4 ] || fail "does not run from /"
}

# For packages: into a DESTDIR, what is installed belongs below PREFIX there, and nowhere else.
test_make_install_respects_destdir_and_uninstall_removes_it() {

	copy_of_the_tree
	COMMAND="make install DESTDIR=$PWD/pkg PREFIX=/usr"
	make -s -C tree BUILD="$PWD/objects" BIN="$PWD/objects/entrylab" CFLAGS=-O0 DESTDIR="$PWD/pkg" PREFIX=/usr install -j2 >out 2>err ||
		fail "make install fails"
	[ -x pkg/usr/bin/entrylab ] && [ -f pkg/usr/share/entrylab/experiments/segreg.s ] && [ -x pkg/usr/libexec/entrylab/entrylab-worker-x86_64 ] ||
		fail "not below DESTDIR and PREFIX: $(find pkg -type f)"
	[ "$(cd pkg && echo *)" = usr ] || fail "something is beside usr: $(cd pkg && echo *)"
	[ -f pkg/usr/share/man/man1/entrylab.1 ] || fail "no manual"
	PROGRAM=$PWD/pkg/usr/bin/entrylab
	ENTRYLAB_WORKERS=$PWD/pkg/usr/libexec/entrylab ENTRYLAB_EXPERIMENTS=$PWD/pkg/usr/share/entrylab/experiments lab run ladder adds=1 --time 0.1
	expect_measured
	COMMAND="make uninstall"
	make -s -C tree BUILD="$PWD/objects" DESTDIR="$PWD/pkg" PREFIX=/usr uninstall >out 2>err || fail "make uninstall fails"
	[ -z "$(find pkg -type f)" ] || fail "left behind: $(find pkg -type f)"
}

test_make_help_lists_what_can_be_made() {
	local target
	need make
	capture make -s -C "$TOP" help
	expect_exit 0
	for target in demo check asan bench install clean; do
		expect_out "^make $target "
	done
}
