/* test_role.c - names, dtypes and shapes in, roles or a refusal out: one row per case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "role_shard.h"
#include "shard/role.h"

#include <inttypes.h>

struct role_test {
    const char *board;
    const char *request;
    const char *arrays;
    const char *expected; /* "name=what ... N=rows", or "!" and parts of the message, by '|' */
};

#define F9  "features:f4:6,4,9,9 "
#define F13 "boards:f4:6,3,13,13 "
#define F8  "features:f4:37,56,8,8 "

static const struct role_test planes_tests[] = {
    {"square:9", "", F9 "policy:f4:6,81 values:f4:6",
     "features=planes(4,81,1) policy=policy(1,81,1)@cells/81 values=value N=6"},
    {"square:9", "", "features:f4:6,9,9,4", "features=planes(1,81,4) N=6"},
    {"square:9", "role:features=planes:nhwc", "features:f4:6,9,9,4", "features=planes(1,81,4) N=6"},
    {"square:9", "role:features=planes:nchw", "features:f4:6,9,9,4", "!planes of the board"},
    /* Both orders fit: channels first wins, unless told. */
    {"square:9", "", "features:f4:6,9,9,9", "features=planes(9,81,1) N=6"},
    {"square:9", "role:features=planes:nhwc", "features:f4:6,9,9,9", "features=planes(1,81,9) N=6"},
    {"square:9", "", "x:f4:6,324", "x=planes(4,81,1) N=6"},
    {"square:9", "role:x=planes:nhwc", "x:f4:6,324", "x=planes(1,81,4) N=6"},
    {"square:9", "", "x:f4:6,325", "!shard.npz: x: dtype <f4, shape (6, 325): expected planes"},
    {"square:9", "", "x:f4:6,4,81", "x=planes(4,81,1) N=6"},
    {"square:9", "", "x:f4:6,81,4", "!expected planes"},
    {"square:9", "role:x=planes:nhwc", "x:f4:6,81,4", "x=planes(1,81,4) N=6"},
    {"square:9", "", "board:i1:6,9,9", "board=grid(1,81,1) N=6"},
    {"square:9", "", "board:i1:6,81", "board=grid(1,81,1) N=6"},
    {"square:9", "role:board=planes", "board:i1:6,81", "board=planes(1,81,1) N=6"},
    {"square:9", "", "board:i1:6,1,9,9", "board=planes(1,81,1) N=6"},
    {"connect4", "", "board:i1:6,6,7", "board=grid(1,42,1) N=6"},
    {"connect4", "", "board:i1:6,7,6", "!expected planes of the board mirror:6x7: (N, C, 6, 7)"},
    {"square:9", "", "x:u1:6,22,11", "x=packed(22,81,1) N=6"},
    {"square:9", "", "x:i1:6,22,11", "!expected planes"},
    {"square:9", "", "binaryInputNCHWPacked:u1:6,22,11",
     "binaryInputNCHWPacked=packed(22,81,1) N=6"},
    {"square:9", "role:b=packed:lsb", "b:u1:6,22,11", "b=packed(22,81,1)+lsb N=6"},
    /* On 8 x 8 a packed plane takes 8 bytes: codes per cell by name, bits only by name. */
    {"square:8", "", "board:u1:6,8,8", "board=grid(1,64,1) N=6"},
    {"square:8", "", "binaryInputNCHWPacked:u1:6,8,8", "binaryInputNCHWPacked=packed(8,64,1) N=6"},
    {"square:9", "", "Features:f4:6,4,9,9 X:f4:6,4,9,9",
     "Features=planes(4,81,1) X=planes(4,81,1) N=6"},
    {"square:9", "", "features:U4:6,4,9,9", "!planes hold numbers"},
    {"square:9", "", "features:O:6,4,9,9", "!planes hold numbers"},
    {"square:9", "", "features:V16s:6,4,9,9", "!planes hold numbers"},
    {"square:9", "", "features:V2:6,4,9,9", "features=planes(4,81,1) N=6"},
    {"square:9", "", "features:b1:6,4,9,9", "features=planes(4,81,1) N=6"},
    {"square:9", "", "features:f4:6,4,1,9,9", "!shape (6, 4, 1, 9, 9)|[shape]"},
    {"square:9", "", "features:f4:6,0,9,9", "!found none"},
    {"square:9", "", "features:f4:6,9,9,0", "!found none"},
    {"square:9", "", "features:f4:6,0", "!found none"},
    {"square:9", "", "features:f4:6,4,9,8",
     "!shape (6, 4, 9, 8): expected planes of the board "
     "square:9: (N, C, 9, 9), (N, H, W, C) or (N, C*81)"},
    {"square:9", "", "features:f4:6,4,19,19 policy:f4:6,81", "!features"},
    {"square:9", "", "features:f4:2,3,13,13 policy:f4:2,169", "!features: dtype <f4"},
    {"square:9", "", "features:f4:6", "!expected planes"},
    {"hex8", "", "features:f4:6,4,61 state:i4:6,61",
     "features=planes(4,61,1)@cells-board state=grid(1,61,1)@cells-board N=6"},
    {"takeiteasy", "", "states:f4:6,7,5,5", "states=planes(7,25,1)+5x5 N=6"},
    {"takeiteasy", "", "states:f4:6,5,5,7", "states=planes(1,25,7)+5x5 N=6"},
    {"takeiteasy", "", "states:f4:6,7,19", "states=planes(7,19,1) N=6"},
    {"takeiteasy", "", "states:f4:6,38", "states=planes(2,19,1) N=6"},
    {"takeiteasy", "", "plateau:i4:6,19 tile:i4:6,3 position:i4:6 final_score:i4:6 score:i4:6",
     "plateau=grid(1,19,1) tile=tile position=action@cells/19 final_score=copy score=copy N=6"},
    {"takeiteasy", "", "plateau:i4:6,19 tile:i4:6,27", "!expected a tile's numbers"},
    {"square:9", "role:t=tile", F9 "t:i4:6,3", "!tiles belong to the board takeiteasy"},
    {"square:9", "", F9 "tile:i4:6,3", "features=planes(4,81,1) tile=copy N=6"},
    {"square:9", "", "x:u1:6,22,3,11", "!expected planes"},
    {"square:9", "", "input:f4:6,4,9,9", "input=planes(4,81,1) N=6"},
    {"square:9", "role:x=packed", "x:u1:6,11", "!expected packed planes of 81 cells: |u1"},
    {"square:9", "role:x=packed", "x:u1:6,0,11", "!expected packed planes"},
};

