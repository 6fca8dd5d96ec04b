/* fuzz_verify.c - `verify` of whole shards. The first byte chooses the board. */
#include "base/budget.h"
#include "fuzz.h"
#include "verify/verify.h"

static const char *const boards[] = {NULL, "square:9", "hex8", "hex13", "chess", "katago"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct budget budget = {64u << 20, "/tmp"};
    struct settings settings = settings_default;
    const struct verify_request request = {.settings = &settings};
    struct verify_results results = {0};
    struct error err = {0};
    int status;

    if (n_bytes == 0)
        return 0;
    settings.max_memory = budget.left;
    settings.budget = &budget;
    settings.max_findings = 10;
    settings.n_threads = 1;
    settings.board = boards[bytes[0] % (sizeof boards / sizeof *boards)];
    status = verify_path(&request, fuzz_file(bytes + 1, n_bytes - 1), &results, &err);
    fuzz_check_error(status, &err);
    verify_results_release(&results);
    return 0;
}
