// Ranks what the search page finds: places of the book instead of pages, those of chapters first.
//
// Sphinx's page, its form, its splitting and stemming of what is asked, and how it shows results stay as they are.
// This script comes before Sphinx's own, so that what waits for the page here is done when Sphinx begins.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { places, words, terms } = window.posencPlaces;

  const IN_TITLE = 6; // times that a word in a title counts as one in the text
  const SATURATION = 1.2, BY_LENGTH = 0.5; // Okapi BM25's k1 and b
  const TERM = { explained: 200, entry: 100, part: 20 }; // what is asked for is a term, or a part of a Chinese one
  const MOST = 60; // results

  const meanLength = places.reduce((sum, { length }) => sum + length, 0) / places.length;
  const isChinese = (text) => /\p{Script=Han}/u.test(text);
  const stemmer = new Stemmer();

  /** What is asked for, word by word, numbers without gaps. */
  function wordsOf(query) {
    const asked = query.toLowerCase().replace(/(\d)[ ,\u202f](?=\d{3}\b)/g, "$1");
    return splitQuery(asked).filter((word) => !stopwords.includes(word));
  }

  /** What a result's page is told to mark: how words and their other forms begin, “frequenc” for frequency. */
  function marks(query) {
    const beginnings = wordsOf(query).map((word) => {
      const stem = stemmer.stemWord(word); // “frequenci”
      return word.startsWith(stem) ? stem : word.slice(0, -1);
    });
    return beginnings.length ? `?highlight=${encodeURIComponent(beginnings.join(" "))}` : "";
  }

  /** Where a word stands: place -> how often. One that stands nowhere may begin others, and a Chinese one be in them. */
  function found(stem) {
    const counts = new Map(), whole = Object.hasOwn(words, stem) && !isChinese(stem);
    const fits = (word) => (isChinese(stem) ? word.includes(stem) : stem.length > 2 && word.startsWith(stem));
    for (const word of whole ? [stem] : Object.keys(words).filter(fits)) {
      for (let k = 0; k < words[word].length; k += 2) {
        const [place, count] = [words[word][k], words[word][k + 1]];
        counts.set(place, (counts.get(place) ?? 0) + count + (places[place].titled.includes(word) ? IN_TITLE : 0));
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

  /** What is asked for may be a term: its entry, and the section that explains it. */
  function byTerms(query, score) {
    const add = (place, value) => place !== null && score.set(place, (score.get(place) ?? 0) + value);
    /** A name as it is compared: small letters, words apart by one space, without a plural's s. */
    const plain = (text) => text.toLowerCase().replace(/['’]s\b/g, "").match(/[\p{L}\p{N}]+/gu)?.join(" ").replace(/s$/, "");
    const asked = plain(query), chinese = query.trim();
    for (const { names, zh, explained, entry } of terms) {
      const named = names.some((name) => plain(name) === asked);
      if (named) add(explained, TERM.explained);
      if (named || zh === chinese) add(entry, TERM.entry);
      else if (isChinese(chinese) && zh.includes(chinese)) add(entry, (TERM.part * chinese.length) / zh.length);
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

  /** The text that an excerpt is taken from: that of the place, without what the site puts on it. */
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const part of page.querySelectorAll(".headerlink, .posenc-gloss-card, script, style")) part.remove();
    const name = anchor.split("#")[1], place = name && page.getElementById(decodeURIComponent(name));
    return (place || page.querySelector("article")).textContent;
  };
});
