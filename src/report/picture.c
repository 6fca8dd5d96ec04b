/*
 * picture.c - what `show` draws of the first row of a finding. Of an expanded set those are the
 * images of its source that are stored, with red rings where they are not what is computed: the
 * source's own, and the one in question. Else it is the row itself.
 */
#include "report/page.h"

#include "base/text.h"
#include "report/located.h"

#include <stdio.h>

/* Its pictures are for looking at one finding each: beyond this a page has enough of them. */
#define MAX_PAGE_NBYTES (UINT64_C(2) << 20)

/* The ids of the transforms to draw: the first stored one and that of the row; "0" of others. */
static int choose_images(const struct located *located, uint64_t row, char *list, size_t n_bytes)
{
    const struct verify_located *images = &located->images;

    if (images->n == 0)
        return snprintf(list, n_bytes, "0");
    for (size_t k = 1; k < images->n; k++)
        if (images->images[k].row == row)
            return snprintf(list, n_bytes, "%u,%u", images->images[0].transform,
                            images->images[k].transform);
    return images->n > 1 ? snprintf(list, n_bytes, "%u,%u", images->images[0].transform,
                                    images->images[1].transform)
                         : snprintf(list, n_bytes, "%u", images->images[0].transform);
}

void page_put_picture(struct page *p, const struct verify_result *result,
                      const struct finding *finding)
{
    const uint64_t row = finding->row != FINDING_NO_ROW ? finding->row : 0;
    struct svg_place place = {.name = finding_code_name(finding->code)};
    struct located located;
    struct error why = {0};
    struct sheet sheet;
    char prefix[64], list[32];
    int status;

    if (p->out->n_bytes > MAX_PAGE_NBYTES || result->fatal != ERROR_NONE ||
        (finding->row == FINDING_NO_ROW && !result->is_expanded))
        return;
    snprintf(prefix, sizeof prefix, "p%zu-%s-", p->set->number, place.name);
    place.prefix = prefix;
    status = located_open(&located, p->set->request->settings, result->path, row, &why);
    if (status == 0) {
        choose_images(&located, row, list, sizeof list);
        located.settings.transforms = list;
        status = located_sheet(&located, &sheet, &why);
        if (status == 0) {
            page_put(p, "<figure>");
            if (!p->failed && svg_write(&sheet, &place, p->out, p->err) != 0)
                p->failed = true;
            page_put(p, "</figure>\n");
            sheet_release(&sheet);
        }
        located_close(&located);
    }
    /* A row that cannot be drawn has its words. */
    if (status != 0 && why.kind == ERROR_INTERNAL)
        p->failed = error_pass(p->err, &why) != 0;
}
