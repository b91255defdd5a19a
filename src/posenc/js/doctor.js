// The page of the doctor: a form that answers with findings, a picture of the frequencies, and what each key does.

import { colours, pairColour } from "./colours.js";
import { element } from "./controls.js";
import { LEVELS, diagnose, summary } from "./diagnose.js";
import table from "./doctor.json";
import { Axis, Plot, cellAxis, legend, onceLettersCome, words } from "./drawing.js";
import { grouped, parseNumber } from "./numbers.js";
import { say } from "./sentences.js";

const { names, page, picture, report, sections } = table;
const HIGH = 330;
const TURN = 2 * Math.PI;
const code = (text) => element("code", {}, text);

// ---- words

function told({ kind, facts, after, attention, length }) {
  const made = after ? Array.from(after, (theta) => (theta * length) / TURN) : [0], fewest = made.filter((turns) => turns > 0).at(-1) ?? 0;
  const spoilt = !after && !["", "axial"].includes(kind);
  return say(report.rotation, { ...facts, most: made[0], fewest, attention, spoilt }, names);
}

function see(name) {
  const { page: chapter, anchor, title } = sections[name], to = `../notebooks/${chapter}.html#${anchor}`;
  return element("a", { href: to, class: "posenc-doctor-see" }, say(report.see, { number: chapter.slice(0, 2), title }));
}

const named = (level) => element("strong", { class: "posenc-doctor-verdict" }, names.levels[level]);
const entry = (level, ...inside) => element("li", { class: `posenc-doctor-${level.replace(" ", "-")}` }, named(level), " ", ...inside);

function findingEntry({ level, key, layer, text, see: section }) {
  return entry(level, code(key), layer ? ` (${layer})` : "", `: ${text} `, see(section));
}

function keyEntry({ path, value, level, text, see: section }) {
  return entry(level, code(path), " = ", code(value), `. ${text} `, see(section));
}

// ---- the picture

const wavelength = (theta) => (theta > 0 ? TURN / theta : NaN);

function theme(root) {
  const style = getComputedStyle(root), read = (name) => style.getPropertyValue(`--pst-color-${name}`).trim();
  return {
    text: read("text-base"), muted: read("text-muted"), grid: read("border"), ground: read("background"),
    font: `${Math.round(0.75 * parseFloat(style.fontSize))}px ${style.fontFamily}`,
  };
}

function dot(context, px, py, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(px, py, 3, 0, TURN);
  context.fill();
}

// Names of the level lines, where no dots are: fast pairs stand below them on the left, slow ones above on the right.
function lineNames({ context, theme: look, x, y }, waves, length, trained) {
  const style = { ground: true, colour: look.text };
  words(context, look, say(picture.length, { length }), x.start + 4, y.at(length) - 10, style);
  if (trained === null || trained === length) return;
  const texts = picture.trained.map((text) => say(text, { trained })), level = y.at(trained);
  const crossings = waves.map((wave) => wave.findIndex((each) => each >= trained)).map((pair, k) => x.at(pair < 0 ? waves[k].length - 1 : pair));
  if (level - y.at(length) >= 18) words(context, look, texts, x.start + 4, level - 10, { ...style, width: Math.min(...crossings) - x.start - 10 });
  else words(context, look, texts, x.end - 4, level + 10, { ...style, align: "right", width: x.end - 10 - Math.max(...crossings) });
}

