"""The forward pass in JavaScript, compared with the package's Transformer on a checkpoint of each encoding."""

from __future__ import annotations

import base64
import copy
import json

import numpy as np
import pytest
import torch
from safetensors.torch import save

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import most_negative_pairs
from posenc.lab.evaluate import BOUNDS, scaled, with_scheme
from posenc.lab.measured import shipped_folder, statistics
from posenc.lab.measurements import with_logit_factor, with_table
from posenc.lab.real import SINKS, Intervention
from posenc.lab.runs import Run
from posenc.lab.statistics import ClampedDistanceBias
from posenc.lab.store import load, shipped
from tests.js.node import JAVASCRIPT, ThrownError

pytestmark = pytest.mark.torch
TOLERANCE = 1e-3  # of log-probabilities, in nats
ONE_OF_EACH = list({Run.from_name(name).scheme: name for name in shipped()}.values())  # encodings
TEXT_ROTARY = "two_layers-text-rope_100-0", "two_layers-text-rope_10000-0"

# The forward passes of x.jobs, each of its tokens with its encoding, and what is read from each pass.
PASSES = """{
  const model = A.readModel(Uint8Array.from(Buffer.from(x.file, "base64")).buffer);
  const encodingOf = ({ table, scaling, rotation, clamp, more }) => {
    const trained = A.trainedEncoding(model, table), scaled = scaling && A.scaledFrequencies(...scaling);
    const rotated = trained.rotation && { ...trained.rotation, ...scaled, ...rotation };
    const encoding = { ...trained, ...more, rotation: rotated };
    return clamp ? A.withBias(encoding, A.clampedChange(clamp)) : encoding;
  };
  const passOf = (job) => {
    const pass = new A.ForwardPass(model, encodingOf(job), job.tokens.length);
    pass.append(job.tokens);
    pass.step();
    return pass;
  };
  const probabilities = (pass) => {
    const every = new Float32Array(pass.done * model.vocabulary);
    for (let t = 0; t < pass.done; t++) every.set(pass.logProbabilities(t), t * model.vocabulary);
    return every;
  };
  return READ;
}"""
LOG_PROBABILITIES = PASSES.replace("READ", "x.jobs.map((job) => probabilities(passOf(job)))")


@pytest.fixture
def transformer(module_of):
    return module_of("transformer.js", "transformer_encodings.js", "safetensors.js", "arithmetic_scaling.js")


def file_of(name):
    return base64.b64encode((shipped_folder() / f"{name}.safetensors").read_bytes()).decode()


def tokens_of(run, times, sequences=1):
    """The first sequences of the task's probe at some times the trained length."""
    return run.make_task().probe(times * run.settings.length, max(sequences, 2)).tokens[:sequences]


@torch.inference_mode()
def assert_log_probabilities(transformer, name, cases):
    """Each case is a model of the package, tokens, and the same encoding for JavaScript."""
    jobs = [{"tokens": row.tolist(), **job} for _, tokens, job in cases for row in tokens]
    found = transformer(LOG_PROBABILITIES, {"file": file_of(name), "jobs": jobs})
    expected = [row for model, tokens, _ in cases for row in model(tokens).log_softmax(dim=-1)]
    for values, row, job in zip(found, expected, jobs, strict=True):
        described = {key: value for key, value in job.items() if key != "tokens"}
        np.testing.assert_allclose(values, row.flatten(), atol=TOLERANCE, rtol=0, err_msg=f"{name} {described}")


def test_tensors_of_every_type_are_read(transformer):
    values = torch.tensor([[1.5, -2.0, 0.0], [3.0e-2, 7.0, -0.125]])
    dtypes = {"single": torch.float32, "half": torch.float16, "brain": torch.bfloat16}
    file = save({name: values.to(dtype) for name, dtype in dtypes.items()}, {"run": "a-b-c-0"})
    read = transformer(
        'A.readSafetensors(Uint8Array.from(Buffer.from(x, "base64")).buffer)', base64.b64encode(file).decode()
    )
    assert read["metadata"] == {"run": "a-b-c-0"}
    for name, dtype in dtypes.items():
        assert list(read["tensors"][name]["shape"]) == [2, 3]
        np.testing.assert_array_equal(np.ravel(read["tensors"][name]["data"]), values.to(dtype).float().flatten())
    integers = base64.b64encode(save({"whole": torch.arange(3)})).decode()
    with pytest.raises(ThrownError, match="whole must be one of F32, F16, BF16, got I64"):
        transformer('A.readSafetensors(Uint8Array.from(Buffer.from(x, "base64")).buffer)', integers)


