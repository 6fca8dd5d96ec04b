/* no_fsync.c - preloaded to leave the disk's own time out of a measurement. */
int fsync(int fd);
int fdatasync(int fd);

int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}
