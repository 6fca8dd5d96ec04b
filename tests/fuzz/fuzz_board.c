/* fuzz_board.c - board files: what is accepted is a group, and can be reported on. */
#include "board/board.h"
#include "board/group.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct error err = {0};
    char name[96];
    struct board *board;

    snprintf(name, sizeof name, "file:%s", fuzz_file(bytes, n_bytes));
    board = board_new(name, &err);
    fuzz_check_error(board == NULL ? -1 : 0, &err);
    board_free(board);
    return 0;
}