@pytest.mark.parametrize("name", shipped())
def test_settings_are_those_of_the_package(name):
    assert (shipped_folder() / f"{name}.safetensors").stat().st_size <= 0.63e6
    known, run = json.loads((JAVASCRIPT / "transformer_runs.json").read_text("utf-8")), Run.from_name(name)
    profile, scheme = known["profiles"][run.profile], known["schemes"][run.scheme]
    assert profile == {"heads": run.settings.n_heads, "length": run.settings.length}
    kind, options = run.scheme_options
    assert run.causal
    assert scheme["kind"] == kind
    defaults = {"slopes": None, "base": 10_000.0}
    assert {key: options.get(key, defaults.get(key)) for key in scheme if key != "kind"} == {
        key: value for key, value in scheme.items() if key != "kind"
    }
    if kind == "t5":
        assert (options["max_distance"], options.get("num_buckets", 32)) == (128, 32)  # arithmetic_bias.js has these


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_log_probabilities_are_those_of_the_package(transformer, name):
    model, run = load(name)
    tokens = tokens_of(run, 2)
    if run.scheme == "learned":
        cases = [(model, tokens_of(run, 1), {})]
        for past_end, length in (("clamp", None), ("interpolate", tokens.shape[1])):
            table = {"pastEnd": past_end, "length": length}
            cases.append((with_table(model, run, past_end, length), tokens, {"table": table}))
        with pytest.raises(ThrownError, match="positions must be below 128, got 128"):
            transformer(LOG_PROBABILITIES, {"file": file_of(name), "jobs": [{"tokens": [0] * 129}]})
    else:
        cases = [(model, tokens, {})]
    assert_log_probabilities(transformer, name, cases)


SCALINGS = {"linear": "linear", "ntk_aware": "ntk_aware", "dynamic_ntk": "dynamic_ntk", "yarn": "yarn_code"}


@pytest.mark.parametrize(("name", "times"), [("full-copy-rope_100-0", 4), ("full-text-rope_10000-0", 2)])
def test_scaled_frequencies_give_the_log_probabilities_of_the_package(transformer, name, times):
    model, run = load(name)
    trained, tokens = run.settings.length, tokens_of(run, times)
    setting = {"dim": run.settings.head_dim, "base": run.scheme_options[1]["base"], "factor": 4, "trained": trained}
    setting |= {"used": times * trained, "betaFast": BOUNDS["beta_fast"], "betaSlow": BOUNDS["beta_slow"]}
    cases = [
        (with_scheme(model, scaled(run, scaling, 4.0)), tokens, {"scaling": [method, setting]})
        for scaling, method in SCALINGS.items()
    ]
    assert_log_probabilities(transformer, name, cases)


def test_changed_rotations_give_the_log_probabilities_of_the_package(transformer):
    name = TEXT_ROTARY[0]
    model, run = load(name)
    frequencies, tokens = inv_freq(run.settings.head_dim, run.scheme_options[1]["base"]), tokens_of(run, 1)
    proportional = run.make_scheme(scaling="proportional", scaling_options={"partial_rotary_factor": 0.5})
    without_pair = copy.deepcopy(model)
    gains = np.ones(len(frequencies))
    gains[5] = 0
    for layer in without_pair.layers:
        queries = layer.qkv.weight.detach()[: model.config.dim].view(model.config.n_heads, -1, model.config.dim)
        queries[:, 10:12] = 0  # pair 5 of every head, interleaved
    cases = [
        (with_scheme(model, run.make_scheme(layout="half-split")), tokens, {"rotation": {"layout": "half-split"}}),
        (with_scheme(model, proportional), tokens, {"rotation": {"frequencies": proportional.frequencies().inv_freq}}),
        (without_pair, tokens, {"rotation": {"gains": gains}}),
        (with_logit_factor(model, run, 1.3), tokens, {"more": {"scale": 1.3 * run.settings.head_dim**-0.5}}),
        (with_logit_factor(model, run, 1.3), tokens, {"rotation": {"attentionFactor": 1.3**0.5}}),
    ]
    assert_log_probabilities(transformer, name, cases)


