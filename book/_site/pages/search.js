// Ranks what the search page finds: places of the book instead of pages, those of chapters first.
//
// Sphinx's page, its form, its splitting and stemming of what is asked, and how it shows results stay as they are.
// This script comes before Sphinx's own, so that what waits for the page here is done when Sphinx begins.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { places, words, terms } = window.posencPlaces;

  const IN_TITLE = 6; // times that a word in a title counts as one in the text
  const SATURATION = 1.2, BY_LENGTH = 0.5; // Okapi BM25's k1 and b
  const TERM = [200, 100]; // the query names a term: where it is explained, and its entry; less where it says more
  const MOST = 30; // results
  const EXCERPT = 240; // characters
  const QUESTION = new Set("what who how when where do does did can should i my me mean means".split(" "));

  const meanLength = places.reduce((sum, { length }) => sum + length, 0) / places.length;
  const isChinese = (text) => /\p{Script=Han}/u.test(text);
  const stemmer = new Stemmer();

  /** Chinese has no spaces: it is found by each two characters that follow one another, as search_index.py keeps it. */
  const bigrams = (run) => (run.length < 2 ? [run] : [...run].slice(1).map((character, k) => run[k] + character));

  /** The words of a query: numbers without gaps, Chinese in bigrams, without “what is” and the like. */
  function wordsOf(query) {
    const plain = query.toLowerCase().replace(/(\d)[ ,\u202f](?=\d{3}\b)/g, "$1");
    const all = splitQuery(plain.replace(/\p{Script=Han}+/gu, (run) => ` ${bigrams(run).join(" ")} `));
    const telling = all.filter((word) => !stopwords.includes(word) && !QUESTION.has(word));
    return telling.length ? telling : all;
  }

  /** What a result's page is told to mark: how words and their other forms begin, “frequenc” for frequency. */
  function marks(query) {
    const beginnings = wordsOf(query).map((word) => {
      const stem = stemmer.stemWord(word); // “frequenci”
      return word.startsWith(stem) ? stem : word.slice(0, -1);
    });
    beginnings.unshift(...(query.match(/\p{Script=Han}{3,}/gu) ?? [])); // marked whole where it is there whole
    return beginnings.length ? `?highlight=${encodeURIComponent(beginnings.join(" "))}` : "";
  }

  /** The places that have a word, each with how often. An unknown word may begin others, and one character be in them. */
  function found(stem) {
    const counts = new Map();
    const fits = (word) => (isChinese(stem) ? stem.length < 2 && word.includes(stem) : stem.length > 2 && word.startsWith(stem));
    for (const word of Object.hasOwn(words, stem) && stem.length > 1 ? [stem] : Object.keys(words).filter(fits)) {
      let place = 0;
      for (const number of words[word]) { // the way to the next place, or minus how often it is in this one, if not once
        if (number >= 0) place += number;
        counts.set(place, (number < 0 ? -number - 1 : 1) + (counts.get(place) ?? 0));
        if (number >= 0 && places[place].titled.includes(word)) counts.set(place, counts.get(place) + IN_TITLE);
      }
    }
    return counts;
  }

  /** How well places fit: Okapi BM25, times the share of the query that stands there, and more if in the title. */
  function byWords(query) {
    const fits = new Map(); // place -> its sum of words, and the weight of those in it and in its title
    let all = 0;
    for (const stem of new Set(wordsOf(query).map((word) => stemmer.stemWord(word)))) {
      const counts = found(stem), rarity = Math.log(1 + (places.length - counts.size + 0.5) / (counts.size + 0.5));
      if (counts.size) all += rarity;
      for (const [place, count] of counts) {
        const fit = fits.get(place) ?? { sum: 0, there: 0, titled: 0 };
        const room = SATURATION * (1 - BY_LENGTH + (BY_LENGTH * places[place].length) / meanLength);
        fit.sum += (rarity * count * (1 + SATURATION)) / (count + room);
        fit.there += rarity;
        if (places[place].titled.includes(stem)) fit.titled += rarity;
        fits.set(place, fit);
      }
    }
    const value = ({ sum, there, titled }) => sum * (there / all) * (1 + titled / all);
    return new Map([...fits].map(([place, fit]) => [place, value(fit) * places[place].weight]));
  }

  /** A query may name a term, or several: its entry and the section that explains it, by how much of the query it is. */
  function byTerms(query, score) {
    const add = (place, value) => place !== null && score.set(place, (score.get(place) ?? 0) + value);
    const stems = (text) => wordsOf(text.replace(/['’]s\b/g, "").replaceAll("_", " ")).map((word) => stemmer.stemWord(word));
    const asked = stems(query), joined = ` ${asked.join(" ")} `, pairs = new Set(bigrams(query.trim()));
    for (const { names, zh, explained, entry } of terms) {
      let share = 0;
      if (isChinese(query)) {
        const own = bigrams(zh), common = own.filter((pair) => pairs.has(pair)).length;
        share = (2 * common) / (own.length + pairs.size);
      }
      for (const name of names.map(stems)) {
        const telling = name.length > 1 || asked.length === 1; // one word of several is found by byWords
        if (telling && joined.includes(` ${name.join(" ")} `)) share = Math.max(share, name.length / asked.length);
      }
      if (!share) continue;
      // the entry has the Chinese name, which no chapter has
      (isChinese(query) ? [entry, explained] : [explained, entry]).forEach((place, k) => add(place, TERM[k] * share ** 3));
    }
  }

  const escaped = (text) => Object.assign(document.createElement("span"), { textContent: text }).innerHTML;

  /** Sphinx's form of results, the best last. */
  Search._performSearch = (query, searchTerms, excludedTerms, highlightTerms, objectTerms) => {
    document.getElementById("search-progress")?.replaceChildren();
    const score = byWords(query), marked = marks(query);
    byTerms(query, score);
    const told = [...score].map(([number, value]) => {
      const { page, anchor, title } = places[number];
      return [page, escaped(title), marked + anchor, null, value, page];
    });
    const named = [...objectTerms].flatMap((term) => Search.performObjectSearch(term, objectTerms));
    for (const item of named) item[4] *= 0.1; // the package's names come after the book's places
    return [...told, ...named].sort((one, other) => one[4] - other[4]).slice(-MOST);
  };

  /** A formula as text, or an ellipsis where it is more than a few letters. */
  function formula(tex) {
    const text = tex.replace(/^\\\(|\\\)$/g, "").replace(/\\(?:text|mathrm|operatorname)\{(\w+)\}/g, "$1");
    const plain = text.replace(/\\([a-z]+)/gi, (all, name) => LETTERS[name] ?? all).replace(/\\[,;]/g, "");
    const flat = plain.replace(/\{([^{}]?)\}/g, "$1").replace(/\{([^{}]+)\}/g, "($1)");
    return /[\\&{}]/.test(flat) || flat.length > 24 ? "…" : flat;
  }
  const LETTERS = {
    theta: "θ", Delta: "Δ", delta: "δ", beta: "β", alpha: "α", gamma: "γ", lambda: "λ", pi: "π", psi: "ψ", omega: "ω",
    cdot: "·", times: "×", ln: "ln ", cos: "cos ", sin: "sin ", sqrt: "√", infty: "∞", top: "ᵀ", le: "≤", ge: "≥", lVert: "‖",
    rVert: "‖",
  };

  const NOT_TEXT = ".headerlink, .posenc-gloss-card, script, style, noscript, nav, button, div.math, .posenc-explorable, "
    + ".posenc-reading, .posenc-term-head, .posenc-term-foot, .posenc-claim-head, .posenc-claim-foot";

  /** A paragraph of the place, around the words: the first of those that have most of them. */
  Search.makeSearchSummary = (html, keywords, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const part of page.querySelectorAll(NOT_TEXT)) part.remove();
    for (const math of page.querySelectorAll(".math")) math.textContent = formula(math.textContent);
    const name = anchor.split("#")[1], named = name && page.getElementById(decodeURIComponent(name));
    const place = (named?.matches("dt") ? named.parentElement : named) || page.querySelector("article");
    const sought = decodeURIComponent(/highlight=([^#]*)/.exec(anchor)?.[1] ?? "").split(" ");
    let text = "", start = 0, most = -1;
    for (const block of place?.querySelectorAll("p, li, dd, tr, pre.literal-block") ?? []) {
      const own = block.textContent.replace(/\s+/g, " ").trim(), lower = own.toLowerCase();
      const at = sought.map((word) => lower.search(isChinese(word) ? word : `\\b${word}`)).filter((index) => index >= 0);
      const enough = at.length > most || (!most && text.length < 60 && own.length > text.length); // none has a word yet
      if (own && enough) [text, start, most] = [own, Math.min(...at, own.length), at.length];
    }
    if (most < 1 || text.length <= EXCERPT) start = 0;
    start = Math.max(0, Math.min(start - EXCERPT / 3, text.length - EXCERPT));
    let [from, to] = [start, start + EXCERPT].map((index) => Math.round(index));
    if (from) from = text.indexOf(" ", from) + 1;
    if (to < text.length && text.lastIndexOf(" ", to) > from) to = text.lastIndexOf(" ", to);
    const excerpt = (from ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
    return Object.assign(document.createElement("p"), { className: "context", textContent: excerpt });
  };
});
