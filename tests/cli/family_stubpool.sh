# The family stubpool: every variant recovers its vectors, a wrong one is found out, the bytes are those that were published.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

POOLS=stub16,stub8,stub7,stub4g32,stub4line,dynamic

# All rows are measured, or absent with a reason; so many of them.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

stubpool() { # WORD...
	lab run stubpool "$@" --time 0.05 --no-archive --format jsonl
}

# Rows are 6 numbers of vectors in 2 orders at 4 places of the code; 5 numbers with a full pool.
test_every_scheme_of_i386_recovers_every_vector() {
	stubpool abi=i386 scheme=stub16,stub8,stub7,stub4g32,stub4line vectors=all order=all code=all stubs=all
	expect_rows $((5 * 11 * 2 * 4))
	stubpool abi=i386 scheme=dynamic vectors=all order=all code=all
	expect_rows $((6 * 2 * 4))
}

test_every_scheme_of_i386_that_needs_a_segment_or_the_kernel_recovers_every_vector() {
	stubpool abi=i386 scheme=call3,call2,int3 vectors=all order=all code=all stubs=all
	expect_rows $((3 * 11 * 2 * 4))
	stubpool abi=i386 scheme=fault0,csvec vectors=all order=all code=all
	expect_rows $((2 * 6 * 2 * 3))
}

test_every_scheme_of_x86_64_recovers_every_vector() {
	stubpool abi=x86_64 scheme=stub16,stub8,stub7,stub4g32,stub4line vectors=all order=all code=all stubs=all
	expect_rows $((5 * 11 * 2 * 4))
	stubpool abi=x86_64 scheme=dynamic,int3,fault0 vectors=all order=all code=all
	expect_rows $((2 * 6 * 2 * 4 + 6 * 2 * 3))
}

test_shifted_pools_and_bursts_recover_every_vector() {
	local abi
	for abi in i386 x86_64; do
		stubpool abi=$abi scheme=$POOLS,int3 vectors=8,240 order=random code=all shift=all burst=all
		expect_rows $((7 * 2 * 7 * 3))
	done
	stubpool abi=i386 scheme=call3,call2 vectors=8,240 order=random code=all shift=all burst=all
	expect_rows $((2 * 2 * 7 * 2))
}

test_levels_that_do_not_exist_are_refused_with_the_reason() {
	local word
	for word in scheme=stub9 vectors=256 order=backward code=cold stubs=some shift=8 burst=2; do
		lab run stubpool $word
		expect_refused "no level '${word#*=}' of ${word%=*}"
	done
	lab run stubpool abi=x86_64 scheme=call3
	expect_refused 'descriptors of our own run 16- and 32-bit code only'
	lab run stubpool abi=x86_64 scheme=csvec
	expect_refused 'descriptors of our own run 16- and 32-bit code only'
	lab run stubpool code=hot burst=16
	expect_refused 'a loop dispatches one vector after another anyway'
	lab run stubpool vectors=240 stubs=full
	expect_refused 'all 240 are in use'
	lab run stubpool scheme=dynamic stubs=full
	expect_refused 'only stubs of vectors in use are written'
	lab run stubpool abi=i386 scheme=csvec code=flushed
	expect_refused 'there are no stubs to be flushed'
	lab run stubpool abi=i386 scheme=call2 shift=4
	expect_refused 'the segment begins where the pool does'
}

# The file with one line of it changed must be found out, for the schemes it is about.
expect_found_out() { # SCHEME WORDS FIELD SED-SCRIPT
	local scheme=$1 words=$2 field=$3 script=$4
	sed "$script" "$TOP/experiments/stubpool.s" >wrong.s
	cmp -s wrong.s "$TOP/experiments/stubpool.s" && fail "$script changes nothing"
	# shellcheck disable=SC2086
	lab run ./wrong.s abi=i386 scheme="$scheme" $words --time 0.05 --no-archive --format jsonl
	expect_json "[.[]|select(.kind==\"result\")]|length>0 and all(.state==\"wrong\" and (.reason|test(\"$field\")))"
}

test_a_pool_that_does_not_do_what_it_says_is_found_out() {
	both_abis
	# one stub of 224 hands over its neighbour's vector
	expect_found_out stub8,stub7 '' '' 's/^7:	push	\$~vector + 128/	.set	bad, vector == 100\n7:	push	$~(vector + bad) + 128/'
	expect_found_out stub16 '' '' 's/^7:	push	\$~vector$/	.set	bad, vector == 200\n7:	push	$~(vector + bad)/'
	expect_found_out int3 '' '' 's/\.byte	0xcc, vector/.byte	0xcc, vector + (vector == 255)/'
	expect_found_out fault0 '' '' 's/gate	fault_base+vector/gate	fault_base+vector+1/'
	expect_found_out call3,call2 '' '' 's/add	\$0x20, %eax/add	$0x21, %eax/'
	expect_found_out csvec '' '' 's/mov	%ax, 4(%esi)/andl	$-9, %eax; mov	%ax, 4(%esi)/'
	expect_found_out dynamic '' '' 's/mov	%al, 1(xdi)/movb	$0, 1(xdi)/'
	# the common routine counts without looking
	expect_found_out $POOLS '' 'save2' '/^\.macro compare_and_return/,/^\.endm/s/jne	1f/nop/'
	# the order leaves one vector out, or the stubs in use are fewer than they should be
	expect_found_out stub8 'order=fixed' 'save1' 's/cmp	\$\\vectors, %esi$/cmp	$\\vectors - 1, %esi/'
	expect_found_out stub8 'order=random' 'save1' 's/imul	\$\\vectors, %ecx, %ecx/imul	$\\vectors - 1, %ecx, %ecx/'
	expect_found_out stub8 'stubs=full vectors=32' 'save1' '/^\.macro choose_gates/,/^\.endm/s/shr	\$16/shr	$20/'
	expect_found_out stub8 'stubs=full vectors=32' 'save4' '/^\.macro choose_gates/,/^\.endm/s/shr	\$16/shr	$18/'
	# the pool is not where shift says
	expect_found_out stub16 '' 'save3' 's/\.zero	off/.zero	off + 8/'
	expect_found_out stub8,stub7 '' 'save3' 's/^	\.p2align 6$/	.p2align 6; nop/'
}

