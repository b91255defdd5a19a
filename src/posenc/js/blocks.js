// Numbers written out below a picture, as HTML: they can be selected, and a screen reader walks through them.
//
// A block is a table, an equation or code. Each time the same blocks are shown, only their texts change, so that what a reader
// has selected, or where a screen reader stands, stays.

import { element } from "./controls.js";

// columns: the texts above; rows: each the text at its side and then its cells.
export function table({ caption, columns, rows }) {
  return { kind: "table", caption, columns, rows };
}

// parts: texts, in which ^{…} is raised, and matrices as `matrix` makes them, side by side.
export function equation(label, ...parts) {
  return { kind: "equation", label, parts };
}

// rows of texts; `name` is what a screen reader calls it.
export function matrix(name, rows) {
  return { name, rows };
}

// A text in letters of equal width, as it is; `label` stands above it.
export function code(label, text) {
  return { kind: "code", label, text };
}

const typeset = (text) => text.split(/\^\{([^}]*)\}/).map((part, k) => (k % 2 ? element("sup", {}, part) : part));
const rowOf = (tag, texts) => element("tr", {}, ...texts.map((text) => element(tag, {}, text)));

function buildTable({ caption, columns, rows }) {
  const head = element("thead", {}, element("tr", {}, ...columns.map((text) => element("th", { scope: "col" }, text))));
  const body = element("tbody", {}, ...rows.map(([side, ...cells]) => {
    const row = rowOf("td", cells);
    row.prepend(element("th", { scope: "row" }, side));
    return row;
  }));
  const box = element("div", { class: "posenc-scroll", tabindex: 0, role: "region", "aria-label": caption });
  box.append(element("table", { class: "posenc-table" }, element("caption", {}, caption), head, body));
  return box;
}

function buildCode({ label, text }) {
  const box = element("figure", { class: "posenc-code" }, element("figcaption", {}, element("span", {}, label)));
  box.append(element("pre", { class: "posenc-scroll", tabindex: 0, role: "region", "aria-label": label }, element("span", {}, text)));
  return box;
}

const BUILDERS = { table: buildTable, equation: buildEquation, code: buildCode };

function buildEquation({ label, parts }) {
  const line = element("div", { class: "posenc-equation", role: "group", "aria-label": label });
  for (const part of parts) {
    if (typeof part === "string") line.append(element("span", { "data-text": part }, ...typeset(part)));
    else line.append(element("table", { class: "posenc-matrix", "aria-label": part.name }, element("tbody", {}, ...part.rows.map((row) => rowOf("td", row)))));
  }
  return line;
}

// Everything that is text in a block, in the order in which it stands on the page.
function textsOf(block) {
  if (block.kind === "table") return [block.caption, ...block.columns, ...block.rows.flat()];
  if (block.kind === "code") return [block.label, block.text];
  return block.parts.flatMap((part) => (typeof part === "string" ? [part] : part.rows.flat()));
}

function shapeOf(block) {
  if (block.kind === "table") return ["table", block.columns.length, ...block.rows.map((row) => row.length)];
  if (block.kind === "code") return ["code"];
  return ["equation", block.label, ...block.parts.map((part) => (typeof part === "string" ? "text" : [part.name, ...part.rows.map((row) => row.length)]))];
}

// Shows blocks in a box. A block is made anew where its shape differs from what stands there.
export function showBlocks(box, blocks) {
  blocks.forEach((block, k) => {
    const shape = JSON.stringify(shapeOf(block));
    let node = box.children[k];
    if (node?.dataset.shape !== shape) {
      const made = BUILDERS[block.kind](block);
      made.dataset.shape = shape;
      node ? node.replaceWith(made) : box.append(made);
      return;
    }
    const cells = node.querySelectorAll("caption, th, td, span");
    textsOf(block).forEach((text, i) => {
      const cell = cells[i];
      if ((cell.dataset.text ?? cell.textContent) === text) return;
      cell.replaceChildren(...(block.kind === "code" ? [text] : typeset(text)));
      if ("text" in cell.dataset) cell.dataset.text = text;
    });
    if (block.kind === "table") node.setAttribute("aria-label", block.caption);
    if (block.kind === "code") node.lastElementChild.setAttribute("aria-label", block.label);
  });
  while (box.children.length > blocks.length) box.lastElementChild.remove();
}
