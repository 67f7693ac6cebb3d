# desccache and descpack: loads from many descriptors. Each variant's check fails when it does something else than it says.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

# All rows are measured, or absent with a reason; so many there are.
expect_rows() { # NUMBER
	[ "$STATUS" = 3 ] || expect_measured
	expect_json '[.[]|select(.kind=="result" and .state!="measured" and .state!="absent")|.label+": "+.state+", "+(.reason//"")]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and .state=="absent")]|all(.reason|length>3)'
	expect_json "[.[]|select(.kind==\"result\")]|length==$1"
}

# Every stride and order, each with all of its numbers that are powers of two or lie between two.
halves=1,2,3,4,6,8,12,16,24,32,48,64,96,128,192,256,384,512,768,1024,1536,2048,3072,4096,6144,8192

test_every_desccache_variant_of_i386_does_what_it_says() {
	can i386 i386 || skip "no i386 programs here"
	lab run desccache abi=i386 reg=all n=$halves stride=all order=all --time 0.1 --format jsonl
	expect_rows 2040
}

test_every_desccache_variant_of_x86_64_does_what_it_says() {
	lab run desccache abi=x86_64 reg=all n=$halves stride=all order=all --time 0.1 --format jsonl
	expect_rows 2040
}

test_desccache_takes_numbers_between_its_own() {
	lab run desccache abi=all reg=es,none n=1..40 stride=1,64 order=all --time 0.1 --format jsonl
	expect_rows 960
}

test_descpack_does_what_it_says() {
	lab run descpack abi=all lines=all cache=all --time 0.1 --format jsonl
	expect_rows 24
}

test_nothing_of_desccache_is_absent_where_there_is_an_ldt() {
	can x86_64 ldt || skip "no LDT here"
	lab run desccache abi=x86_64 reg=all n=1,16 stride=512 order=all --time 0.1 --format jsonl
	expect_json '[.[]|select(.kind=="result")]|length==24 and all(.state=="measured")'
	lab run descpack abi=x86_64 lines=all cache=hot,warm --time 0.1 --format jsonl
	expect_json '[.[]|select(.kind=="result")]|length==8 and all(.state=="measured")'
}

# The walk alone touches no segment register: it keeps its footprint.
test_the_walk_of_desccache_leaves_segment_registers_alone() {
	can x86_64 footprint || skip "no footprint on this machine"
	lab run desccache abi=x86_64 reg=none n=1,64 stride=1 order=all --time 0.1 --format jsonl
	expect_rows 6
	expect_json '[.[]|select(.kind=="result")]|all(.samples.footprint=="on")'
}

test_desccache_numbers_that_the_ldt_has_no_room_for_say_why() {
	lab run desccache stride=512 n=17
	expect_refused 'the LDT has 8192 entries'
	lab run desccache stride=8 n=2048
	expect_refused 'the LDT has 8192 entries'
	lab run desccache n=8193
	expect_refused 'n=8193 is out of range: 1 to 8192'
}

test_desccache_and_descpack_refuse_levels_that_are_made_up() {
	local pair name factor level
	lab run desccache order=randm
	expect_refused 'did you mean random'
	# a level that the header has and no branch handles
	for pair in desccache:reg:ss desccache:stride:3 desccache:order:backward descpack:lines:two descpack:cache:cold; do
		IFS=: read -r name factor level <<<"$pair"
		sed -E "s/^(#: factor +$factor +)/\1$level /" "$TOP/experiments/$name.s" >made_up.s
		lab run ./made_up.s abi=x86_64 "$factor=$level" --time 0.05
		expect_refused "$factor: no such level: $level"
	done
}

# Breaks an experiment by a line of sed: no variant of the run may pass for what it no longer is.
expect_caught() { # NAME SED WORD...
	local name=$1 change=$2
	sed -E "$change" "$TOP/experiments/$name.s" >broken.s
	! cmp -s "$TOP/experiments/$name.s" broken.s || fail "nothing was broken: $change"
	shift 2
	lab run ./broken.s "$@" --time 0.05 --format jsonl
	COMMAND="$COMMAND, broken by $change"
	expect_json '[.[]|select(.kind=="result" and .state=="measured")|.label]|if .==[] then true else error(join("; ")) end'
	expect_json '[.[]|select(.kind=="result" and (.state=="wrong" or .state=="died"))]|length>0'
}

test_a_desccache_that_loads_nothing_or_another_register_is_caught() {
	can x86_64 ldt || skip "no LDT here"
	local body='/^\.macro body/,/^\.endm/'
	expect_caught desccache "${body}s/load .reg, .*/nop/" abi=all reg=es,fs,gs n=1,2,3,16,8192 stride=1 order=all
	expect_caught desccache '/^\.macro load/,/^\.endm/s/%.reg/%gs/' abi=all reg=es,fs n=1,16 stride=8 order=all
}

