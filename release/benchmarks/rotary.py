"""Measure rotating queries and keys beside other libraries, in one process.

    python -m release.benchmarks.rotary [--rounds 12] [--modes eager compiled]

Each row is the least time of interleaved rounds, for q and k together: in milliseconds, as a ratio to that of our
rotation in the same layout (above 1 the other is slower), and to that of a copy. Peers that are not installed are left
out and named. Results also go to _build/report/rotary.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution, version

import torch
from torch import Tensor

from posenc.frequencies import angles, inv_freq
from posenc.rope import Rope
from posenc.rotary import LAYOUTS, CosSin, Layout, rotate
from release.benchmarks.results import save

SHAPES = [(1, 32, 2048, 128), (8, 8, 512, 64), (1, 8, 1, 128)]  # (batch, heads, length, head_dim); the last decodes
DTYPES = [torch.float32, torch.bfloat16]
MODES = ("eager", "compiled")
Rotation = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def cos_sin_of(q: Tensor) -> CosSin:
    """Of positions 0, 1, …, in the precision in which they are used."""
    dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    return Rope(q.shape[-1]).cos_sin(length=q.shape[-2], like=q, dtype=dtype)


def ours(q: Tensor, layout: Layout) -> Rotation:
    """Our rotation by cosines and sines made once."""
    cos_sin = cos_sin_of(q)
    return lambda q, k: (rotate(q, cos_sin, layout), rotate(k, cos_sin, layout))


def into_kept_memory(q: Tensor, layout: Layout) -> Rotation:
    """Ours with `out`, forward alone: memory is asked for once."""
    cos_sin = cos_sin_of(q)
    out = torch.empty(q.shape, dtype=q.dtype), torch.empty(q.shape, dtype=q.dtype)

    def both(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        q, k = (rotate(x.detach(), cos_sin, layout, out=place) for x, place in zip((q, k), out, strict=True))
        return q, k

    return both


def transformers(q: Tensor) -> Rotation:
    """Hugging Face: half-split layout, cosines and sines of full width in the model's dtype."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    length, head_dim = q.shape[-2:]
    config = LlamaConfig(hidden_size=head_dim, num_attention_heads=1, head_dim=head_dim)
    cos, sin = LlamaRotaryEmbedding(config)(q, torch.arange(length)[None])
    return lambda q, k: apply_rotary_pos_emb(q, k, cos, sin)


def rotary_embedding_torch(q: Tensor) -> Rotation:
    """Interleaved; angles are kept, their cosines are not."""
    from rotary_embedding_torch import RotaryEmbedding

    rotary = RotaryEmbedding(q.shape[-1], cache_max_seq_len=q.shape[-2])
    return lambda q, k: (rotary.rotate_queries_or_keys(q), rotary.rotate_queries_or_keys(k))