static const struct role_test policy_tests[] = {
    {"square:9", "", F9 "pi:f4:6,82",
     "features=planes(4,81,1) pi=policy(1,82,1)@cells+pass/82 N=6"},
    {"square:9", "", F9 "pi:f4:6,9,9", "features=planes(4,81,1) pi=policy(1,81,1)@cells/81 N=6"},
    {"square:9", "", F9 "pi:f4:6,1,9,9", "features=planes(4,81,1) pi=policy(1,81,1)@cells/81 N=6"},
    {"square:9", "", F9 "pi:f4:6,9,9,1", "features=planes(4,81,1) pi=policy(1,81,1)@cells/81 N=6"},
    {"square:9", "role:q=action-values", F9 "q:f4:6,82",
     "features=planes(4,81,1) q=action-values(1,82,1)@cells+pass/82 N=6"},
    {"square:9", "role:q=action-values:layout=cells", F9 "q:f8:6,9,9",
     "features=planes(4,81,1) q=action-values(1,81,1)@cells/81 N=6"},
    {"square:9", "", F9 "pi:f4:6,8,9,9",
     "!expected a policy (N, A), (N, H, W), (N, k, A) or, if told, (N, k, H, W)"},
    {"square:9", "", F9 "pi:f4:6,2,82",
     "features=planes(4,81,1) pi=policy(2,82,1)@cells+pass/82 N=6"},
    {"square:9", "", F9 "pi:f4:6,0,82", "!found none"},
    {"square:9", "", F9 "pi:f4:6,50",
     "!no policy of the board square:9 has 50 actions|cells (81)|"
     "use --role pi=ROLE or --copy pi [shape]"},
    {"square:9", "", F9 "pi:f4:6,0", "!0 actions"},
    {"square:9", "", F9 "pi:f4:6", "!expected a policy"},
    {"square:9", "", F9 "pi:U3:6,81", "!a policy holds numbers"},
    {"square:9", "", F9 "pi:O:6", "!a policy holds numbers"},
    {"square:9", "", F9 "policy:b1:6,81",
     "features=planes(4,81,1) policy=policy(1,81,1)@cells/81 N=6"},
    {"square:9", "", F9 "visits:i4:6,81",
     "features=planes(4,81,1) visits=policy(1,81,1)@cells/81 N=6"},
    {"square:9", "", F9 "legal_mask:b1:6,9,9",
     "features=planes(4,81,1) legal_mask=mask(1,81,1)@cells/81 N=6"},
    {"square:9", "", F9 "legal_moves:O:6", "!legal_moves|a policy holds numbers"},
    {"square:9", "", F9 "mask:u1:6,82 m2:u1:6,4,4",
     "features=planes(4,81,1) mask=mask(1,82,1)@cells+pass/82 m2=copy N=6"},
    {"hex8", "", F9 "policy:f4:6,4132",
     "features=planes(4,81,1) policy=policy(1,4132,1)@ringrift/4132 N=6"},
    {"hex8", "", F9 "policy:f4:6,4500",
     "features=planes(4,81,1) policy=policy(1,4500,1)@ringrift/4500 N=6"},
    {"hex8", "", F9 "policy:f4:6,4499", "!has 4499 actions|ringrift"},
    {"hex8", "", F9 "policy:f4:6,61",
     "features=planes(4,81,1) policy=policy(1,61,1)@cells-board/61 N=6"},
    {"hex8", "role:policy=policy:layout=ringrift", F9 "policy:f4:6,4499",
     "features=planes(4,81,1) policy=policy(1,4499,1)@ringrift/4499 N=6"},
    {"hex8", "role:policy=policy:layout=ringrift", F9 "policy:f4:6,81",
     "!81 actions are fewer than the 4132 of the layout ringrift"},
    {"hex8", "policy:nonsense", F9 "policy:f4:6,81", "!no policy layout 'nonsense'|cells-box (81)"},
    /* --policy is about the policy: a mask of another known length goes by its length. */
    {"hex8", "policy:ringrift", F9 "policy:f4:6,4132 mask:b1:6,81",
     "features=planes(4,81,1) policy=policy(1,4132,1)@ringrift/4132 "
     "mask=mask(1,81,1)@cells-box/81 N=6"},
    /* RingRift's squares are stored [c][x][y]. */
    {"square8", "", F8 "policy:f4:37,7000",
     "features=planes(56,64,1)+xy policy=policy(1,7000,1)@ringrift/7000 N=37"},
    {"square8", "yx", F8 "policy:f4:37,7000",
     "features=planes(56,64,1) policy=policy(1,7000,1)@ringrift/7000 N=37"},
    {"square8", "", F8 "policy:f4:37,64",
     "features=planes(56,64,1) policy=policy(1,64,1)@cells/64 N=37"},
    {"square8", "xy", F8, "features=planes(56,64,1)+xy N=37"},
    {"hex8", "", "features:f4:6,40,9,9 policy:f4:6,4132",
     "features=planes(40,81,1) policy=policy(1,4132,1)@ringrift/4132 N=6"},
    {"connect4", "xy", "board:i1:6,6,7", "!cannot be in the order xy"},
    {"connect4", "", "states:f4:5,3,6,7 policies:f4:5,7 values:f4:5",
     "states=planes(3,42,1) policies=policy(1,7,1)@columns/7 values=value N=5"},
    {"connect4", "", "states:f4:5,3,6,7 policies:f4:5,6,7",
     "states=planes(3,42,1) policies=policy(1,42,1)@cells/42 N=5"},
    {"chess", "", "states:i1:4,25,8,8 policies:f4:4,1814 values:f4:4",
     "states=planes(25,64,1) policies=policy(1,1814,1)@chess-1814/1814 values=value N=4"},
    {"chess", "", "pi:f4:4,4672", "pi=policy(1,4672,1)@chess-4672/4672 N=4"},
    {"chess", "", "pi:f4:4,73,8,8", "pi=policy(1,4672,1)@chess-4672-planes/4672 N=4"},
    {"chess", "", "pi:f4:4,8,8,73", "pi=policy(1,4672,1)@chess-4672/4672 N=4"},
    {"chess", "", "pi:f4:4,73,64", "pi=policy(1,4672,1)@chess-4672-planes/4672 N=4"},
    {"chess", "", "pi:f4:4,64,73", "pi=policy(1,4672,1)@chess-4672/4672 N=4"},
    {"chess", "", "pi:f4:4,76,8,8", "pi=policy(1,4864,1)@chess-4864/4864 N=4"},
    {"chess", "", "pi:f4:4,8,8,76", "pi=policy(1,4864,1)@chess-4864-squares/4864 N=4"},
    {"chess", "", "pi:f4:4,64,64", "pi=policy(1,4096,1)@from-to/4096 N=4"},
    {"chess", "", "pi:f4:4,8,8,8", "!expected a policy"},
    {"chess", "policy:chess-4672-crazyara", "pi:f4:4,73,8,8",
     "pi=policy(1,4672,1)@chess-4672-crazyara-planes/4672 N=4"},
    {"chess", "policy:chess-4672-planes", "pi:f4:4,8,8,73",
     "pi=policy(1,4672,1)@chess-4672/4672 N=4"},
    {"chess", "policy:chess-4672-planes", "pi:f4:4,4672",
     "pi=policy(1,4672,1)@chess-4672-planes/4672 N=4"},
    {"tictactoe", "", "states:f4:6,3,3,3 policies:f4:6,9 values:f4:6",
     "states=planes(3,9,1) policies=policy(1,9,1)@cells/9 values=value N=6"},
    {"takeiteasy", "", "pi:f4:6,19 plateau:i4:6,19",
     "pi=policy(1,19,1)@cells/19 plateau=grid(1,19,1) N=6"},
    {"square8", "", "policy:f4:6,7000 state:i1:6,8,8 bf:u1:6,3,8 board:i1:6,1,8,8",
     "policy=policy(1,7000,1)@ringrift/7000 state=grid(1,64,1)+xy bf=packed(3,64,1)+xy "
     "board=planes(1,64,1)+xy N=6"},
    {"square8", "role:bf=packed", "policy:f4:6,7000 bf:u1:6,3,8",
     "policy=policy(1,7000,1)@ringrift/7000 bf=packed(3,64,1)+xy N=6"},
};

#define SQ9 "features=planes(4,81,1) "
#define PAIR(form, layout) \
    SQ9 "policy_indices=policy-index:" form "@" layout " policy_values=policy-value:" form " N=6"

