"""The batches of a Loader as a torch IterableDataset."""

import torch
from torch.utils.data import IterableDataset, get_worker_info


class Batches(IterableDataset):
    """See Loader.torch."""

    def __init__(self, loader):
        super().__init__()
        state = loader.state_dict()
        # Shared by the workers and the loader: epoch, batches given out before, and for each
        # worker whether it has come to the end.
        loader._shared = torch.tensor([state["epoch"], state["batch"], *[0] * 1024]).share_memory_()
        self._loader = loader

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        loader, worker = self._loader, get_worker_info()
        shared = loader._shared
        epoch, first = int(shared[0]), int(shared[1])
        if worker is None:
            loader.load_state_dict({"epoch": epoch, "batch": first})
            yield from loader
            loader.load_state_dict(loader.state_dict())
            return
        shared[2 + worker.id] = 0
        for batch in range(first + worker.id, len(loader), worker.num_workers):
            yield loader._make(epoch, batch)
        shared[2 + worker.id] = 1
        if int(shared[2:].sum()) == worker.num_workers:
            shared[1:] = 0
            shared[0] = epoch + 1
