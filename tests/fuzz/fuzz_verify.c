/* fuzz_verify.c - `verify` of whole shards. The first byte chooses the board. */
#include "fuzz.h"
#include "verify/verify.h"

static const char *const boards[] = {NULL, "square:9", "hex8", "hex13", "chess", "katago"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct plan_request reading = {
        .roles = ROLE_REQUEST_INIT,
        .conventions = {.planes = PLANES_COLOUR,
                        .value = VALUE_COLOUR01,
                        .to_move = TO_MOVE_01,
                        .to_move_plane = -1},
        .block_rows = 16,
        .use_map = true,
        .max_memory = 64u << 20,
    };
    const struct verify_request request = {.reading = &reading, .max_findings = 10, .n_threads = 1};
    struct verify_results results = {0};
    struct error err = {0};
    int status;

    if (n_bytes == 0)
        return 0;
    reading.board = boards[bytes[0] % (sizeof boards / sizeof *boards)];
    status = verify_path(&request, fuzz_file(bytes + 1, n_bytes - 1), &results, &err);
    fuzz_check_error(status, &err);
    verify_results_release(&results);
    return 0;
}