def x_transformers(q: Tensor) -> Rotation:
    """Interleaved; angles are kept, their cosines are not."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    frequencies, scale = RotaryEmbedding(q.shape[-1]).forward_from_seq_len(q.shape[-2])
    return lambda q, k: (apply_rotary_pos_emb(q, frequencies, scale), apply_rotary_pos_emb(k, frequencies, scale))


def torchtune(q: Tensor) -> Rotation:
    """Interleaved, for (batch, length, heads, head_dim). Its one file is loaded: the package needs an older torchao."""
    found = distribution("torchtune").locate_file("torchtune/modules/position_embeddings.py")
    specification = importlib.util.spec_from_file_location("torchtune_position_embeddings", str(found))
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # torch.compile looks it up
    specification.loader.exec_module(module)
    rotary = module.RotaryPositionalEmbeddings(q.shape[-1], max_seq_len=q.shape[-2])
    return lambda q, k: (rotary(q.transpose(1, 2)).transpose(1, 2), rotary(k.transpose(1, 2)).transpose(1, 2))


def onnxruntime(layout: str) -> Callable[[Tensor], Rotation | None]:
    """The operator RotaryEmbedding of ONNX, on the processor: float32, forward alone, into memory that it keeps."""

    def make(q: Tensor) -> Rotation | None:
        if q.dtype != torch.float32:
            return None
        import onnx
        from onnxruntime import InferenceSession, SessionOptions

        shapes = {"q": q.shape, "cos": (q.shape[-2], q.shape[-1] // 2), "sin": (q.shape[-2], q.shape[-1] // 2)}
        kinds = dict.fromkeys(shapes, onnx.TensorProto.FLOAT) | {"positions": onnx.TensorProto.INT64}
        shapes["positions"] = (q.shape[0], q.shape[-2])
        node = onnx.helper.make_node("RotaryEmbedding", list(kinds), ["turned"], interleaved=layout == "interleaved")
        inputs = [onnx.helper.make_tensor_value_info(name, kind, shapes[name]) for name, kind in kinds.items()]
        output = onnx.helper.make_tensor_value_info("turned", onnx.TensorProto.FLOAT, q.shape)
        graph = onnx.helper.make_graph([node], "rotation", inputs, [output])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23)], ir_version=10)
        options = SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        turned = angles(torch.arange(q.shape[-2]), inv_freq(q.shape[-1], like=q))
        at = torch.arange(q.shape[-2]).expand(q.shape[:1] + q.shape[-2:-1])
        rest = {"cos": turned.cos().float().numpy(), "sin": turned.sin().float().numpy(), "positions": at.numpy()}

        def one(x: Tensor) -> Tensor:
            return torch.from_numpy(session.run(None, {"q": x.detach().numpy(), **rest})[0])

        return lambda q, k: (one(q), one(k))

    return make


PEERS = {
    "transformers": (transformers, "half-split"),
    "rotary-embedding-torch": (rotary_embedding_torch, "interleaved"),
    "x-transformers": (x_transformers, "interleaved"),
    "torchtune": (torchtune, "interleaved"),
    "onnxruntime": (onnxruntime("half-split"), "half-split"),
    "onnxruntime, interleaved": (onnxruntime("interleaved"), "interleaved"),
}
KEPT: dict[str, Layout] = {  # ours with out=
    "ours, interleaved, kept memory": "interleaved",
    "ours, half-split, kept memory": "half-split",
}
FORWARD_ONLY = {"onnxruntime", "onnxruntime, interleaved", *KEPT}  # no gradients, and nothing to compile


def candidates(q: Tensor) -> dict[str, tuple[Rotation, str]]:
    """Every rotation to measure, and the layout of ours that it is compared with."""
    found: dict[str, tuple[Rotation, str]] = {
        "ours, interleaved": (ours(q, "interleaved"), "interleaved"),
        "ours, half-split": (ours(q, "half-split"), "half-split"),
        **{name: (into_kept_memory(q, layout), layout) for name, layout in KEPT.items()},
        "copy": (lambda q, k: (q.clone(), k.clone()), "interleaved"),
    }
    for name, (make, layout) in PEERS.items():
        rotation = make(q) if _installed(name) else None
        if rotation is not None:
            found[name] = (rotation, layout)
    return found


def measure(rotations: dict[str, Rotation], q: Tensor, k: Tensor, rounds: int) -> dict[str, dict[str, float]]:
    """Least milliseconds of each rotation, forward alone and forward and backward."""
    best = {name: {"forward": float("inf"), "forward and backward": float("inf")} for name in rotations}
    gradients = torch.ones_like(q), torch.ones_like(k)
    for _ in range(rounds):
        for name, rotation in rotations.items():
            with torch.no_grad():
                start = time.perf_counter()
                rotation(q, k)
                forward = time.perf_counter() - start
            best[name]["forward"] = min(best[name]["forward"], 1000 * forward)
            if name in FORWARD_ONLY:
                continue
            q.grad = k.grad = None
            start = time.perf_counter()
            torch.autograd.backward(rotation(q, k), gradients)
            both = time.perf_counter() - start
            best[name]["forward and backward"] = min(best[name]["forward and backward"], 1000 * both)
    return best


def check(rotations: dict[str, tuple[Rotation, str]], q: Tensor, k: Tensor) -> dict[str, float]:
    """The greatest difference of each from our rotation in float64."""
    exact = {layout: ours(q.double(), layout)(q.double(), k.double()) for layout in LAYOUTS}
    differences = {}
    for name, (rotation, layout) in rotations.items():
        if name != "copy":
            pairs = zip(rotation(q, k), exact[layout], strict=True)
            differences[name] = max(float((mine - wanted).abs().max()) for mine, wanted in pairs)
    return differences


def main() -> None:
    """Measure every row and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    given = parser.parse_args()
    rounds = given.rounds
    absent = [name for name in PEERS if not _installed(name)]
    print(f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    print(f"not installed, so left out: {', '.join(absent) or 'none'}\n")
    rows = []
    for mode in given.modes:
        for dtype in DTYPES:
            for shape in SHAPES:
                torch.manual_seed(0)
                q, k = (torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(2))
                found = candidates(q)
                difference = check(found, q.detach(), k.detach())
                rotations = {name: rotation for name, (rotation, _) in found.items()}
                if mode == "compiled":
                    rotations = {
                        name: rotation if name in FORWARD_ONLY else torch.compile(rotation, dynamic=False)
                        for name, rotation in rotations.items()
                    }
                times = measure(rotations, q, k, rounds if shape[-2] > 1 else 100 * rounds)
                print(
                    f"{mode}, {str(dtype).removeprefix('torch.')}, {shape}: forward, then forward and backward, in "
                    "milliseconds (ratio to ours, to a copy)"
                )
                for name, (_, layout) in found.items():
                    reference = times[f"ours, {layout}"]
                    cells = [
                        f"{times[name][kind]:10.3f} ({times[name][kind] / reference[kind]:5.2f}, "
                        f"{times[name][kind] / times['copy'][kind]:5.2f})"
                        for kind in reference
                    ]
                    error = f"{difference[name]:9.1e}" if name in difference else ""
                    print(f"  {name:31}{''.join(cells)}  greatest difference from float64 {error}")
                    row = {"mode": mode, "dtype": str(dtype), "shape": shape, "name": name, "layout": layout}
                    rows.append(row | times[name] | {"difference": difference.get(name)})
                torch.compiler.reset()
    save("rotary", rows)


def _installed(name: str) -> bool:
    try:
        version(name.partition(",")[0])
    except PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
