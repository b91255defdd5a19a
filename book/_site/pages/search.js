// Ranks what the search page finds: places of the book instead of pages, those of chapters first.
//
// Sphinx's page, its form, its splitting and stemming of what is asked, and how it shows results stay as they are.
// This script comes before Sphinx's own, so that what waits for the page here is done when Sphinx begins.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { pages, places, words, terms } = window.posencPlaces;

  // how much a find counts by the kind of its page
  const KIND = {
    chapter: 1, page: 0.4, glossary: 0.35, mistakes: 0.35, questions: 0.3,
    package: 0.25, claims: 0.2, notes: 0.2, assignment: 0.2,
  };
  const IN_TITLE = 6; // times that a word in a title counts as one in the text
  const SATURATION = 1.2, BY_LENGTH = 0.5; // Okapi BM25's k1 and b
  const TERM = { explained: 200, entry: 100, part: 20 }; // what is asked for is a term, or a part of a Chinese one
  const MOST = 60; // results

  const meanLength = places.reduce((sum, { length }) => sum + length, 0) / places.length;

  /** A query or a name as it is compared: small letters, words apart by one space. */
  const plain = (text) => text.toLowerCase().replace(/['’]s\b/g, "").split(/[^\p{L}\p{N}]+/u).filter(Boolean).join(" ");
  const singular = (text) => text.replace(/s$/, "");

  const stemmer = new Stemmer();

  /** What is asked for, word by word, numbers without gaps. */
  function wordsOf(query) {
    const asked = query.toLowerCase().replace(/(\d)[ ,\u202f](?=\d{3}\b)/g, "$1");
    return splitQuery(asked).filter((word) => !stopwords.includes(word));
  }

  const stems = (query) => [...new Set(wordsOf(query).map((word) => stemmer.stemWord(word)))];

  /** How a word and its other forms begin: “frequenc” for frequency, whose stem is frequenci. */
  function stable(word) {
    const stem = stemmer.stemWord(word), same = [...word].findIndex((letter, k) => letter !== stem[k]);
    if (same < 0) return word;
    return same > 3 ? word.slice(0, same) : word.replace(/s$/, "");
  }

  /** What a result's page is told to mark. */
  function marks(query) {
    const words = [...new Set(wordsOf(query).map(stable))];
    return words.length ? `?highlight=${encodeURIComponent(words.join(" "))}` : "";
  }

  /** Where a word stands: place -> how often. A word that stands nowhere may begin others. */
  function found(stem) {
    const counts = new Map();
    const beginning = () => Object.keys(words).filter((word) => stem.length > 2 && word.startsWith(stem));
    const same = Object.hasOwn(words, stem) ? [stem] : beginning();
    for (const word of same) {
      for (let k = 0; k < words[word].length; k += 2) {
        const [place, count] = [words[word][k], words[word][k + 1]];
        counts.set(place, (counts.get(place) ?? 0) + count + (places[place].words.includes(word) ? IN_TITLE : 0));
      }
    }
    return counts;
  }

  /** How well places fit: Okapi BM25, times the share of the query that stands there, and more if in the title. */
  function byWords(query) {
    const asked = stems(query).map((stem) => [stem, found(stem)]).filter(([, counts]) => counts.size > 0);
    const rarity = asked.map(([, { size }]) => Math.log(1 + (places.length - size + 0.5) / (size + 0.5)));
    const all = rarity.reduce((sum, one) => sum + one, 0);
    const fits = new Map(); // place -> its sum of words, and the shares of the query in it and in its title
    asked.forEach(([stem, counts], k) => {
      for (const [place, count] of counts) {
        if (!fits.has(place)) fits.set(place, { sum: 0, share: 0, titled: 0 });
        const fit = fits.get(place);
        const room = SATURATION * (1 - BY_LENGTH + (BY_LENGTH * places[place].length) / meanLength);
        fit.sum += (rarity[k] * count * (1 + SATURATION)) / (count + room);
        fit.share += rarity[k] / all;
        if (places[place].words.includes(stem)) fit.titled += rarity[k] / all;
      }
    });
    const value = ([place, { sum, share, titled }]) => {
      return [place, sum * share ** 2 * (1 + titled) * KIND[pages[places[place].page].kind]];
    };
    return new Map([...fits].map(value));
  }

  /** What is asked for may be a term: its entry, and the section that explains it. */
  function byTerms(query, score) {
    const add = (place, value) => place !== null && score.set(place, (score.get(place) ?? 0) + value);
    const asked = plain(query), chinese = query.trim();
    for (const { names, zh, explained, entry } of terms) {
      const named = asked && names.some((name) => singular(plain(name)) === singular(asked));
      if (named) add(explained, TERM.explained);
      if (named || zh === chinese) add(entry, TERM.entry);
      else if (/\p{Script=Han}/u.test(chinese) && zh.includes(chinese)) add(entry, (TERM.part * chinese.length) / zh.length);
    }
  }

  const escaped = (text) => {
    const span = document.createElement("span");
    span.textContent = text;
    return span.innerHTML;
  };

  /** Sphinx's form of results, the best last. */
  Search._performSearch = (query, searchTerms, excludedTerms, highlightTerms, objectTerms) => {
    document.getElementById("search-progress")?.replaceChildren();
    const score = byWords(query), marked = marks(query);
    byTerms(query, score);
    const named = [...objectTerms].flatMap((term) => Search.performObjectSearch(term, objectTerms));
    const told = [...score].map(([number, value]) => {
      const place = places[number], page = pages[place.page];
      const title = place.anchor ? `${page.title} › ${place.title}` : page.title;
      return [page.name, escaped(title), marked + (place.anchor && `#${place.anchor}`), null, value, page.name];
    });
    for (const item of named) item[4] *= 0.1; // the package's names come after the book's places
    return [...told, ...named].sort((one, other) => one[4] - other[4]).slice(-MOST);
  };

  /** The text that an excerpt is taken from: that of the place, without what the site puts on it. */
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const part of page.querySelectorAll(".headerlink, .posenc-gloss-card, script, style")) part.remove();
    const name = anchor?.split("#")[1];
    const place = name && page.getElementById(decodeURIComponent(name));
    return (place || page.querySelector("article") || page.body).textContent;
  };
});
