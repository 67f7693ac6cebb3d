# stubseq: how a stub tells its vector. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh disable=SC2016 # $ in code and in patterns

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

test_every_stubseq_variant_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run stubseq sequence=all --time 0.1 --format jsonl
	expect_rows 3
	# 1,024 in a row, and told so
	expect_json '[.[]|select(.kind=="result")]|all(.code.unroll%1024==0)'
	expect_json '.[]|select(.kind=="run")|.report=={"count":1024,"unit":"cycles"}'
	expect_json '[.[]|select(.kind=="result")]|all((.report.est/.cycles.est-1024|fabs)<0.001)'
	lab run stubseq --time 0.1
	expect_measured
	expect_out 'ticks +cycles/1024 '
}

test_stubseq_levels_that_are_made_up_or_cannot_be_are_refused() {
	lab run stubseq abi=x86_64
	expect_refused "no level 'x86_64' of abi"
	lab run stubseq sequence=push_is
	expect_refused 'did you mean push_cs'
	can i386 i386 || return 0
	sed -E 's/^(#: factor +sequence +)/\1made_up /' "$TOP/experiments/stubseq.s" >made_up.s
	lab run ./made_up.s sequence=made_up --time 0.05
	expect_refused 'sequence: no such level: made_up'
}

# Breaks the experiment by a line of sed: none of the variants named may pass for what it no longer is.
expect_caught() { # SED WORD...
	sed -E "$1" "$TOP/experiments/stubseq.s" >broken.s
	! cmp -s "$TOP/experiments/stubseq.s" broken.s || fail "nothing was broken: $1"
	shift
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_a_stub_that_leaves_another_vector_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught 's/^\tpush\t\$vector_pushed$/\tpush\t$94/' sequence=push_imm
	expect_caught 's/^\tpush\t%cs$/\tpush\t%ds/' sequence=push_cs
	expect_caught 's/^\tmov\t%cs, %eax$/\tmov\t%ds, %eax/' sequence=extract
	expect_caught 's/^\tshr\t\$3, %eax$/\tshr\t$4, %eax/' sequence=extract
	expect_caught 's/^\tnot\t%eax$/\tnop/' sequence=extract
	expect_caught 's/^\tmov\t%eax, 4\(%esp\)$/\tnop/' sequence=extract
	# once in a while only
	expect_caught 's/^\tpush\t\$vector_pushed$/\tcmp $0xffe, %sp\n\tpush $95\n\tinc %eax/' sequence=push_imm
}

test_an_extraction_that_does_not_put_the_register_back_is_caught() {
	can i386 i386 || skip "no i386 programs here"
	expect_caught 's/^\tpop\t%eax$/\tadd\t$4, %esp/' sequence=extract
}

test_stubseq_pushes_what_its_levels_name() {
	lab listing stubseq sequence=push_imm
	expect_out 'body, 2 bytes'
	expect_out '6a 5f +push. \$0x5f'
	lab listing stubseq sequence=push_cs
	expect_out 'body, 1 byte,'
	expect_out '0e +push. %cs'
	lab listing stubseq sequence=extract
	expect_equal instructions "$(sed -n '/body/,$p' out | grep -cE '^ +[0-9a-f]{8} ')" 8
}