static const struct role_test sparse_tests[] = {
    {"square:9", "", F9 "policy_indices:Oi:6 policy_values:Of:6",
     PAIR("object(1,2,-)", "cells/81")},
    {"square:9", "", F9 "pol_values:Of:6 pol_indices:Oi:6",
     SQ9 "pol_values=policy-value:object(2,1,-) pol_indices=policy-index:object(2,1,-)@cells/81 "
         "N=6"},
    {"square:9", "", F9 "pi_indices:Oi:6 pi_values:Of:6",
     SQ9 "pi_indices=policy-index:object(1,2,-)@cells/81 pi_values=policy-value:object(1,2,-) N=6"},
    {"square:9", "", F9 "policy_indices:On:6,3 policy_values:Od:6,3",
     PAIR("object(1,2,-)", "cells/81")},
    {"square:9", "", F9 "policy_indices:On:6,0 policy_values:Od:6,0",
     PAIR("object(1,2,-)", "cells/81")},
    {"square:9", "", F9 "policy_indices:Oe:6 policy_values:Oe:6",
     PAIR("object(1,2,-)", "cells/81")},
    {"square:9", "", F9 "policy_indices:i8:6,11 policy_values:f4:6,11",
     PAIR("padded(1,2,-)", "cells/81")},
    {"square:9", "", F9 "policy_indices:i4:40 policy_values:f4:40 policy_offsets:i8:7",
     SQ9 "policy_indices=policy-index:csr(1,2,3)@cells/81 policy_values=policy-value:csr(1,2,3) "
         "policy_offsets=policy-offsets:csr(1,2,3) N=6"},
    {"square:9", "", "a_indptr:i8:7 a_values:f4:40 a_indices:i4:40",
     "a_indptr=policy-offsets:csr(2,1,0) a_values=policy-value:csr(2,1,0) "
     "a_indices=policy-index:csr(2,1,0)@cells/81 N=6"},
    /* As many entries as rows: the offsets still make it CSR. */
    {"square:9", "", F9 "policy_indices:i4:6 policy_values:f4:6 policy_offsets:i8:7",
     SQ9 "policy_indices=policy-index:csr(1,2,3)@cells/81 policy_values=policy-value:csr(1,2,3) "
         "policy_offsets=policy-offsets:csr(1,2,3) N=6"},
    {"square:9", "", F9 "policy_indices:i4:40 policy_values:f4:40 policy_offsets:i8:6",
     "!policy_offsets|expected 7 offsets|'features'|[rows]"},
    {"square:9", "", F9 "policy_indices:i4:40 policy_values:f4:41 policy_offsets:i8:7",
     "!policy_indices|'policy_values' have the shape (41,)|[length-mismatch]"},
    {"square:9", "", F9 "policy_indices:i4:6,4 policy_values:f4:6,5", "![length-mismatch]"},
    {"square:9", "", F9 "policy_indices:i4:40 policy_values:f4:40", "!(M,) with offsets"},
    {"square:9", "", F9 "policy_indices:i4:6 policy_values:f4:6", "!(M,) with offsets"},
    {"square:9", "", F9 "policy_indices:f4:6,4 policy_values:f4:6,4", "!sparse policy: integers"},
    {"square:9", "", F9 "policy_indices:i4:6,4 policy_values:U4:6,4", "!sparse policy: numbers"},
    {"square:9", "", F9 "policy_indices:Oi:6 policy_values:f4:6,4", "!sparse policy: integers"},
    {"square:9", "", F9 "policy_indices:Of:6 policy_values:Of:6",
     "!policy_indices|row 0: expected a 1-D array of integers"},
    {"square:9", "", F9 "policy_indices:Om:6 policy_values:Of:6", "!row 0: expected a 1-D array"},
    {"square:9", "", F9 "policy_indices:On:6 policy_values:Od:6", "!row 0: expected a 1-D array"},
    {"square:9", "", F9 "policy_indices:Od:6,2 policy_values:Od:6,2", "!row 0: expected only int"},
    {"square:9", "", F9 "policy_indices:Os:6 policy_values:Of:6", "!row 0: expected a 1-D array"},
    {"square:9", "", F9 "policy_indices:Oi:6 policy_values:Os:6", "!policy_values|row 0"},
    {"square:9", "", F9 "policy_indices:Oi:5 policy_values:Of:6",
     "!policy_indices|6 rows as in 'features', found 5|[rows]"},
    {"square:9", "", F9 "policy_indices:Oi:6", "!there is no policy_values"},
    {"square:9", "", F9 "policy_values:Of:6", "!there is no policy_indices"},
    {"square:9", "copy:policy_values", F9 "policy_indices:Oi:6 policy_values:Of:6",
     "!there is no policy_values"},
    {"square:9", "copy:policy_values copy:policy_indices",
     F9 "policy_indices:Oi:6 policy_values:Of:6", SQ9 "policy_indices=copy policy_values=copy N=6"},
    {"square:9", "role:a=policy-index role:b=policy-value", F9 "b:Of:6 a:Oi:6",
     SQ9 "b=policy-value:object(2,1,-) a=policy-index:object(2,1,-)@cells/81 N=6"},
    {"square:9", "role:a=policy-index role:b=policy-value role:c=policy-offsets",
     F9 "b:f4:9 a:i4:9 c:i4:7",
     SQ9 "b=policy-value:csr(2,1,3) a=policy-index:csr(2,1,3)@cells/81 "
         "c=policy-offsets:csr(2,1,3) N=6"},
    {"square:9", "role:a=policy-index", F9 "a:Oi:6", "!no other array is given"},
    {"square:9", "role:a=policy-value", F9 "a:Oi:6", "!no other array is given"},
    /* The length of the action axis. */
    {"hex8", "", F9 "policy_indices:Oi:6 policy_values:Of:6",
     PAIR("object(1,2,-)", "ringrift/4132")},
    {"hexagon:4", "", F9 "policy_indices:Oi:6 policy_values:Of:6",
     PAIR("object(1,2,-)", "cells-box/81")},
    {"hexagon:4", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_encoding:U=board_aware",
     SQ9 "policy_indices=policy-index:object(1,2,-)@ringrift/4132 "
         "policy_values=policy-value:object(1,2,-) policy_encoding=meta N=6"},
    {"hexagon:4", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_encoding:U=legacy_max_n",
     SQ9 "policy_indices=policy-index:object(1,2,-)@cells-box/81 "
         "policy_values=policy-value:object(1,2,-) policy_encoding=meta N=6"},
    {"hexagon:4", "", F9 "policy_indices:Oi:6 policy_values:Of:6 board_type:U=hex8",
     SQ9 "policy_indices=policy-index:object(1,2,-)@ringrift/4132 "
         "policy_values=policy-value:object(1,2,-) board_type=meta N=6"},
    {"hexagon:4", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=4500",
     SQ9 "policy_indices=policy-index:object(1,2,-)@ringrift/4500 "
         "policy_values=policy-value:object(1,2,-) policy_size=meta N=6"},
    {"hex8", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=61",
     SQ9 "policy_indices=policy-index:object(1,2,-)@cells-board/61 "
         "policy_values=policy-value:object(1,2,-) policy_size=meta N=6"},
    {"hex8", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=4501",
     "!policy_size is 4501"},
    {"hex8", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=-1", "!policy_size"},
    {"hex8", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:U=61", "!policy_size"},
    {"hex8", "policy:cells-box", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=4500",
     SQ9 "policy_indices=policy-index:object(1,2,-)@cells-box/81 "
         "policy_values=policy-value:object(1,2,-) policy_size=meta N=6"},
    {"hex8", "policy:ringrift", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=4500",
     SQ9 "policy_indices=policy-index:object(1,2,-)@ringrift/4500 "
         "policy_values=policy-value:object(1,2,-) policy_size=meta N=6"},
    {"hex8", "role:policy_indices=policy-index:layout=cells-board",
     F9 "policy_indices:Oi:6 policy_values:Of:6", PAIR("object(1,2,-)", "cells-board/61")},
    {"square:9", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_encoding:U=board_aware",
     "!policy_encoding is board_aware"},
    {"square:9", "policy:ringrift", F9 "policy_indices:Oi:6 policy_values:Of:6",
     "!no policy layout 'ringrift'"},
    {"square:8", "", F8 "policy_indices:i4:37,3 policy_values:f4:37,3 board_type:U=square8",
     "features=planes(56,64,1)+xy policy_indices=policy-index:padded(1,2,-)@ringrift/7000 "
     "policy_values=policy-value:padded(1,2,-) board_type=meta N=37"},
    {"othello", "", F8 "policy_indices:i4:37,3 policy_values:f4:37,3",
     "features=planes(56,64,1) policy_indices=policy-index:padded(1,2,-)@cells/64 "
     "policy_values=policy-value:padded(1,2,-) N=37"},
    /* Every part may come first. */
    {"square:9", "", "policy_indices:Oi:6 policy_values:Of:6",
     "policy_indices=policy-index:object(0,1,-)@cells/81 policy_values=policy-value:object(0,1,-) "
     "N=6"},
    {"square:9", "role:a=policy-index role:b=policy-value", "a:Oi:6 b:Of:6 x:f4:6,4,9,9",
     "a=policy-index:object(0,1,-)@cells/81 b=policy-value:object(0,1,-) x=planes(4,81,1) N=6"},
    {"square:9", "", "policy_values:f4:6,3 policy_indices:i4:6,3",
     "policy_values=policy-value:padded(1,0,-) policy_indices=policy-index:padded(1,0,-)@cells/81 "
     "N=6"},
    {"square:9", "role:a=policy-index role:b=policy-value role:c=policy-offsets",
     "b:f4:9 c:i4:7 a:i4:9",
     "b=policy-value:csr(2,0,1) c=policy-offsets:csr(2,0,1) a=policy-index:csr(2,0,1)@cells/81 "
     "N=6"},
    {"hexagon:4", "", "policy_size:i8=4500 policy_indices:Oi:6 policy_values:Of:6",
     "policy_size=meta policy_indices=policy-index:object(1,2,-)@ringrift/4500 "
     "policy_values=policy-value:object(1,2,-) N=6"},
    {"hexagon:4", "", "board_type:S=hex8 policy_indices:Oi:6 policy_values:Of:6",
     "board_type=meta policy_indices=policy-index:object(1,2,-)@ringrift/4132 "
     "policy_values=policy-value:object(1,2,-) N=6"},
    /* Notes in other forms are no notes. */
    {"hexagon:4", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8:6 board_type:U4:6",
     SQ9 "policy_indices=policy-index:object(1,2,-)@cells-box/81 "
         "policy_values=policy-value:object(1,2,-) policy_size=copy board_type=copy N=6"},
    {"hex8", "", F9 "policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=0", "!policy_size"},
    {"square:9", "", F9 "policy_indices:f4:40 policy_values:f4:40 policy_offsets:i8:7",
     "!policy_indices|sparse policy: integers"},
    {"square:9", "", F9 "policy_indices:i4:40 policy_values:f4:40 policy_offsets:f4:7",
     "!(M,) with offsets"},
    {"square:9", "", F9 "policy_indices:i4:40 policy_values:f4:40,2 policy_offsets:i4:7",
     "!(M,) with offsets"},
    {"square:9", "", "policy_indices:i4:40 policy_values:f4:40 policy_offsets:i8:0",
     "!policy_offsets|[rows]"},
    {"square:9", "", F9 "policy_indices:i4:6,4 policy_values:f4:5,4", "!policy_values|[rows]"},
    {"square:9", "", F9 "policy_indices:Oi:6 policy_values:Of:5", "!policy_values|[rows]"},
    {"square:9", "", F9 "policy_indices:Oq:6,2 policy_values:Od:6,2", "!row 2: expected only"},
    {"square:9", "", F9 "policy_indices:On:6,2,2 policy_values:Od:6,2,2",
     "!objects (N,) or (N, k)"},
    {"square:9", "role:a=policy-index role:b=policy-value role:c=policy-value",
     F9 "a:Oi:6 b:Of:6 c:Of:6", "!no other array is given"},
    {"square:9", "", "a_offsets:i8:7 a_values:f4:40 a_indices:i4:40",
     "a_offsets=policy-offsets:csr(2,1,0) a_values=policy-value:csr(2,1,0) "
     "a_indices=policy-index:csr(2,1,0)@cells/81 N=6"},
    {"square:9", "", "a_offsets:i8:7 a_data:f4:40 a_indices:i4:40",
     "a_offsets=policy-offsets:csr(2,1,0) a_data=policy-value:csr(2,1,0) "
     "a_indices=policy-index:csr(2,1,0)@cells/81 N=6"},
    {"square:9", "", F9 "policy_indices:i4:40 policy_data:f8:40 policy_indptr:i8:7",
     SQ9 "policy_indices=policy-index:csr(1,2,3)@cells/81 policy_data=policy-value:csr(1,2,3) "
         "policy_indptr=policy-offsets:csr(1,2,3) N=6"},
    {"square:9", "", "policy_indices:i4:0 policy_values:f4:0 policy_offsets:i8:1",
     "policy_indices=policy-index:csr(0,1,2)@cells/81 policy_values=policy-value:csr(0,1,2) "
     "policy_offsets=policy-offsets:csr(0,1,2) N=0"},
};

static const struct role_test label_tests[] = {
    {"square:9", "", F9 "move_index:i4:6 policy:f4:6,82",
     SQ9 "move_index=action@cells+pass/82 policy=policy(1,82,1)@cells+pass/82 N=6"},
    {"square:9", "", F9 "moves:i8:6,1", SQ9 "moves=action@cells/81 N=6"},
    {"square:9", "", F9 "move:f4:6", "!index of an action: integers (N,)"},
    {"square:9", "", F9 "moves:Os:6", "!index of an action"},
    {"square:9", "", F9 "moves:i4:6,2", "!use --role moves=coord or --copy moves"},
    {"square:9", "role:moves=coord", F9 "moves:i4:6,2", SQ9 "moves=coord N=6"},
    {"square:9", "role:moves=coord:colrow", F9 "moves:i4:6,2", SQ9 "moves=coord:colrow N=6"},
    {"square:9", "", F9 "last_move:i4:6,2", SQ9 "last_move=coord N=6"},
    {"square:9", "", F9 "last_moves:i4:6", SQ9 "last_moves=action@cells/81 N=6"},
    {"square:9", "", F9 "last_move:f4:6,2", "!(row, col) of a cell"},
    {"takeiteasy", "", "plateau:i4:6,19 last_move:i4:6,2", "!have no rows and columns"},
    {"square:9", "role:a=action:layout=cells+pass", F9 "a:i4:6", SQ9 "a=action@cells+pass/82 N=6"},
    {"chess", "", "states:i1:4,25,8,8 move_indices:i2:4 policies:f4:4,1880",
     "states=planes(25,64,1) move_indices=action@chess-1880/1880 "
     "policies=policy(1,1880,1)@chess-1880/1880 N=4"},
    {"hex8", "", F9 "action:i4:6 policy_indices:Oi:6 policy_values:Of:6",
     SQ9 "action=action@ringrift/4132 policy_indices=policy-index:object(2,3,-)@ringrift/4132 "
         "policy_values=policy-value:object(2,3,-) N=6"},
    {"hex13", "", F13 "value:f4:6 player_to_move:i1:6 winner:i1:6 ply:i4:6",
     "boards=planes(3,169,1) value=value player_to_move=to-move winner=to-move:winner ply=copy "
     "N=6"},
    {"hex13", "", F13 "z:f4:6,1 v:f4:6,2 vt:f4:6,3 wdl:f4:6,3 values_mp:f4:6,4",
     "boards=planes(3,169,1) z=value v=value vt=wdl wdl=wdl values_mp=value N=6"},
    {"hex13", "", F13 "Y_value:i1:6", "boards=planes(3,169,1) Y_value=value N=6"},
    {"hex13", "role:a=to-move:winner role:b=to-move role:winner=to-move:player",
     F13 "a:i1:6 b:i1:6 winner:i1:6",
     "boards=planes(3,169,1) a=to-move:winner b=to-move winner=to-move N=6"},
    {"hex13", "", F13 "values_mp:f4:6,3", "boards=planes(3,169,1) values_mp=value N=6"},
    {"hex13", "role:values_mp=wdl", F13 "values_mp:f4:6,3",
     "boards=planes(3,169,1) values_mp=wdl N=6"},
    {"hex13", "", F13 "values:f4:6,4", "!expected values"},
    {"hex13", "role:values=value", F13 "values:f4:6,4", "boards=planes(3,169,1) values=value N=6"},
    {"hex13", "", F13 "value:V2:6", "!expected values: numbers"},
    {"hex13", "", F13 "player:U5:6", "!expected a player: numbers"},
    {"hex13", "", F13 "player:i1:6,2", "!expected a player"},
    {"hex13", "", F13 "wdl:f4:6,2", "!win, draw, loss"},
    {"square:9", "", F9 "value:V2:6 player:U5:6 turn:i1:6,2 wls:i1:6",
     SQ9 "value=value player=copy turn=copy wls=copy N=6"},
    {"square:9", "", F9 "player:i1:6,9,9", "!expected a player"},
    {"square:9", "", F9 "values:U1:6",
     "!values: dtype <U1, shape (6,): expected values: numbers|"
     "--copy values"},
    {"square:9", "", F9 "values:f4:6,4", SQ9 "values=value N=6"},
    {"square:9", "", F9 "values:f4:6,81", "!expected values"},
    {"square:9", "", F9 "values:f4:6,9,9", "!expected values"},
    {"square:2", "", "x:f4:6,2,2,2 values_mp:f4:6,4 values:f4:6,2",
     "x=planes(2,4,1) values_mp=value values=value N=6"},
    {"square:9", "", F9 "values:f4:5", "!values|6 rows as in 'features', found 5|[rows]"},
    {"square:9", "", F9 "policy:f4:5,81", "!policy|6 rows as in 'features', found 5|[rows]"},
    {"square:9", "", F9 "globals:f4:5,20", "!globals|[rows]"},
    {"square:9", "", F9 "on:f4:6 boards:f4:7,4,9,9", "!boards|[rows]"},
    {"square:9", "", F9 "last_move:i4:6,3", "!(row, col) of a cell"},
    {"square:9", "", F9 "last_move:i4:6,2,2", "!(row, col) of a cell"},
    {"hex13", "", F13 "wdl:U2:6,3", "!win, draw, loss"},
    {"takeiteasy", "", "plateau:i4:6,19 tile:f4:6,3", "!expected a tile's numbers"},
};

static const struct role_test other_tests[] = {
    {"square:9", "", F9 "step:i8= note:U=x meta:O= features2:f4=",
     SQ9 "step=meta note=meta "
         "meta=meta features2=meta N=6"},
    {"square:9", "", "board:U=go9 x:f4:6,1,9,9 value:f4=",
     "board=meta x=planes(1,81,1) "
     "value=meta N=6"},
    {"square:9", "", F9 "extra:f4:6,7 names:U8:6 ids:Os:6 pairs:On:6,2 rec:V16s:6 bytes:S4:6",
     SQ9 "extra=copy names=copy ids=copy pairs=copy rec=copy bytes=copy N=6"},
    {"square:9", "", F9 "table:f4:3,7 rec:V16s:3 tags:Os:2",
     SQ9 "table=meta rec=meta tags=meta N=6"},
    {"square:9", "", F9 "globals:f4:6,20 gf:f4:6,81 weights:f4:6 game_ids:Os:6 heuristics:f4:6,21",
     SQ9 "globals=copy gf=copy weights=copy game_ids=copy heuristics=copy N=6"},
    {"grid:4x5", "", "x:f4:6,3,4,5 globals:f4:6,20", "x=planes(3,20,1) globals=copy N=6"},
    {"grid:4x5", "", "x:f4:6,3,4,5 extra:f4:6,20",
     "!extra|20 is the number of cells|"
     "--role extra=policy or --copy extra [shape]"},
    {"square:9", "", F9 "globals:f4:6,9,9", "!globals|81 is the number of cells"},
    {"square:9", "", F9 "heuristics:f4:6,81", "!heuristics|81 is the number of cells"},
    {"square:9", "", F9 "ownership:f4:6,9,9", "!its name gives no role|--role ownership=policy or"},
    {"square:9", "", F9 "ownership:f4:6,2,9,9", "!--role ownership=planes or"},
    {"square:9", "", F9 "ownership:f4:6,9,9,2", "!--role ownership=planes or"},
    {"square:9", "", F9 "a:f4:6,2,3,9,9", "!--role a=ROLE or"},
    {"square:9", "", F9 "a:f4:6,82",
     "!82 is the length of the policy cells+pass|--role a=policy or"},
    {"square:9", "", F9 "a:u1:6,3,11", "!11 bytes hold the cells|--role a=packed or"},
    {"square:9", "", F9 "a:i1:6,3,11", SQ9 "a=copy N=6"},
    {"square:9", "", F9 "a:f4:6,3,27", "!81 is the number of cells"},
    {"square:9", "", F9 "a:U3:6,81", "!81 is the number of cells"},
    {"hex8", "", F9 "a:f4:6,61", "!61 is the number of cells"},
    {"hex8", "", F9 "a:f4:6,4500", "!4500 is the length of the policy ringrift"},
    {"takeiteasy", "", "plateau:i4:6,19 a:f4:6,5,5", "!25 is the number of cells"},
    {"square:9", "", F9 "on_board:b1:9,9", "!81 is the number of cells"},
    {"square:9", "", F9 "on_board:b1:81", "!81 is the number of cells"},
    {"square:9", "copy:on_board", F9 "on_board:b1:9,9", SQ9 "on_board=meta N=6"},
    {"square:9", "copy:a", F9 "a:f4:6,9,9", SQ9 "a=copy N=6"},
    {"square:9", "copy:a", F9 "a:Om:6", SQ9 "a=copy N=6"},
    {"square:9", "copy:step", F9 "step:i8=", SQ9 "step=meta N=6"},
    {"square:9", "role:a=meta", F9 "a:f4:6,9,9", SQ9 "a=meta N=6"},
    {"square:9", "role:a=drop", F9 "a:f4:6,9,9", SQ9 "a=drop N=6"},
    {"square:9", "role:features=copy role:features=planes", F9, SQ9 "N=6"},
    {"square:9", "role:a=value", F9 "a:f4:6,81", SQ9 "a=value N=6"},
    {"square:9", "role:step=value", F9 "step:f8=", "!found a single value|[rows]"},
    {"square:9", "role:nothing=copy", F9, "!no array is called 'nothing'"},
    {"square:9", "", F9 "data_checksums:U={}", SQ9 "data_checksums=drop N=6"},
    {"square:9", "", F9 "data_checksums:U40:9", SQ9 "data_checksums=drop N=6"},
    {"square:9", "", F9 "tags:Ox:6", "!tags|item 2 is neither a number nor a string"},
    {"square:9", "", F9 "tags:Oi:6", "!tags|item 0 is neither a number nor a string|--copy tags"},
    {"square:9", "", F9 "a_indices:Oi:6 a_values:Of:6", "!a_indices|item 0"},
    /* Names that smell of moves. */
    {"square:9", "", F9 "best_move:i4:6", "!suggest moves or cells|--role best_move=action or"},
    {"square:9", "", F9 "CellXY:u1:6,2", "!suggest moves or cells|--role CellXY=coord or"},
    {"square:9", "", F9 "ko_pos:i4:6,1", "!suggest moves or cells"},
    {"square:9", "", F9 "last_action:i4:6", "!suggest moves or cells"},
    {"square:9", "", F9 "coords:i4:6,2", "!suggest moves or cells"},
    {"square:9", "", F9 "move_time:f4:6 move_stats:i4:6,7 movers:Os:6 posed:b1:6",
     SQ9 "move_time=copy move_stats=copy movers=copy posed=copy N=6"},
    {"square:9", "", F9 "move_numbers:i4:6 total_game_moves:i4:6 move_types:Os:6 ply:i4:6",
     SQ9 "move_numbers=copy total_game_moves=copy move_types=copy ply=copy N=6"},
    {"square:9", "", F9 "symaug_source:i8:6 symaug_transform:u1:6",
     SQ9 "symaug_source=copy symaug_transform=copy N=6"},
    {"square:9", "", F9 "flat:i4:40", "!more integers than rows"},
    {"square:9", "", F9 "flat:i4:5 flat2:f4:40", SQ9 "flat=meta flat2=meta N=6"},
    {"square:9", "", F9 "flat_offsets:i4:7", "!more integers than rows"},
    /* The number of rows. */
    {"square:9", "", "z:f4:7 features:f4:6,4,9,9", "!z|6 rows as in 'features', found 7"},
    {"square:9", "", "z:f4:6 policy:f4:7,81", "!z|7 rows as in 'policy', found 6"},
    {"square:9", "", "a:f4:6 b:f4:6,3", "a=copy b=copy N=6"},
    {"square:9", "", "a:f4:6 b:f4:7,3", "!'a' and 'b' differ|[rows]"},
    {"square:9", "", "a:f4=", "!no array has rows"},
    {"square:9", "", "", "!no array has rows"},
    {"square:9", "role:a=planes", "a:f4:6,4,9,9 b:f4:2", "a=planes(4,81,1) b=meta N=6"},
    {"square:9", "copy:a", "a:f4:3,9 b:f4:6,3 policy:f4:6,81",
     "a=meta b=copy policy=policy(1,81,1)@cells/81 N=6"},
    /* Few rows, no rows, as many rows as cells. */
    {"square:9", "", "features:f4:1,4,9,9 policy:f4:1,81 extra:f4:1,3 step:i8:1 m:f4:2",
     "features=planes(4,81,1) policy=policy(1,81,1)@cells/81 extra=copy step=copy m=meta N=1"},
    {"square:9", "", "features:f4:1,4,9,9 extra:f4:1,9,9", "!extra"},
    {"square:9", "", "features:f4:0,4,9,9 policy:f4:0,81 values:f4:0 extra:f4:0 g:f4:0,20",
     "features=planes(4,81,1) policy=policy(1,81,1)@cells/81 values=value extra=copy g=copy N=0"},
    {"square:9", "", "features:f4:0,4,9,9 policy_indices:O:0 policy_values:O:0",
     "features=planes(4,81,1) policy_indices=policy-index:object(1,2,-)@cells/81 "
     "policy_values=policy-value:object(1,2,-) N=0"},
    {"square:9", "", "features:f4:81,4,9,9 policy:f4:81,81 values:f4:81 extra:f4:81 e:f4:81,9",
     "features=planes(4,81,1) policy=policy(1,81,1)@cells/81 values=value extra=copy e=copy N=81"},
    {"square:9", "", "features:f4:9,4,9,9 extra:f4:9,9", "features=planes(4,81,1) extra=copy N=9"},
    {"square:9", "", "features:f4:9,4,9,9 state:f4:9,9,9",
     "features=planes(4,81,1) state=grid(1,81,1) N=9"},
    {"square:9", "", F9 "big:f4:6,4294967296,4294967296,0", SQ9 "big=copy N=6"},
    {"square:9", "copy:gf", "gf:f4:3,9 ply:i4:6 b:f4:6", "gf=meta ply=copy b=copy N=6"},
    {"square:9", "role:c=meta", "c:f4:3 a:f4:6 b:f4:6", "c=meta a=copy b=copy N=6"},
};

/* Every name of the list, alone in its shard. */
static const struct {
    const char *names;
    const char *array; /* dtype and shape */
    const char *expected;
} name_tests[] = {
    {"features feature states state boards board obs observations observation planes board_planes "
     "bf X x inputs",
     "f4:6,3,9,9", "planes(3,81,1)"},
    {"binaryInputNCHWPacked", "u1:6,3,11", "packed(3,81,1)"},
    {"policy policies pi pis policy_targets pt visits visit_counts probs mcts_probs "
     "policyTargetsNCMove",
     "f4:6,82", "policy(1,82,1)@cells+pass/82"},
    {"legal legal_mask legal_moves legals_mask action_mask action_masks mask", "b1:6,82",
     "mask(1,82,1)@cells+pass/82"},
    {"move moves move_index move_indices actions position", "i4:6", "action@cells/81"},
    {"value values v z zs outcome outcomes result results value_targets vt", "f4:6", "value"},
    {"values_mp", "f4:6,4", "value"},
    {"wdl wls", "f4:6,3", "wdl"},
    {"player players player_to_move current_player current_players to_play turn "
     "turns side_to_move player_numbers",
     "i1:6", "to-move"},
    {"winner winners", "i1:6", "to-move:winner"},
    {"q_values action_values", "f4:6,82", "action-values(1,82,1)@cells+pass/82"},
    {"last_move last_moves", "i4:6,2", "coord"},
    {"globals gf weights sample_weights ply move_numbers game_id game_ids total_game_moves phases "
     "num_players heuristics scores final_score",
     "i4:6", "copy"},
};

static const struct role_test katago_tests[] = {
    {"katago:9", "",
     "binaryInputNCHWPacked:u1:6,22,11 globalInputNC:f4:6,19 policyTargetsNCMove:i2:6,2,82 "
     "globalTargetsNC:f4:6,80 scoreDistrN:i1:6,282 valueTargetsNCHW:i1:6,5,9,9 "
     "qValueTargetsNCMove:i2:6,3,82 metadataInputNC:f4:6,192",
     "binaryInputNCHWPacked=packed(22,81,1) globalInputNC=copy "
     "policyTargetsNCMove=policy(2,82,1)@cells+pass/82 globalTargetsNC=copy scoreDistrN=copy "
     "valueTargetsNCHW=planes(5,81,1) qValueTargetsNCMove=action-values(3,82,1)@cells+pass/82 "
     "metadataInputNC=copy N=6"},
};

#define KATAGO8                                                                      \
    "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 " \
    "scoreDistrN:i1:6,248 "
#define KATAGO8_TARGETS "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8 "
#define KATAGO8_ROLES                                                                \
    "binaryInputNCHWPacked=packed(22,64,1) globalInputNC=copy globalTargetsNC=copy " \
    "scoreDistrN=copy policyTargetsNCMove=policy(2,65,1)@cells+pass/65 "             \
    "valueTargetsNCHW=planes(5,64,1) "

static const struct role_test katago_set_tests[] = {
    {"katago:8", "", KATAGO8 KATAGO8_TARGETS, KATAGO8_ROLES "N=6"},
    {"katago:8", "", KATAGO8 KATAGO8_TARGETS "extra:f4:6", "!extra|not a member of a KataGo shard"},
    {"katago:8", "", KATAGO8 KATAGO8_TARGETS "step:i8=", "!step|not a member of a KataGo shard"},
    {"katago:8", "copy:extra", KATAGO8 KATAGO8_TARGETS "extra:f4:6",
     KATAGO8_ROLES "extra=copy N=6"},
    {"katago:8", "", KATAGO8 "valueTargetsNCHW:i1:6,5,8,8",
     "!expected an array policyTargetsNCMove"},
    {"katago:8", "", KATAGO8 "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,9,9",
     "!valueTargetsNCHW"},
    {"katago:8", "", KATAGO8 "policyTargetsNCMove:i2:6,2,64 valueTargetsNCHW:i1:6,5,8,8",
     "!an action per cell and a pass"},
    {"katago:8", "", KATAGO8 "policyTargetsNCMove:i2:5,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!policyTargetsNCMove|[rows]"},
    {"katago:8", "", KATAGO8 "policyTargetsNCMove:f4:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!policyTargetsNCMove|expected dtype i2 and 3 dimensions, the second one 2"},
    {"katago:9", "", KATAGO8 "policyTargetsNCMove:i2:6,2,82 valueTargetsNCHW:i1:6,5,9,9",
     "!binaryInputNCHWPacked|(N, C, 11)"},
    /* Each member must be there, and be what the reader expects. */
    {"katago:8", "",
     "globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 scoreDistrN:i1:6,248 "
     "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!expected an array binaryInputNCHWPacked"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalTargetsNC:f4:6,64 scoreDistrN:i1:6,248 "
     "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!expected an array globalInputNC"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 scoreDistrN:i1:6,248 "
     "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!expected an array globalTargetsNC"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!expected an array scoreDistrN"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6,248 valueTargetsNCHW:i1:6,5,8,8",
     "!expected an array policyTargetsNCMove"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6,248 policyTargetsNCMove:i2:6,2,65",
     "!expected an array valueTargetsNCHW"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:f4:6,248 policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!: scoreDistrN: |expected dtype"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6 policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!: scoreDistrN: |expected dtype"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f8:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6,248 policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!: globalInputNC: |expected dtype"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,21,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6,248 policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,8",
     "!: binaryInputNCHWPacked: |expected dtype"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6,248 policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,4,8,8",
     "!: valueTargetsNCHW: |expected dtype"},
    {"katago:8", "",
     "binaryInputNCHWPacked:u1:6,22,8 globalInputNC:f4:6,19 globalTargetsNC:f4:6,64 "
     "scoreDistrN:i1:6,248 policyTargetsNCMove:i2:6,65 valueTargetsNCHW:i1:6,5,8,8",
     "!: policyTargetsNCMove: |expected dtype"},
};

/* The shards of the published exporters. */
#define RINGRIFT_NOTES                                                                        \
    "board_size:i8=9 history_length:i8=3 feature_version:i8=2 policy_encoding:U=board_aware " \
    "encoder_version:U=v3 in_channels:i8=40 export_version:U=2.1 "
#define NOTES_META                                                                   \
    "board_size=meta history_length=meta feature_version=meta policy_encoding=meta " \
    "encoder_version=meta in_channels=meta export_version=meta "

static const struct role_test system_tests[] = {
    {"hex8", "",
     "features:f4:388,40,9,9 globals:f4:388,20 values:f4:388 values_mp:f4:388,4 "
     "policy_indices:On:388,1 policy_values:Od:388,1 move_numbers:i4:388 total_game_moves:i4:388 "
     "phases:Os:388 num_players:i4:388 player_numbers:i4:388 game_ids:Os:388 move_types:Os:388 "
     "board_type:U=hex8 " RINGRIFT_NOTES,
     "features=planes(40,81,1) globals=copy values=value values_mp=value "
     "policy_indices=policy-index:object(4,5,-)@ringrift/4132 "
     "policy_values=policy-value:object(4,5,-) move_numbers=copy total_game_moves=copy phases=copy "
     "num_players=copy player_numbers=to-move game_ids=copy move_types=copy "
     "board_type=meta " NOTES_META "N=388"},
    {"square8", "",
     "features:f4:363,56,8,8 policy_indices:Oi:363 policy_values:Of:363 victory_types:Os:363 "
     "engine_modes:Os:363 opponent_elo:f4:363 generator_elo:f4:363 quality_score:f4:363 "
     "opponent_types:Os:363 encoder_type:U=square_v2 policy_size:i8=7000 max_policy_index:i8=6156 "
     "policies_normalized:b1=1 spatial_size:i8=8 metadata:O= data_checksums:U={} " RINGRIFT_NOTES,
     "features=planes(56,64,1)+xy policy_indices=policy-index:object(1,2,-)@ringrift/7000 "
     "policy_values=policy-value:object(1,2,-) victory_types=copy engine_modes=copy "
     "opponent_elo=copy generator_elo=copy quality_score=copy opponent_types=copy "
     "encoder_type=meta policy_size=meta max_policy_index=meta policies_normalized=meta "
     "spatial_size=meta metadata=meta data_checksums=drop " NOTES_META "N=363"},
    {"gomoku15", "",
     "state:f4:12,5,15,15 policy:f4:12,225 value:f4:12 last_move:i4:12,2 current_player:i1:12",
     "state=planes(5,225,1) policy=policy(1,225,1)@cells/225 value=value last_move=coord "
     "current_player=to-move N=12"},
    {"hex13", "",
     "boards:f4:64,3,13,13 policy:f4:64,169 value:f4:64 player_to_move:i1:64 ply:i4:64 "
     "sym_id:i4:64 "
     "src_index:i4:64",
     "boards=planes(3,169,1) policy=policy(1,169,1)@cells/169 value=value player_to_move=to-move "
     "ply=copy sym_id=copy src_index=copy N=64"},
};

static void append(char **at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *at += vsprintf(*at, format, args);
    va_end(args);
}

static void append_part(char **at, int array)
{
    if (array < 0)
        append(at, "-");
    else
        append(at, "%d", array);
}

static void describe(const struct role_binding *b, char **at)
{
    static const char *const forms[] = {"", ":object", ":padded", ":csr"};

    append(at, "%s%s", role_name(b->role), forms[b->sparse]);
    if (b->sparse != SPARSE_NONE) {
        append(at, "(");
        append_part(at, b->index_array);
        append(at, ",");
        append_part(at, b->value_array);
        append(at, ",");
        append_part(at, b->offsets_array);
        append(at, ")");
    }
    if (b->axes.axis > 0)
        append(at, "(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", b->axes.outer, b->axes.axis,
               b->axes.inner);
    if (b->layout != NULL && b->role != ROLE_POLICY_VALUE && b->role != ROLE_POLICY_OFFSETS)
        append(at, "@%s", b->layout->name);
    if (b->layout != NULL &&
        (b->role == ROLE_POLICY || b->role == ROLE_MASK || b->role == ROLE_ACTION_VALUES ||
         b->role == ROLE_POLICY_INDEX || b->role == ROLE_ACTION))
        append(at, "/%" PRIu64, b->n_actions);
    append(at, "%s%s%s%s", b->plane_xy ? "+xy" : "", b->takeiteasy_grid ? "+5x5" : "",
           b->options & ROLE_LSB ? "+lsb" : "",
           b->options & ROLE_COLROW   ? ":colrow"
           : b->options & ROLE_WINNER ? ":winner"
                                      : "");
}

/* True when every '|'-separated part occurs in the message. */
static bool contains_all(const char *message, const char *parts)
{
    char *copy = strdup(parts), *rest = copy, *part;
    bool all = true;

    while ((part = strsep(&rest, "|")) != NULL)
        all = all && strstr(message, part) != NULL;
    free(copy);
    return all;
}

static void run(const struct role_test *t)
{
    static struct role_binding bindings[SHARD_MAX_ARRAYS];
    struct role_request request = ROLE_REQUEST_INIT;
    struct shard *s = shard_new(t->arrays);
    struct error err = {0};
    struct board *board = board_new(t->board, &err);
    char found[4096] = "", *at = found;
    uint64_t n_rows = 0;

    if (board == NULL || shard_request(t->request, &request, &err) != 0)
        fail_msg("%s: %s", t->board, err.message);
    memset(bindings, 0x5a, sizeof bindings);
    if (role_infer(&s->archive, board, &request, bindings, &n_rows, NULL, &err) == 0) {
        for (size_t i = 0; i < s->archive.n_arrays; i++) {
            append(&at, "%s=", s->arrays[i].key);
            describe(&bindings[i], &at);
            append(&at, " ");
        }
        append(&at, "N=%" PRIu64, n_rows);
        if (strcmp(found, t->expected) != 0)
            fail_msg("%s [%s] %s\n  found    %s\n  expected %s", t->board, t->request, t->arrays,
                     found, t->expected);
    } else if (t->expected[0] != '!' || !contains_all(err.message, t->expected + 1)) {
        fail_msg("%s [%s] %s\n  found    %s\n  expected %s", t->board, t->request, t->arrays,
                 err.message, t->expected);
    } else {
        assert_true(err.kind == ERROR_DATA || err.kind == ERROR_USAGE);
    }
    role_request_release(&request);
    board_free(board);
    shard_free(s);
}

#define RUN_ALL(table)                                                \
    do {                                                              \
        for (size_t k = 0; k < sizeof(table) / sizeof(table)[0]; k++) \
            run(&(table)[k]);                                         \
    } while (0)

static void test_planes(void **state)
{
    (void)state;
    RUN_ALL(planes_tests);
}

static void test_policies(void **state)
{
    (void)state;
    RUN_ALL(policy_tests);
}

static void test_sparse(void **state)
{
    (void)state;
    RUN_ALL(sparse_tests);
}

static void test_labels(void **state)
{
    (void)state;
    RUN_ALL(label_tests);
}

static void test_others(void **state)
{
    (void)state;
    RUN_ALL(other_tests);
}

static void test_katago(void **state)
{
    (void)state;
    RUN_ALL(katago_tests);
    RUN_ALL(katago_set_tests);
}

static void test_systems(void **state)
{
    (void)state;
    RUN_ALL(system_tests);
}

static void test_every_name(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof name_tests / sizeof name_tests[0]; k++) {
        char *names = strdup(name_tests[k].names), *rest = names, *name;

        while ((name = strsep(&rest, " ")) != NULL) {
            char arrays[128], expected[128];

            snprintf(arrays, sizeof arrays, "%s:%s", name, name_tests[k].array);
            snprintf(expected, sizeof expected, "%s=%s N=6", name, name_tests[k].expected);
            run(&(struct role_test){"square:9", "", arrays, expected});
        }
        free(names);
    }
}

/* What --role refuses before any shard is looked at. */
static void test_request(void **state)
{
    static const char *const bad[] = {
        "",
        "features",
        "=planes",
        "features=",
        "features=plane",
        "features=planes:",
        "features=planes:colrow",
        "features=planes:nchw,",
        "features=planes:layout=cells",
        "m=coord:msb",
        "p=policy:layout=",
        "p=policy:layout=a,layout=b",
        "p=copy:x",
        "p=Policy",
    };

    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct role_request request = ROLE_REQUEST_INIT;
        struct error err = {0};

        if (role_request_add(&request, bad[k], &err) == 0)
            fail_msg("accepted '%s'", bad[k]);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_int_equal(request.n_overrides, 0);
        role_request_release(&request);
    }
}

