"""What the executors of MSCCL algorithms can take, as their sources say: facts, which writer and judge both go by.

Sources: microsoft/msccl (`src/include/msccl.h`, `src/graph/topo.cc`) and Azure/msccl-executor-nccl, which RCCL shares
(`src/include/msccl/msccl_struct.h`, `msccl_parser.h`, `src/misc/msccl/msccl_parser.cc`).
"""

from __future__ import annotations

MAX_STEPS = 256
"""Of a threadblock (`MSCCL_MAX_NUM_STEPS`)."""
MAX_PEERS_PER_CHANNEL = 32
"""Threadblocks of a rank that send, and as many that receive, on one channel."""
MAX_CHANNELS = 32
"""Of an algorithm (`MAXCHANNELS`)."""
MAX_COUNT = 71
"""Of the pieces that one step moves (`MSCCL_MAX_COUNT` is 72, and stays out of reach)."""
MAX_AWAITED_ID = 127
"""The number of a threadblock that others wait for is kept in a signed byte."""
MAX_OFFSET = 2**15 - 1
"""Offsets are kept in 16 bits with a sign."""
MAX_PARSED_ELEMENTS = 4096
"""Elements that one rank's parser keeps: the algorithm, every gpu, its own threadblocks and steps."""
MAX_CHILDREN = 1024
"""Of any element."""
MAX_FILE_STEPS = 400_000
"""Of all ranks together: no executor's limit, but what ``themis-opt validate`` reads of one file."""
