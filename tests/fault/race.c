/* race.c - two threads write one variable: what ThreadSanitizer must find, or it finds nothing. */
#include <stdio.h>

int main(void)
{
    static long sum, ordered;

#pragma omp parallel for num_threads(8)
    for (long i = 0; i < 1000; i++)
        sum += i;
    ordered = sum; /* ordered by the barrier at the end of the loop: no race */
    printf("%ld\n", ordered);
    return 0;
}