bytes_of() { # SCHEME VECTORS
	json "[.[]|select(.kind==\"result\" and .variant.scheme==\"$1\" and .variant.vectors==\"$2\")][0].code.pool_bytes"
}

test_the_bytes_of_a_pool_are_those_that_were_published() {
	both_abis
	stubpool abi=i386 scheme=all vectors=1,224,240
	expect_equal stub8 "$(bytes_of stub8 224)" 1792
	expect_equal stub7 "$(bytes_of stub7 224)" 1568
	expect_equal stub4g32 "$(bytes_of stub4g32 224)" 952
	expect_equal stub4line "$(bytes_of stub4line 224)" 1024
	expect_equal dynamic "$(bytes_of dynamic 224)" 1792
	# 96 of 8 bytes and 128 of 16: constants above 127 do not fit a byte; not the 4 bytes in front
	expect_equal stub16 "$(bytes_of stub16 224)" $((96 * 8 + 128 * 16))
	# a byte behind the last, and what is behind each landing; not the room between
	expect_equal call3 "$(bytes_of call3 224)" $((3 * 224 + 1 + 3 * 6 - 4))
	expect_equal call2 "$(bytes_of call2 224)" $((2 * 224 + 1 + 2 * 9 - 4))
	expect_equal int3 "$(bytes_of int3 240)" 480
	expect_equal fault0 "$(bytes_of fault0 240)" 0
	expect_equal csvec "$(bytes_of csvec 240)" 0
	expect_equal "one vector" "$(bytes_of dynamic 1)" 8
	stubpool abi=i386 scheme=stub8,dynamic vectors=8 stubs=all
	expect_json '[.[]|select(.kind=="result")|.code.pool_bytes]==[64,1920,64]'
}

test_bytes_stand_beside_cycles() {
	lab run stubpool scheme=stub8,stub4line --time 0.1 --no-archive
	expect_measured
	expect_out '^scheme +bytes +cycles '
	expect_out '^stub8 +1792 +[0-9]'
	expect_out '^stub4line +1024 +[0-9]'
	expect_out 'bytes: of the pool'
	lab run stubpool scheme=stub8,stub4line --time 0.05 --no-archive --format csv
	expect_measured
	expect_out ',code_bytes,pool_bytes,'
	# without pools there is no such column
	lab run ladder adds=1,2 --time 0.05 --no-archive
	expect_measured
	expect_no_out '^adds +bytes'
}

test_cold_stubs_cost_more_than_warm_ones() {
	lab run stubpool scheme=stub8,stub16 code=warm,out_of_l1,flushed burst=16 --time 1 --no-archive --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|group_by(.variant.scheme)|all((map({(.variant.code): .cycles.est})|add) as $c|$c.warm>0 and $c.out_of_l1>$c.warm and $c.flushed>$c.out_of_l1+500)'
}

test_published_stubpool_has_cycles_and_bytes_for_each_number_of_vectors() {
	both_abis
	lab published stubpool --time 0.05 --no-archive --quiet
	expect_measured
	expect_out '^stub8 +8 +1792 +1792 +6a xx'
	expect_out '^vectors +scheme +bytes +hot, cycles +warm, cycles +out_of_l1, cycles +flushed, cycles$'
	expect_out '^ +240 +stub16 +2944 +[0-9.]+ ±'
	lab published stubpool --time 0.05 --no-archive --quiet --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="published-also")]|length==6*11 and ([.[]|.columns.vectors]|unique|length)==6'
	expect_json '[.[]|select(.kind=="published-also" and .columns.scheme=="stub4line")|.figures.bytes.here.est]==[32,64,160,608,1024,1120]'
	expect_json '[.[]|select(.kind=="published-also" and .columns.scheme!="csvec" and .columns.scheme!="fault0")|.figures|.hot,.warm,.out_of_l1,.flushed]|all(.unit=="cycles" and (.here.est|type)=="number")'
	expect_json '[.[]|select(.kind=="published-also" and .columns.scheme=="csvec")|.figures.flushed]|all(.here==null and (.reason|length)>3)'
	lab published stubpool --time 0.05 --no-archive --quiet --format csv
	expect_measured
	expect_out '^scheme,bytes_per_stub,bytes_total,note,vectors,also,unit,variant,here,'
	expect_out '^stub8,8,1792,[^,"]*|^stub8,8,1792,"[^"]*",,,bytes,'
	expect_out '^stub8,,,,8,hot,cycles,\[scheme=stub8 vectors=8 code=hot\],[0-9]'
}

test_the_claims_about_stubs_have_a_verdict() {
	local claim
	for claim in small-stubs-no-slower small-stubs-hot stub-alignment-pays; do
		lab verify $claim --format jsonl --quiet
		expect_json 'length==1 and (.[0].verdict|test("^(holds|fails|not decided)$")) and (.[0].findings|all(.label!=null or (.value.est|type)=="number"))'
	done
}