@pytest.mark.parametrize("name", TEXT_ROTARY)
def test_clamped_biases_and_windows_give_the_log_probabilities_of_the_package(transformer, name):
    model, run = load(name)
    trained, tokens = run.settings.length, tokens_of(run, 2)
    products, frequencies = statistics()[f"{name}/content"].astype(complex), inv_freq(32, run.scheme_options[1]["base"])
    pairs = {layer: most_negative_pairs(each, frequencies, trained) for layer, each in enumerate(products)}
    clamp = {
        "products": np.stack([products.real, products.imag], axis=-1).tolist(),
        "frequencies": frequencies,
        "pairs": list(pairs.values()),
        "trained": trained,
        "count": tokens.shape[1],
    }
    outside = np.where(np.arange(tokens.shape[1]) < trained, 0.0, -np.inf)
    outside = np.broadcast_to(outside, (len(products), 1, tokens.shape[1]))
    cases = [
        (ClampedDistanceBias(model.scheme, products, frequencies, pairs, trained), {"clamp": clamp}),
        (Intervention(model.scheme.rope, outside), {"more": {"window": trained}}),
        (Intervention(model.scheme.rope, outside, "others"), {"more": {"window": trained, "sinks": SINKS}}),
    ]
    assert_log_probabilities(transformer, name, [(with_scheme(model, scheme), tokens, job) for scheme, job in cases])


INCREMENTAL = PASSES.replace(
    "READ",
    """(() => {
      const [plain, changed] = x.jobs.map(encodingOf), { tokens } = x.jobs[0], n = tokens.length;
      const read = (pass) => [pass.losses.slice(1), probabilities(pass)];
      const fresh = x.jobs.map((job) => read(passOf(job)));
      const pieces = new A.ForwardPass(model, plain, n);
      for (const [from, to] of [[0, 5], [5, 6], [6, 100], [100, n]]) {
        pieces.append(tokens.slice(from, to));
        while (!pieces.step(-Infinity)) void 0;  // a chunk at a time
      }
      const inPieces = read(pieces);
      pieces.restart(changed);
      const before = pieces.done;
      pieces.step();
      const restarted = read(pieces);
      const keeping = passOf(x.jobs[0]);
      keeping.restart(changed, x.kept);
      const kept = keeping.done;
      keeping.step();
      return { fresh, inPieces, restarted, keeping: read(keeping), before, kept };
    })()""",
)


def test_incremental_passes_equal_fresh_ones(transformer):
    name = "full-text-rope_100-0"
    tokens = tokens_of(load(name)[1], 2)[0].tolist()
    jobs = [{"tokens": tokens}, {"tokens": tokens, "more": {"window": 128, "sinks": 4}}]
    found = transformer(INCREMENTAL, {"file": file_of(name), "kept": 128, "jobs": jobs})
    assert (found["before"], found["kept"]) == (0, 128)
    plain, changed = found["fresh"]
    for part, wanted in ((found["inPieces"], plain), (found["restarted"], changed), (found["keeping"], changed)):
        for values, expected in zip(part, wanted, strict=True):
            np.testing.assert_allclose(values, expected, atol=1e-5, rtol=0)


def test_wrong_tokens_are_refused(transformer):
    jobs = PASSES.replace("READ", "x.jobs.forEach(passOf)")
    for token in (128, -1):
        with pytest.raises(ThrownError, match=f"tokens must be from 0 to 127, got {token}"):
            transformer(jobs, {"file": file_of("full-text-none-0"), "jobs": [{"tokens": [0, token]}]})
