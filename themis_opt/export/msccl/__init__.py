"""MSCCL's XML algorithms: one side writes them, the other judges them."""
