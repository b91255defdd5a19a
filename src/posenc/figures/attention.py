"""Attention, its use of word order, and small models that learn (chapters 01 and 02)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from posenc._arrays import describe
from posenc._numbers import number, percent
from posenc.figures._drawing import (
    PALETTE,
    _above,
    _colour_scale,
    _drawn,
    _faded,
    _finish,
    _heat_maps,
    _numbers_on,
    _some,
    _style,
)


def weighted_sum(
    words: Sequence[str], weights: Sequence[float], values: np.ndarray, query: int, names: Sequence[str]
) -> go.Figure:
    """The output of one query: arcs as wide as its attention weights, the weighted values below, and their sum.

    `query` is its position; `weights` has shape (words,), `values` (words, value_dim), and `names` has the names of the
    value's dimensions. The query's own weight has no arc.
    """
    weights, values, count = np.asarray(weights, dtype=float), np.asarray(values, dtype=float), len(words)
    if weights.shape != (count,) or values.shape != (count, len(_some("names", names))):
        raise ValueError(
            f"weights must have shape ({count},) and values ({count}, {len(names)}), as there are {count} words and "
            f"{len(names)} names, got shapes {weights.shape} and {values.shape}"
        )
    if not np.all(weights >= 0):
        raise ValueError(f"weights must be at least 0, got {weights}")
    if not 0 <= query < count:
        raise ValueError(f"query must be between 0 and {count - 1}, the position of a word, got {describe(query)}")
    weighted = weights[:, None] * values  # (words, value_dim)
    output = weighted.sum(axis=0)  # (value_dim,)
    figure = make_subplots(
        2,
        2,
        specs=[[{}, None], [{}, {}]],
        column_widths=[count, 1],
        row_heights=[0.5, 0.5],
        horizontal_spacing=0.07,
        vertical_spacing=0.03,
    )
    half = np.linspace(0, np.pi, 33)
    for position, weight in enumerate(weights):
        if not weight or position == query:
            continue
        x = (position + query) / 2 + (position - query) / 2 * np.cos(half)  # from the key to the query
        y = np.sin(half) * np.sqrt(abs(position - query))
        line = {"color": _faded(PALETTE["score"], 0.75), "width": max(0.5, 22 * weight), "simplify": False}
        name = f"{words[position]}: {weight:.2f}"
        figure.add_scatter(x=_drawn(x), y=_drawn(y), mode="lines", line=line, name=name, row=1, col=1)
    for positions, colour in (([p for p in range(count) if p != query], "key"), ([query], "query")):
        text = [f"<b>{words[position]}</b><br>{weights[position]:.2f}" for position in positions]
        font = {"color": PALETTE[colour], "size": 12}
        label = {"x": positions, "y": [-0.1] * len(positions), "text": text, "textposition": "bottom center"}
        figure.add_scatter(**label, mode="text", textfont=font, hoverinfo="skip", row=1, col=1)
    scale = max(np.abs(weighted).max(), np.abs(output).max()) or 1.0
    low = -scale if min(weighted.min(), output.min()) < 0 else 0.0
    for column, table in ((1, weighted.T), (2, output[:, None])):
        figure.add_heatmap(z=_drawn(table), coloraxis="coloraxis", opacity=0.6, hoverinfo="skip", row=2, col=column)
        _numbers_on(figure, table.shape, [number(value, 2) for value in table.flat], row=2, col=column)
    figure.update_layout(coloraxis=_colour_scale(low, scale) | {"showscale": False})
    figure.update_traces(showlegend=False, selector={"type": "scatter"})
    top = np.sqrt(max(query, count - 1 - query, 1))
    figure.update_xaxes(range=[-0.5, count - 0.5], showticklabels=False, showgrid=False, zeroline=False, col=1)
    figure.update_yaxes(range=[-0.5 * top, 1.1 * top], visible=False, row=1)
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, row=2)
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=list(names), row=2, col=1)
    figure.update_yaxes(title_text="value dimension", row=2, col=1)
    figure.update_yaxes(showticklabels=False, row=2, col=2)
    figure.update_xaxes(title_text="weight × value of each token", row=2, col=1)
    hidden = {"showticklabels": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(title_text="sum", **hidden, row=2, col=2)
    key, largest = int(weights.argmax()), int(np.abs(output).argmax())
    source = "itself" if key == query else f"“{words[key]}”"
    finding = (
        f"“{words[query]}” attends most to {source}, with weight {weights[key]:.2f}, "
        f"and its output is mostly {names[largest]}, {number(output[largest], 2)}"
    )
    details = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(words, weights, strict=True))
    sums = ", ".join(f"{name} {number(value, 2)}" for name, value in zip(names, output, strict=True))
    return _finish(figure, finding, f"Attention weights: {details}. Weighted sum of the values: {sums}.", height=440)


def attention_maps(words: Sequence[str], tables: Mapping[str, np.ndarray], query: int) -> go.Figure:
    """Attention weights in per cent, queries down and keys across, with the row of position `query` framed.

    Cells with weight exactly 0, as under a mask, are empty.
    """
    count = len(_some("words", words))
    maps = {name: np.asarray(table, dtype=float) for name, table in _some("tables", tables).items()}
    for name, table in maps.items():
        if table.shape != (count, count):
            raise ValueError(f"tables[{name!r}] must be {count} × {count}, got shape {table.shape}")
    if not 0 <= query < count:
        raise ValueError(f"query must be between 0 and {count - 1}, the position of a word, got {describe(query)}")
    columns = min(2, len(maps))
    figure = _heat_maps({name: _drawn(table) for name, table in maps.items()}, columns, 0.0, 1.0, opacity=0.6)
    strongest, rows = [], []
    for k, (name, table) in enumerate(maps.items()):
        at = np.argwhere(table > 0)
        text = [f"{100 * table[i, j]:.0f}" for i, j in at]
        where = {"row": k // columns + 1, "col": k % columns + 1}
        hidden = {"hoverinfo": "skip", "showlegend": False}
        figure.add_scatter(x=at[:, 1], y=at[:, 0], text=text, mode="text", **hidden, **where)
        x, y = [-0.5, count - 0.5, count - 0.5, -0.5, -0.5], query + np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
        frame = {"color": PALETTE["query"], "width": 2}
        figure.add_scatter(x=x, y=y, mode="lines", line=frame, **hidden, **where)
        ticks = {"tickvals": list(range(count)), "ticktext": list(words), **where}
        figure.update_xaxes(title_text="key", tickangle=0, tickfont_size=10, **ticks)
        figure.update_yaxes(title_text="query" if k % columns == 0 else None, **ticks)
        key = int(table[query].argmax())
        strongest.append(f"“{words[key]}” {name} ({percent(table[query, key])})")
        weights = ", ".join(f"{word} {percent(weight)}" for word, weight in zip(words, table[query], strict=True))
        rows.append(f"{name}: {weights}")
    figure.update_layout(coloraxis_showscale=False)
    finding = f"“{words[query]}” attends most to {', '.join(strongest)}"
    details = f"Its attention weights {'; '.join(rows)}."
    return _finish(figure, finding, details, height=120 + 290 * -(-len(maps) // columns))


def attention_by_distance(heads: Mapping[str, Sequence[float]]) -> go.Figure:
    """Mean attention weight of heads of a trained model at each distance, from 0, the token itself, on."""
    figure, peaks, own = go.Figure(), [], []
    for k, (name, weights) in enumerate(_some("heads", heads).items()):
        weights = np.asarray(weights, dtype=float)
        if weights.ndim != 1 or not len(weights) or not np.all((weights >= 0) & (weights <= 1)):
            raise ValueError(f"heads[{name!r}] must be weights from 0 to 1, at least one, got {describe(weights)}")
        style = {"line": _style(k), "marker": {"size": 7, "color": _style(k)["color"]}, "mode": "lines+markers"}
        figure.add_scatter(x=np.arange(len(weights)), y=_drawn(weights), name=name, **style)
        peaks.append(f"distance {weights.argmax()}, weight {weights.max():.2f} ({name})")
        own.append(f"{weights[0]:.2f} ({name})")
    figure.update_xaxes(title_text="distance Δ (tokens)", rangemode="tozero")
    figure.update_yaxes(title_text="mean attention weight", range=[0, 1])
    finding = f"Where each head attends most: {'; '.join(peaks)}"
    return _finish(figure, finding, f"Weight on the token itself: {', '.join(own)}.")


def score_std(
    widths: Sequence[int], measured: Mapping[str, tuple[Sequence[float], Sequence[float]]], keys: int
) -> go.Figure:
    """Standard deviation of attention scores and effective number of attended tokens against the width of q and k.

    `measured` maps a name to (standard deviations of the scores, exponentials of the entropies of the weights). Thin
    lines: √width for undivided scores of independent entries of variance 1, and 1 if divided by √width.
    """
    widths = np.asarray(_some("widths", widths))
    _above("keys", keys, 1)
    titles = ("scores", f"effective number of<br>attended tokens, of {keys}")
    figure = make_subplots(1, 2, subplot_titles=titles, horizontal_spacing=0.12)
    attended, deviations = [], []
    exact = {"mode": "lines", "line": {"color": PALETTE["neutral"], "width": 1}, "hoverinfo": "skip"}
    for name, line in (("√d", np.sqrt(widths)), ("1", np.ones(len(widths)))):
        figure.add_scatter(x=widths, y=_drawn(line), **exact, showlegend=False, row=1, col=1)
        x, y = np.log10([widths[-2:], line[-2:]]).mean(axis=1)  # between the last two markers
        label = {"text": name, "showarrow": False, "xanchor": "right", "yanchor": "bottom"}
        figure.add_annotation(x=x, y=y, **label, row=1, col=1)
    for k, (name, pair) in enumerate(_some("measured", measured).items()):
        arrays = [np.asarray(values, dtype=float) for values in pair]
        if len(arrays) != 2 or any(a.shape != widths.shape or not np.isfinite(a).all() for a in arrays):
            raise ValueError(
                f"measured[{name!r}] must be two rows of {len(widths)} finite numbers, got {describe(pair)}"
            )
        std, tokens = arrays
        style = {"name": name, "line": _style(k), "marker": {"size": 8, "color": _style(k)["color"]}}
        figure.add_scatter(x=widths, y=_drawn(std), **style, mode="markers", showlegend=False, row=1, col=1)
        figure.add_scatter(x=widths, y=_drawn(tokens), **style, mode="lines+markers", row=1, col=2)
        attended.append(f"{tokens[0]:.1f} and {tokens[-1]:.1f} ({name})")
        deviations.append(f"{std[0]:.2f} and {std[-1]:.2f} ({name})")
    figure.update_xaxes(type="log", tickvals=widths, title_text="head dimension d")
    ticks = [2**power for power in range(int(np.log2(widths[-1])) // 2 + 1)]
    figure.update_yaxes(type="log", tickvals=ticks, title_text="standard deviation", row=1, col=1)
    figure.update_yaxes(range=[0, keys], row=1, col=2)
    figure.update_annotations(font_size=12)
    ends = f"at d = {widths[0]} and at d = {number(widths[-1])}"
    finding = f"Effective number of attended tokens, of {keys}, {ends}: {', '.join(attended)}"
    return _finish(figure, finding, f"Standard deviation of the scores {ends}: {', '.join(deviations)}.")


def training_losses(losses: Mapping[str, Sequence[float]], every: int, chance: float, last: int = 5) -> go.Figure:
    """Training losses of models, every `every` steps, against the loss of guessing.

    The title has the means of the `last` values.
    """
    _above("every", every, 0)
    _above("last", last, 0)
    _above("chance", chance, 0)
    figure, ends, steps = go.Figure(), [], 0
    for k, (name, values) in enumerate(_some("losses", losses).items()):
        values = np.asarray(values, dtype=float)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(f"losses[{name!r}] must be finite numbers, at least one, got {describe(values)}")
        at = every * np.arange(1, len(values) + 1)
        steps = max(steps, int(at[-1]))
        ends.append(f"{values[-last:].mean():.2f} ({name})")
        figure.add_scatter(x=at, y=_drawn(values), mode="lines", name=name, line=_style(k))
    line = {"color": PALETTE["neutral"], "width": 1, "dash": "dot"}
    figure.add_hline(y=chance, line=line)
    label = {"text": f"uniform guess: {chance:.3f}", "showarrow": False}
    figure.add_annotation(x=1, y=chance, xanchor="right", xref="paper", yshift=9, **label)
    figure.update_xaxes(title_text="training step", rangemode="tozero")
    figure.update_yaxes(title_text="training loss (nats)", rangemode="tozero")
    averaged = "The last values" if last == 1 else f"Means of the last {last} values"
    details = f"{averaged}; a uniform guess has a loss of {chance:.3f} nats."
    return _finish(figure, f"Training loss after {number(steps)} steps: {', '.join(ends)}", details)


def transformer_block(width: int, hidden: int) -> go.Figure:
    """A pre-norm Transformer block, bottom to top: the residual stream on the left, attention and MLP on branches.

    `width` is that of the residual stream, `hidden` that of the MLP. The title counts weights without biases.
    """
    _above("width", width, 0)
    _above("hidden", hidden, 0)
    attention, mlp = 4 * width**2, 2 * width * hidden
    figure = go.Figure()
    line, path = {"color": PALETTE["neutral"], "width": 2}, {"mode": "lines", "hoverinfo": "skip"}
    head = {"showarrow": True, "arrowhead": 2, "arrowwidth": 2, "arrowcolor": PALETTE["neutral"], "text": ""}
    axes = {"xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    figure.add_scatter(x=[0, 0], y=[-0.4, 7.3], line=line | {"width": 5}, **path)
    for start, name, weights, colour in (
        (0.4, "<b>multi-head<br>self-attention</b>", attention, "score"),
        (3.9, "<b>MLP</b>, per token", mlp, "bound"),
    ):
        norm, box, plus = start + 0.6, start + 1.7, start + 2.7  # heights of the middle of each
        x = [0, 2.2, 2.2, None, 2.2, 2.2, None, 2.2, 2.2, 0]
        y = [start, start, norm - 0.25, None, norm + 0.25, box - 0.65, None, box + 0.65, plus, plus]
        figure.add_scatter(x=x, y=y, line=line, **path)
        figure.add_annotation(x=0.15, y=plus, ax=1, ay=plus, **axes, **head)
        for middle, half, fill in ((norm, 0.25, "neutral"), (box, 0.65, colour)):
            style = {"line": {"color": PALETTE[fill], "width": 2}, "fillcolor": _faded(PALETTE[fill], 0.2)}
            figure.add_shape(type="rect", x0=0.7, x1=3.7, y0=middle - half, y1=middle + half, **style)
        dot = {"size": 13, "color": PALETTE["neutral"]}
        figure.add_scatter(x=[0], y=[plus], mode="markers", marker=dot, hoverinfo="skip")
        texts = ["norm", f"{name}<br>{number(weights)} weights", "<b>+</b>"]
        figure.add_scatter(x=[2.2, 2.2, -0.35], y=[norm, box, plus], text=texts, mode="text", hoverinfo="skip")
    figure.add_annotation(x=3.7, y=2.1, ax=4.3, ay=2.1, **axes, **head)
    others = {"text": ["k and v<br>of other<br>tokens"], "mode": "text", "textposition": "middle right"}
    figure.add_scatter(x=[4.3], y=[2.1], **others, hoverinfo="skip")
    figure.update_traces(showlegend=False)
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(title_text="path of one token", range=[-0.6, 6.1], **bare)
    figure.update_yaxes(title_text="residual stream →", range=[-0.5, 7.4], **bare)
    finding = (
        f"A Transformer block of width {number(width)}: {number(attention)} weights in attention, "
        f"{number(mlp)} in the MLP"
    )
    details = (
        f"The residual stream of a token, {number(width)} numbers, goes up on the left. It is copied, normalised and "
        f"passed to multi-head self-attention, which also takes keys and values of other tokens; the result is added "
        f"to the stream. Then it is copied, normalised and passed to an MLP with {number(hidden)} hidden units, each "
        f"token by itself; the result is added again."
    )
    return _finish(figure, finding, details, height=480)


def permuted_weights(words: Sequence[str], order: Sequence[int], weights: np.ndarray) -> go.Figure:
    """A permutation P applied to attention weights A, queries down and keys across: A, PA and PAPᵀ.

    `order` is the permutation, as indices into `words`. PA is below A, since its rows have moved, and PAPᵀ to its
    right.
    """
    count, order = len(_some("words", words)), list(order)
    weights = np.asarray(weights, dtype=float)
    if sorted(order) != list(range(count)) or order == sorted(order):
        raise ValueError(f"order must be the positions 0 to {count - 1} in another order, got {order}")
    if weights.shape != (count, count):
        raise ValueError(f"weights must be {count} × {count}, got shape {weights.shape}")
    permuted = [words[position] for position in order]
    steps = {
        "original: A": (weights, words, words),
        "rows permuted: PA": (weights[order], permuted, words),
        "columns too: PAPᵀ": (weights[np.ix_(order, order)], permuted, permuted),
    }
    spacing = {"horizontal_spacing": 0.08, "vertical_spacing": 0.2}
    figure = make_subplots(2, 2, specs=[[{}, None], [{}, {}]], subplot_titles=list(steps), **spacing)
    for (row, column), (values, down, across) in zip(((1, 1), (2, 1), (2, 2)), steps.values(), strict=True):
        where = {"row": row, "col": column}
        figure.add_heatmap(z=_drawn(values), coloraxis="coloraxis", opacity=0.6, **where)
        _numbers_on(figure, values.shape, [f"{weight:.2f}" for weight in values.flat], showlegend=False, **where)
        ticks = {"tickvals": list(range(count)), "tickangle": 0, "tickfont_size": 10, **where}
        figure.update_xaxes(title_text="key", ticktext=list(across), **ticks)
        figure.update_yaxes(ticktext=list(down), showticklabels=column == 1, **ticks)
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    figure.update_yaxes(title_text="query", col=1)
    figure.update_annotations(font_size=12)
    figure.update_layout(coloraxis=_colour_scale(0.0, 1.0) | {"showscale": False})
    fixed = sum(position == k for k, position in enumerate(order)) ** 2
    replaced = ", ".join(f"{before} → {after}" for before, after in zip(words, permuted, strict=True))
    finding = "P permutes the rows, then the columns: each weight follows its query and its key"
    details = f"Tokens before and after: {replaced}. Weights that stay in place: {fixed} of {count**2}."
    return _finish(figure, finding, details, height=480)


def causal_information_flow(sentences: Sequence[str]) -> go.Figure:
    """The words that each word can attend to in one layer under a causal mask, and the last word's view in the second.

    One panel per sentence, words from left to right, lines from each word to those that attend to it. Below a word is
    the set that it attends to in the first layer; lines of the second layer lead to the last word only.
    """
    orders = [sentence.split() for sentence in _some("sentences", sentences)]
    if any(len(order) < 2 for order in orders):
        raise ValueError(f"sentences must have at least two words each, got {list(sentences)}")
    figure = make_subplots(len(orders), 1, vertical_spacing=0.12, subplot_titles=list(sentences))
    described = []
    for row, order in enumerate(orders, 1):
        count, where = len(order), {"row": row, "col": 1}
        seen = [f"sees {', '.join(sorted(order[:n])) or 'nothing'}" for n in range(count)]
        edges = {"score": [(n, 2, m, 1) for m in range(count) for n in range(m + 1)]}
        edges["bound"] = [(n, 1, count - 1, 0) for n in range(count)]
        for colour, pairs in edges.items():
            x = [value for n, _, m, _ in pairs for value in (n, m, None)]
            y = [value for _, start, _, end in pairs for value in (start - 0.18, end + 0.22, None)]
            line = {"color": PALETTE[colour], "width": 1.5, "dash": "solid" if colour == "score" else "dot"}
            figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", **where)
        text = {"mode": "text", "hoverinfo": "skip", **where}
        figure.add_scatter(x=list(range(count)), y=[2] * count, text=[f"<b>{word}</b>" for word in order], **text)
        figure.add_scatter(x=list(range(count)), y=[1] * count, text=seen, **text)
        figure.add_scatter(x=[count - 1], y=[0], text=[f"{order[-1]} sees all of these"], **text)
        sets = "; ".join(f"{word} {context}" for word, context in zip(order, seen, strict=True))
        described.append(f"{' '.join(order)}: {sets}")
        figure.update_xaxes(range=[-0.6, count - 0.3], visible=False, **where)
    levels = {"tickvals": [2, 1, 0], "ticktext": ["tokens", "layer 1", "layer 2"]}
    figure.update_yaxes(range=[-0.35, 2.35], showgrid=False, zeroline=False, **levels)
    figure.update_traces(showlegend=False)
    hidden = {"showticklabels": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(title_text="position →", visible=True, **hidden, row=len(orders))
    figure.update_yaxes(title_text="layer")
    finding = "In layer 1 the last token sees the same set in both orders; in layer 2 it also sees what each token saw"
    return _finish(figure, finding, f"{'. '.join(described)}.", height=110 + 240 * len(orders))
