// Roads: what was read, remembered on this machine only, and the next stop at the end of each page while on a road.
//
// window.posencRoads, written before this by book/_site/pages/paths.py: { roads: { name: { title, page, stops: [[page,
// title], …], until: { page: anchor } } }, summary: { id, title }, words }. A page is read when its reader says so, or
// goes on by the link at its end; a road is entered by a link from the road's own page. Where a stop leaves out a part
// of a page, a link leads on to the page's summary, and the next stop stands below that; the last leads back to the
// road's own page.
(() => {
  "use strict";

  const { roads, summary, words } = window.posencRoads;
  const KEY = "turn-by-turn:roads";
  const root = new URL("../../", document.currentScript.src);
  const here = decodeURIComponent(location.pathname).replace(/\.html$/, "");
  const present = Object.values(roads)
    .flatMap(({ page, stops }) => [page, ...stops.map(([stop]) => stop)])
    .find((page) => here.endsWith(`/${page}`));
  if (!present) return;

  const say = (text, facts) => text.replace(/\{(\w+)\}/g, (_, name) => facts[name]);
  const element = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const address = (page) => new URL(`${page}.html`, root).href;

  // ---- the memory: { road, read: [page, …] }

  let refused = false, memory = { road: null, read: [] };

  function recall() {
    try {
      const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      memory = { road: stored.road in roads ? stored.road : null, read: Array.isArray(stored.read) ? stored.read : [] };
    } catch (error) {
      if (!(error instanceof SyntaxError)) refused = true; // else somebody wrote what is none of ours: begin anew
    }
  }

  function remember(changes) {
    Object.assign(memory, changes);
    try {
      localStorage.setItem(KEY, JSON.stringify(memory));
    } catch {
      refused = true; // said in words below
    }
    show();
  }

  const isRead = (page) => memory.read.includes(page);
  const readOf = ({ stops }) => stops.filter(([page]) => isRead(page)).length;

  /** The first stop after this page that is not read; else the first of all; null where there is none. */
  function nextOf({ stops }) {
    const at = stops.findIndex(([page]) => page === present);
    const wanted = [...stops.slice(at + 1), ...stops.slice(0, at + 1)].filter(([page]) => page !== present);
    return wanted.find(([page]) => !isRead(page)) ?? null;
  }

  // ---- what is shown; it is filled anew at every change, and the focus stays on the button that made it

  const button = (action, text, act, attributes = {}) => {
    const made = element("button", { type: "button", "data-action": action, ...attributes }, text);
    made.addEventListener("click", act);
    return made;
  };
  const progress = (road) => say(words.progress, { read: readOf(road), all: road.stops.length });
  const goOn = (road, name) => {
    const next = nextOf(road), finished = readOf(road) === road.stops.length ? [words.finished, " "] : [];
    if (!next && present === road.page) return element("p", {}, ...finished);
    const [page, title] = next ?? [road.page, road.title];
    const link = element("a", { href: address(page) }, title);
    link.addEventListener("click", () => remember({ road: name, read: end && !isRead(present) ? [...memory.read, present] : memory.read }));
    const before = next ? (readOf(road) || present !== road.page ? words.next : words.begin) : words.back;
    return element("p", {}, ...finished, before, " ", link);
  };
  const leave = () => button("leave", words.leave, () => remember({ road: null }));
  const kept = () => element("p", { class: "posenc-road-kept" }, refused ? words.refused : words.stored);

  function fillRoad(box) {
    const name = box.dataset.road, road = roads[name];
    const bar = element("p", { class: "posenc-road-bar" });
    if (memory.road === name) bar.append(leave());
    if (memory.read.length) bar.append(button("clear", words.clear, () => remember({ read: [] })));
    box.replaceChildren(
      element("p", { role: "status" }, element("strong", {}, progress(road)), memory.road === name ? ` · ${say(words.on_road, road)}` : ""),
      goOn(road, name), bar, kept(),
    );
    for (const [page] of road.stops) {
      const link = [...document.querySelectorAll(".posenc-stops a")].find(({ href }) => href.split("#")[0] === address(page));
      if (!link) continue;
      link.parentElement.querySelector(`.posenc-read-mark[data-page="${page}"]`)?.remove();
      if (isRead(page)) link.after(element("span", { class: "posenc-read-mark", "data-page": page }, words.read));
    }
  }

  function fillEnd(box) {
    const road = roads[memory.road], read = isRead(present), last = document.getElementById(road?.until[present]);
    if (last) {
      leap.replaceChildren(words.leap, " ", element("a", { href: `#${summary.id}` }, summary.title));
      last.before(leap);
      document.getElementById(summary.id).after(box);
    } else {
      leap.remove();
      article.append(box);
    }
    const mark = button("mark", read ? words.marked : words.mark, () => (
      remember({ read: read ? memory.read.filter((page) => page !== present) : [...memory.read, present] })
    ), { "aria-pressed": String(read) });
    box.replaceChildren(element("p", { class: "posenc-road-bar" }, mark));
    if (last) box.prepend(element("p", {}, words.stop_ends));
    if (road) {
      box.append(
        element("p", { role: "status" }, `${say(words.on_road, road)} `, element("strong", {}, progress(road))),
        goOn(road, memory.road), ...(read ? [] : [element("p", { class: "posenc-road-kept" }, words.going_on)]),
        element("p", { class: "posenc-road-bar" }, leave()),
      );
    }
    box.append(kept());
  }

  const ofRoad = document.querySelector(".posenc-road");
  const article = document.querySelector("article.bd-article");
  const leap = element("p", { class: "posenc-road-leap" });
  const end = ofRoad || !article ? null : element("section", { class: "posenc-road-end", "aria-label": words.end_of_page });
  function show() {
    const action = document.activeElement?.dataset?.action;
    if (ofRoad) fillRoad(ofRoad);
    if (end) fillEnd(end);
    const box = ofRoad ?? end;
    if (action && !document.contains(document.activeElement?.closest(".posenc-road, .posenc-road-end"))) {
      (box.querySelector(`[data-action="${action}"]`) ?? box.querySelector("a, button"))?.focus();
    }
  }

  recall();
  show();
  if (ofRoad) {
    for (const link of document.querySelectorAll(".posenc-stops a")) {
      link.addEventListener("click", () => remember({ road: ofRoad.dataset.road }));
    }
  }
  window.addEventListener("storage", ({ key }) => { // another page of the book was marked
    if (key !== KEY && key !== null) return;
    recall();
    show();
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    recall();
    show();
  });
})();
