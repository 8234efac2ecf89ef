"""Launch a small kernel through torch and check its result. Run by the engine's own interpreter."""

import json
import sys

try:
    import torch
except Exception as error:
    print(json.dumps({"ok": False, "stage": "import torch", "error": repr(error)[:200]}))
    sys.exit(3)
if not torch.cuda.is_available():
    print(json.dumps({"ok": False, "stage": "torch.cuda", "error": "torch sees no CUDA device"}))
    sys.exit(3)
values = torch.arange(4096, device="cuda", dtype=torch.float32)
for _ in range(3):
    out = values * 3.0
torch.cuda.synchronize()
right = bool((out.cpu() == torch.arange(4096, dtype=torch.float32) * 3.0).all())
name = torch.cuda.get_device_name(0)
print(json.dumps({"ok": right, "device": name, "kernel": "elementwise_kernel", "launches": 3}))
sys.exit(0 if right else 4)
