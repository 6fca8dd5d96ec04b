/* threads.c - see threads.h. */
#include "engine/threads.h"

#ifdef _OPENMP
#include <omp.h>

int threads_usable(void)
{
    return omp_get_max_threads();
}

int threads_index(void)
{
    return omp_get_thread_num();
}

const char *threads_library(void)
{
    return _OPENMP >= 202011 ? "OpenMP 5.1" : _OPENMP >= 201811 ? "OpenMP 5.0" : "OpenMP 4.5";
}

#else

int threads_usable(void)
{
    return 1;
}

int threads_index(void)
{
    return 0;
}

const char *threads_library(void)
{
    return "no OpenMP";
}

#endif