function draw(canvas, { before, after, length, trained }, pair) {
  const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1, look = theme(canvas.parentElement);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HIGH * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const waves = [before, after].map((each) => Array.from(each, wavelength)), all = waves.flat().filter(Number.isFinite);
  const scaled = waves[1].some((each, i) => Math.abs(each / waves[0][i] - 1) > 1e-9);
  const from = Math.min(4, ...all) / 1.2, to = Math.max(length, trained ?? 0, ...all) * 2;
  const series = [
    { label: scaled ? picture.after : picture.alike, colour: colours.score },
    ...(scaled ? [{ label: picture.before, colour: colours.neutral, dash: [5, 4] }] : []),
  ];
  const top = legend(context, look, series, 0, 10, width) + 24;
  const x = cellAxis(after.length, 44, width - 12), y = new Axis({ from, to, start: HIGH - 44, end: top, log: true });
  const plot = new Plot(context, look, x, y);
  const decade = (tick) => (tick < 1e5 ? grouped(tick) : `10${[...String(Math.round(Math.log10(tick)))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
  plot.axes({ xTitle: picture.x, xTicks: 6, yTitle: picture.y, yText: decade });
  for (const share of [0, 0.5, 1]) dot(context, 3 + 14 * share, 10, pairColour(Math.round(share * (after.length - 1)), after.length)); // as the legend's first
  plot.horizontal(length, { dash: [], colour: look.muted });
  if (trained !== null && trained !== length) plot.horizontal(trained, { dash: [4, 3], colour: look.muted });
  if (scaled) plot.series(waves[0], colours.neutral, { width: 2, dash: [5, 4] });
  plot.series(waves[1], colours.score, { width: 1.4 });
  waves[1].forEach((each, i) => Number.isFinite(each) && plot.marks([[i, each]], pairColour(i, after.length), { radius: 3 }));
  plot.vertical(pair, { colour: look.text });
  lineNames(plot, waves, length, trained);
}

function reading({ before, after, length, trained }, pair) {
  const [plain, theta] = [before[pair], after[pair]], seen = trained === null ? Infinity : plain * trained;
  return say(picture.reading, {
    pair, still: theta === 0, before: wavelength(plain), after: wavelength(theta), slower: Math.abs(plain / theta - 1) < 1e-9 ? 1 : plain / theta,
    turns: (theta * length) / TURN, length, fresh: seen < TURN && theta * length > seen * (1 + 1e-9),
  });
}

function pairsTable({ before, after, length, trained }) {
  const shownTrained = trained ?? length, head = ["pair", "before", "after", "trained_turns", "turns"];
  const row = (kind, cells) => element("tr", {}, ...cells.map((cell) => element(kind, kind === "th" ? { scope: "col" } : {}, cell)));
  const tokens = (theta) => (theta > 0 ? grouped(TURN / theta) : report.still);
  const rows = Array.from(after, (theta, i) => row("td", [
    String(i), tokens(before[i]), tokens(theta), grouped((before[i] * shownTrained) / TURN), grouped((theta * length) / TURN),
  ]));
  const titles = row("th", head.map((name) => say(report[name], { trained: shownTrained, length })));
  const scroll = element("div", { class: "posenc-doctor-scroll", tabindex: "0", role: "group", "aria-label": page.every });
  scroll.append(element("table", {}, element("thead", {}, titles), element("tbody", {}, ...rows)));
  return element("details", { class: "posenc-doctor-pairs" }, element("summary", {}, page.every), scroll);
}

// A figure, and what draws it anew.
function figure(rotation) {
  const sentence = told(rotation), root = element("figure", { class: "posenc-doctor-rotation" }, element("figcaption", {}, sentence));
  if (!rotation.after) return [root, () => {}];
  const canvas = element("canvas", { role: "img", "aria-label": say(picture.alt, { told: sentence }) });
  canvas.style.height = `${HIGH}px`;
  const slider = element("input", { type: "range", min: 0, max: rotation.after.length - 1, step: 1, value: rotation.after.length - 1 });
  const read = element("output", {}), again = () => {
    read.textContent = reading(rotation, slider.valueAsNumber);
    draw(canvas, rotation, slider.valueAsNumber);
  };
  slider.addEventListener("input", again);
  root.append(canvas, element("label", {}, picture.reader, " ", slider), read, pairsTable(rotation));
  return [root, again];
}

// ---- the answer

function answer(root, what, diagnosis) {
  const heading = element("p", { class: "posenc-doctor-summary" }, say(page.summary, { what, summary: summary(diagnosis) }));
  if (diagnosis.fault) {
    root.replaceChildren(heading, element("ul", { class: "posenc-doctor-list" }, entry(LEVELS[0], diagnosis.fault)));
    return () => {};
  }
  const figures = diagnosis.rotations.map(figure), parts = [heading];
  if (diagnosis.nested) parts.push(element("p", {}, say(report.nested, { nested: diagnosis.nested })));
  if (diagnosis.findings.length > 0) parts.push(element("ul", { class: "posenc-doctor-list" }, ...diagnosis.findings.map(findingEntry)));
  parts.push(...figures.map(([each]) => each), element("p", { class: "posenc-doctor-title" }, page.keys));
  parts.push(element("ul", { class: "posenc-doctor-list posenc-doctor-keys" }, ...diagnosis.keys.map(keyEntry)));
  if (diagnosis.others > 0) parts.push(element("p", {}, say(report.others, { others: diagnosis.others })));
  root.replaceChildren(...parts);
  return () => figures.forEach(([, again]) => again());
}

// Brings the form of the page to life; the answer goes into what follows it.
export function start(form) {
  const text = form.querySelector("textarea"), length = form.querySelector("input"), notice = form.querySelector("[role=status]");
  const root = document.getElementById("doctor-answer");
  let again = () => {};
  const look = (what) => {
    const typed = length.value.trim(), number = typed === "" ? null : parseNumber(typed);
    const fits = number === null || (Number.isInteger(number) && number >= 1 && number < 2 ** 53);
    const diagnosis = diagnose(text.value, fits ? number : null);
    notice.textContent = [fits ? "" : say(page.bad_length, { text: typed }), say(page.summary, { what, summary: summary(diagnosis) })].filter(Boolean).join(" ");
    const [first] = diagnosis.rotations; // what the file allows, where nothing is typed
    if (number === null) length.placeholder = first ? grouped(first.length) : page.all;
    again = answer(root, what, diagnosis);
    again();
  };
  const take = ({ label, config, length: tokens = "" }) => {
    text.value = JSON.stringify(config, null, 2);
    length.value = tokens;
    look(say(page.example, { label }));
  };
  text.addEventListener("input", () => {
    length.value = ""; // another file has another length
    length.placeholder = page.all;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    look(page.yours);
  });
  for (const [k, example] of form.querySelectorAll("[data-example]").entries()) example.addEventListener("click", () => take(table.examples[k]));
  new ResizeObserver(() => again()).observe(root);
  new MutationObserver(() => again()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  onceLettersCome(() => again());
  for (const each of form.querySelectorAll("button")) each.disabled = false;
  if (text.value.trim() === "") take(table.examples[0]);
  else look(page.yours); // what a browser kept from before
}
