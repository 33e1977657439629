"""A sentence encoder of BERT's architecture in numpy, for the weights that sentence-transformers publishes.

Promise: the vector of a text does not depend on the texts beside it, and is that of sentence-transformers up to rounding (cosine
0.9999998 for all-MiniLM-L6-v2). Safe in several threads at once. Source: docs/decisions/0034-embeddings.md.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from safetensors.numpy import load
from tokenizers import Tokenizer

Floats = NDArray[np.float32]
Affine = tuple[Floats, Floats]
"""The weights of a linear layer, inputs first, or the gains of a normalisation; and the biases."""

BATCH_TOKENS = 512  # computed at once, a seventh of a second of a core; larger batches leave its cache and are slower
SPARE_CHARS = 16  # of a text per token that is read: longer words are rare
SQRT_HALF = np.float32(0.5**0.5)
# Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.26: erfc within 1.5e-7.
ERFC_P = np.float32(0.3275911)
ERFC = [*map(np.float32, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))]


class _Architecture(BaseModel):
    model_type: str
    hidden_act: str
    num_attention_heads: int
    num_hidden_layers: int
    layer_norm_eps: float


class _Sentences(BaseModel):
    max_seq_length: int


class _Pooling(BaseModel):
    pooling_mode_mean_tokens: bool


class _Layer(NamedTuple):
    attention: Affine  # of queries, keys and values side by side
    attended: Affine
    attended_norm: Affine
    wide: Affine
    narrow: Affine
    norm: Affine


class BertEncoder:
    """The model in a folder as sentence-transformers saves it; texts are read up to its limit, in tokens.

    Args:
        folder: has ``model.safetensors``, ``tokenizer.json``, ``config.json``, ``sentence_bert_config.json`` and
            ``1_Pooling/config.json``.
        sha256: digest of the weights, in hexadecimal; ``None`` for any.

    Raises:
        OSError: a file is missing.
        ValueError: the model has another architecture, pooling or other weights, or a file is not what it should be.
    """

    def __init__(self, folder: Path, sha256: str | None = None) -> None:
        made = _Architecture.model_validate_json((folder / "config.json").read_bytes())
        pooling = _Pooling.model_validate_json((folder / "1_Pooling/config.json").read_bytes())
        if (made.model_type, made.hidden_act) != ("bert", "gelu"):
            raise ValueError(f"{made.model_type} with {made.hidden_act} is not BERT with gelu")
        if not pooling.pooling_mode_mean_tokens:
            raise ValueError("its pooling is not the mean of the tokens")
        read = _Sentences.model_validate_json((folder / "sentence_bert_config.json").read_bytes())
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(read.max_seq_length)  # pyright: ignore[reportUnknownMemberType] - its options have no types
        self._most_chars = read.max_seq_length * SPARE_CHARS
        self._heads, self._epsilon = made.num_attention_heads, np.float32(made.layer_norm_eps)
        data = (folder / "model.safetensors").read_bytes()
        if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
            raise ValueError("its weights are not those that were published")
        weights: Mapping[str, Floats] = load(data)
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = weights["embeddings.position_embeddings.weight"]
        self._places = self._places + weights["embeddings.token_type_embeddings.weight"][0]
        self._norm = _gains(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, n, self._heads) for n in range(made.num_hidden_layers)]

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of length 1 per text, in order."""
        read = [text[: self._most_chars] for text in texts]
        ids = [each.ids for each in self._tokenizer.encode_batch_fast(read)]
        vectors = np.empty((len(texts), self._words.shape[1]), dtype=np.float32)
        for batch in batches([len(each) for each in ids]):
            vectors[batch] = self._encoded([ids[at] for at in batch])
        rows: list[list[float]] = vectors.tolist()
        return rows

    def _encoded(self, ids: Sequence[Sequence[int]]) -> Floats:
        """Return the vectors of texts by their tokens, which are computed as one sequence except where they attend to each other."""
        ends = [0, *accumulate(map(len, ids))]
        tokens = self._words[np.concatenate(ids)]
        for start, end in pairwise(ends):
            tokens[start:end] += self._places[: end - start]
        tokens = self._normalised(tokens, self._norm)
        for layer in self._layers:
            found = self._attended(linear(tokens, layer.attention), ends)
            tokens = self._normalised(linear(found, layer.attended) + tokens, layer.attended_norm)
            found = linear(gelu(linear(tokens, layer.wide)), layer.narrow)
            tokens = self._normalised(found + tokens, layer.norm)
        vectors: Floats = np.add.reduceat(tokens, ends[:-1], axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _attended(self, projected: Floats, ends: Sequence[int]) -> Floats:
        """Return what each token gets from those of its text; queries, keys and values are side by side in ``projected``."""
        parts = projected.reshape(len(projected), 3, self._heads, -1).transpose(1, 2, 0, 3)
        found = np.empty((len(projected), projected.shape[1] // 3), dtype=np.float32)
        for start, end in pairwise(ends):
            queries, keys, values = parts[:, :, start:end]
            shares = queries @ keys.transpose(0, 2, 1)
            shares -= shares.max(axis=-1, keepdims=True)
            np.exp(shares, out=shares)
            shares /= shares.sum(axis=-1, keepdims=True)
            found[start:end] = (shares @ values).transpose(1, 0, 2).reshape(end - start, -1)
        return found

    def _normalised(self, tokens: Floats, norm: Affine) -> Floats:
        """Return the tokens with mean 0 and variance 1 each, scaled and shifted."""
        gain, bias = norm
        tokens -= tokens.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", tokens, tokens)[:, None] / np.float32(tokens.shape[1])
        tokens *= gain / np.sqrt(variance + self._epsilon)
        tokens += bias
        return tokens


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the positions of texts of so many tokens in batches of at most ``BATCH_TOKENS``, or of one text."""
    batch, tokens = list[int](), 0
    for at, length in enumerate(lengths):
        if batch and tokens + length > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(at)
        tokens += length
    if batch:
        yield batch


def linear(tokens: Floats, layer: Affine) -> Floats:
    """Return the output of a linear layer."""
    weights, bias = layer
    found: Floats = tokens @ weights
    found += bias
    return found


def gelu(values: Floats) -> Floats:
    """Return each value times the probability that a normal variate is below it."""
    distance = np.abs(values)
    distance *= SQRT_HALF
    t = np.reciprocal(distance * ERFC_P + np.float32(1))
    tail = t * ERFC[0]
    for coefficient in ERFC[1:]:
        tail += coefficient
        tail *= t
    tail *= np.exp(-distance * distance)
    tail *= np.float32(0.5)
    found: Floats = values * np.where(values > 0, np.float32(1) - tail, tail)
    return found


def _layer(weights: Mapping[str, Floats], number: int, heads: int) -> _Layer:
    name = f"encoder.layer.{number}"
    parts = [_linear(weights, f"{name}.attention.self.{p}") for p in ("query", "key", "value")]
    together = np.concatenate([w for w, _ in parts], axis=1)
    biases = np.concatenate([b for _, b in parts])
    width = len(together)
    scale = np.float32((width / heads) ** -0.5)  # of the products of queries and keys
    together[:, :width] *= scale
    biases[:width] *= scale
    return _Layer(
        attention=(together, biases),
        attended=_linear(weights, f"{name}.attention.output.dense"),
        attended_norm=_gains(weights, f"{name}.attention.output.LayerNorm"),
        wide=_linear(weights, f"{name}.intermediate.dense"),
        narrow=_linear(weights, f"{name}.output.dense"),
        norm=_gains(weights, f"{name}.output.LayerNorm"),
    )


def _linear(weights: Mapping[str, Floats], name: str) -> Affine:
    return np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]


def _gains(weights: Mapping[str, Floats], name: str) -> Affine:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]
