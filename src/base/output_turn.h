/*
 * output_turn.h - writers of one folder that change names in it one after the other.
 *
 * Where a target is more than one file (an output and its manifest), writers of the same target
 * that exchanged their files in between would leave the one's beside the other's.
 */
#ifndef SYMAUG_BASE_OUTPUT_TURN_H
#define SYMAUG_BASE_OUTPUT_TURN_H

/*
 * Wait until no other writer has its turn in the folder that path lies in, ten seconds at most; the
 * bytes should be on the disk by then, so that a turn is short. Only a help: on file systems
 * without locks, and where somebody does not come to an end, it is one's turn at once or then.
 */
int output_turn_take(const char *path);

/* The turn that output_turn_take returned is over. */
void output_turn_end(int turn);

#endif