static void test_request_options(void **state)
{
    struct role_request request = ROLE_REQUEST_INIT;
    struct error err = {0};
    const struct role_override *o;

    (void)state;
    assert_int_equal(role_request_add(&request, "a:b=planes:nhwc", &err), 0);
    assert_int_equal(role_request_add(&request, "p=policy-index:layout=chess-4672", &err), 0);
    assert_int_equal(role_request_add(&request, "q=packed:msb,lsb", &err), 0);
    assert_int_equal(role_request_add_spec(&request, "a=b:c", "copy", &err), 0);
    assert_int_equal(role_request_add(&request, "a=b=policy:layout=cells", &err), 0);
    o = request.overrides;
    assert_string_equal(o[4].array, "a=b");
    assert_int_equal(o[4].role, ROLE_POLICY);
    assert_string_equal(o[4].layout, "cells");
    assert_string_equal(o[0].array, "a:b");
    assert_int_equal(o[0].role, ROLE_PLANES);
    assert_int_equal(o[0].options, ROLE_NHWC);
    assert_null(o[0].layout);
    assert_string_equal(o[1].layout, "chess-4672");
    assert_int_equal(o[2].options, ROLE_LSB);
    assert_string_equal(o[3].array, "a=b:c");
    assert_int_equal(o[3].role, ROLE_COPY);
    role_request_release(&request);
    assert_int_equal(request.n_overrides, 0);
    role_request_release(&request);
}

