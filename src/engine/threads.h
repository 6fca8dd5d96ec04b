/*
 * threads.h - how many threads there are, and which of them runs: OpenMP's answers, or one thread
 * in a build without OpenMP.
 */
#ifndef SYMAUG_ENGINE_THREADS_H
#define SYMAUG_ENGINE_THREADS_H

/* Usable processors (affinity and OMP_NUM_THREADS count); at least 1. */
int threads_usable(void);

/* The calling thread's index within its team; 0 outside parallel work. */
int threads_index(void);

/* "OpenMP 4.5" or "no OpenMP": for --version. */
const char *threads_library(void);

#endif