test_a_desccache_that_does_not_go_round_is_caught() {
	can x86_64 ldt || skip "no LDT here"
	local body='/^\.macro body/,/^\.endm/'
	expect_caught desccache "${body}s/cmove.*/nop/" abi=all reg=all n=1,2,3,16,1024 stride=1,8 order=all
	expect_caught desccache "${body}s/add	.8 . .stride/add	\$8/" abi=all reg=all n=3,16 stride=8,64 order=sequential
	expect_caught desccache "${body}s/add	.2, /add	\$4, /" abi=all reg=all n=3,16 stride=8,64 order=random,listed
	expect_caught desccache "${body}s/add	.2, .*/nop/" abi=all reg=all n=3,16 stride=8,64 order=random,listed
}

test_a_desccache_with_a_wrong_list_is_caught() {
	can x86_64 ldt || skip "no LDT here"
	local fill='/^\.macro fill/,/^\.endm/'
	expect_caught desccache 's/^	shuffle .n/	nop/' abi=all reg=all n=16,17,8192 stride=1 order=random
	expect_caught desccache '/^\.macro prepare/,/^\.endm/s/\.ifc .order,random/.if 1/' abi=all reg=all n=16,17,8192 stride=1 order=listed
	expect_caught desccache "${fill}s/add	.8 . .stride/add	\$8/" abi=all reg=all n=2,16 stride=8,64 order=random,listed
	expect_caught desccache "${fill}s/add	.8 . .stride, .*/nop/" abi=all reg=all n=2,16 stride=1,64 order=random,listed
	# one selector in two places
	expect_caught desccache 's/^	count .n.*/	movzwl list(xbx), %eax; mov %ax, list + 2(xbx)\n&/' abi=all reg=all n=2,3,16 stride=1,64 order=random,listed
	expect_caught desccache 's/^#: ldt .*/#: ldt data 64/' abi=all reg=es,fs,gs n=65,1024 stride=1 order=all
}

test_a_descpack_that_loads_other_descriptors_is_caught() {
	can x86_64 ldt || skip "no LDT here"
	local body='/^\.macro body/,/^\.endm/'
	expect_caught descpack "${body}s/mov	%ecx, %fs/nop/" abi=all lines=one,three,apart cache=hot,warm
	expect_caught descpack "${body}s/mov	%edx, %gs/mov %ecx, %gs/" abi=all lines=one,three,apart cache=hot,warm
	expect_caught descpack 's/16, 24, 32/16, 17, 18/' abi=all lines=three cache=hot,warm
	expect_caught descpack 's/16, 40, 64/16, 24, 32/' abi=all lines=apart cache=hot,warm
	expect_caught descpack 's/16, 17, 18/16, 24, 32/' abi=all lines=one cache=hot,warm
}

# A table with a line for each number, a chart of 60 columns and more with both axes, and a sentence for each curve.
test_desccache_is_shown_as_a_curve() {
	lab run desccache n=1,2,4,8,12,16 stride=8,512 --time 1
	[ "$STATUS" = 3 ] && skip "no LDT here"
	expect_measured
	expect_out '^cycles ±99% against n, for each stride$'
	expect_out '^ *n +8 +512$'
	expect_out '^cycles against n, on a scale of doublings$'
	[ "$(awk '/[┤│]/ { axis = 1 } /└/ { print length($0) }' out)" -ge 60 ] || fail "the chart is narrower than 60 columns"
	expect_out '^ +1 +2 +4 +8 +16$'
	[ "$STATUS" = 4 ] && return
	expect_out '^● stride=8: '
	expect_out '^○ stride=512: '
}

test_desccache_tells_knees_in_bytes_as_well() {
	lab run desccache n=1,2,4,8,12,16 stride=8,512 --time 1 --format jsonl
	[ "$STATUS" = 3 ] && skip "no LDT here"
	expect_measured
	expect_json '.[]|select(.kind=="run")|.curve=="n" and .curve_bytes==8 and .curve_scale=="stride"'
	expect_json '[.[]|select(.kind=="curve")|.series.stride]==["8","512"]'
	expect_json '[.[]|select(.kind=="knee")]|all(.from_bytes==.from*8*(.series.stride|tonumber) and .to_bytes==.to*8*(.series.stride|tonumber))'
}

test_claims_about_a_descriptor_cache_are_verified() {
	lab verify descriptor-cache-of-32 descriptor-cache-direct-mapped descriptors-in-data-cache packing-pays-warm --format jsonl
	[ "$STATUS" = 1 ] || expect_measured
	expect_json '[.[]|select(.kind=="verdict")]|length==4 and all(.verdict|IN("holds","fails","not decided","not testable here"))'
	can x86_64 ldt || return 0
	expect_json '[.[]|select(.kind=="verdict")]|all(.verdict!="not testable here")'
}