/* Each role has one row, with a name of its own. */
static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROLE_N_KINDS; i++) {
        assert_non_null(role_kinds[i].name);
        assert_string_equal(role_name((enum role)i), role_kinds[i].name);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(role_kinds[i].name, role_kinds[k].name);
    }
}

static void test_inferred_or_told(void **state)
{
    struct shard *s = shard_new(F9 "policy:f4:6,81 extra:f4:6");
    struct role_request request = ROLE_REQUEST_INIT;
    struct role_binding bindings[3];
    struct error err = {0};
    struct board *board = board_new("square:9", &err);
    uint64_t n_rows;

    (void)state;
    assert_int_equal(role_request_add_spec(&request, "policy", "copy", &err), 0);
    assert_int_equal(role_infer(&s->archive, board, &request, bindings, &n_rows, NULL, &err), 0);
    assert_true(bindings[0].inferred);
    assert_false(bindings[1].inferred);
    assert_true(bindings[2].inferred);
    role_request_release(&request);
    board_free(board);
    shard_free(s);
}

static void test_objects_must_be_loaded(void **state)
{
    struct shard *s = shard_new(F9 "policy_indices:Oi:6 policy_values:Of:6");
    struct role_request request = ROLE_REQUEST_INIT;
    struct role_binding bindings[3];
    struct error err = {0};
    struct board *board = board_new("square:9", &err);
    uint64_t n_rows;

    (void)state;
    s->arrays[2].objects = NULL;
    assert_int_equal(role_infer(&s->archive, board, &request, bindings, &n_rows, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERNAL);
    board_free(board);
    shard_free(s);
}

static void test_guess(void **state)
{
    static const struct {
        const char *arrays;
        const char *said;   /* by role_guess_board, or NULL */
        const char *board;  /* by shape, or "" */
        const char *reason; /* a part of it */
    } cases[] = {
        {"board_type:U=hex8", "hex8", "hex8", "says so"},
        {"board_type:U=hexagonal x:f4:6,3,9,9", "hexagonal", "hexagonal", ""},
        {"board_type:U=square19", "square19", "square19", ""},
        {"board_type:U=file:/etc/passwd", NULL, "", "no planes"},
        {"board_type:U=hexagon:4", NULL, "", "no planes"},
        {"board_type:i8=8", NULL, "", "no planes"},
        {KATAGO8 KATAGO8_TARGETS, "katago:8", "katago:8", ""},
        {KATAGO8 KATAGO8_TARGETS "extra:f4:6", NULL, "square:8", ""},
        {KATAGO8 "policyTargetsNCMove:i2:6,2,65 valueTargetsNCHW:i1:6,5,8,9", NULL, "", ""},
        {"features:f4:6,64,9,9 policy:f4:6,4132", NULL, "hex8", "9 x 9, policy of 4132"},
        {"features:f4:6,64,9,9 policy:f4:6,4500", NULL, "hex8", ""},
        {"features:f4:6,64,9,9 policy_size:i8=4500", NULL, "hex8", ""},
        {"features:f4:6,64,25,25 policy:f4:6,91876", NULL, "hexagonal", ""},
        {"features:f4:6,56,8,8 policy_size:i8=7000", NULL, "square8", ""},
        {"features:f4:6,56,19,19 policy:f4:6,67000", NULL, "square19", ""},
        {"state:f4:6,5,15,15 policy:f4:6,225", NULL, "gomoku15", "15 x 15"},
        {"states:f4:6,3,6,7 policies:f4:6,7", NULL, "connect4", ""},
        {"states:f4:6,6,7,3", NULL, "connect4", ""},
        {"states:f4:6,25,8,8 pi:f4:6,73,8,8", NULL, "chess", "4672"},
        {"states:f4:6,3,3,3", NULL, "tictactoe", ""},
        {"x:f4:6,3,13,13 policy:f4:6,169", NULL, "", ": one of square:13, rhombus:13"},
        {"x:f4:6,17,19,19 policy:f4:6,362", NULL, "square:19", ""},
        {"x:f4:6,19,19,17 policy:f4:6,19,19", NULL, "square:19", "17 planes"},
        {"x:f4:6,4,9,9", NULL, "", "square:9, hexagon:4"},
        {"x:f4:6,4,9,9 policy:f4:6,77", NULL, "", "no board known"},
        {"x:f4:6,3,4,5", NULL, "", "mirror:4x5, grid:4x5"},
        {"x:f4:6,64,9,9 policy_encoding:U=board_aware", NULL, "hex8", ""},
        {"x:f4:6,64,8,8 policy_encoding:U=board_aware", NULL, "square8", ""},
        {"x:f4:6,64,8,8 policy_encoding:U=legacy policy:f4:6,64", NULL, "square:8", ""},
        {"plateau:i4:6,19", NULL, "takeiteasy", ""},
        {"a:f4:6", NULL, "", "no planes"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct shard *s = shard_new(cases[k].arrays);
        struct role_guess guess;
        char name[64];
        int said = role_guess_board(&s->archive, name, sizeof name);
        int shape = role_guess_board_by_shape(&s->archive, &guess);

        if (said != (cases[k].said == NULL ? -1 : 0) ||
            (said == 0 && strcmp(name, cases[k].said) != 0))
            fail_msg("%s: said '%s'", cases[k].arrays, name);
        if (strcmp(guess.board, cases[k].board) != 0 || shape != (guess.board[0] ? 0 : -1) ||
            strstr(guess.reason, cases[k].reason) == NULL)
            fail_msg("%s: guessed '%s', %s", cases[k].arrays, guess.board, guess.reason);
        shard_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_request_options),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_every_name),
        cmocka_unit_test(test_katago),
        cmocka_unit_test(test_systems),
        cmocka_unit_test(test_inferred_or_told),
        cmocka_unit_test(test_objects_must_be_loaded),
        cmocka_unit_test(test_guess),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
