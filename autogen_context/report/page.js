"use strict";
// The page embeds its data as JSON. Every text is inserted as textContent, in its own <bdi>.
let data = JSON.parse(document.getElementById("data").textContent);
const DONE = data.done;
const UNITS = 300, ROWS = 50;
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const say = (n) => whole.format(n);

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}
function text(value) {
  const node = document.createElement("bdi");
  node.textContent = value;
  return node;
}
function turnOf(row) {
  const [turn, messages, history, sent, prefix, ratio, happened, cut, ms, fixed, sections] = row;
  return { turn, messages, history, sent, prefix, ratio, happened, cut, ms, fixed, sections };
}
function changeOf(row, words) {
  const [at, stop, who, tool, action, reason, handle, before, after, score, place, among, said] = row;
  return { at, stop, who: words[who], tool: words[tool], action: words[action], reason: words[reason], handle: words[handle], before, after, score, place, among, said: words[said] };
}

function mount(article, run) {
  const $ = (selector) => article.querySelector(selector);
  const turns = run.turns.map(turnOf);
  const slider = $("input[type=range]"), cursor = $(".cursor"), strip = $(".strip"), life = $(".life");
  let now = turns.length - 1, chosen = null, page = null, rowsPage = null;

  // The units at a turn, each with its latest change; units that the host removed are left out.
  function unitsAt(index) {
    const found = [];
    run.units.forEach(([start, end, story], id) => {
      let last = end !== null && end <= index ? -1 : story.length - 1;
      while (last >= 0 && story[last][0] > index) last -= 1;
      if (last >= 0) found.push({ id, start, first: story[0][0], change: changeOf(story[last], run.words) });
    });
    return found;
  }
  function named(unit) {
    const { change, start } = unit;
    const places = change.stop - start > 1 ? `messages ${say(start)} to ${say(change.stop - 1)}` : `message ${say(start)}`;
    return `${change.tool || change.who}, ${places}`;
  }

  function show(index, keep) {
    now = Math.min(Math.max(index, 0), turns.length - 1);
    const turn = turns[now];
    slider.value = now;
    slider.setAttribute("aria-valuetext", `turn ${say(turn.turn)}, ${say(turn.sent)} tokens`);
    cursor.hidden = false;
    cursor.style.left = `${(100 * (now + 0.5)) / turns.length}%`;
    $(".turn h3").textContent = `Turn ${say(turn.turn)} of ${say(turns[turns.length - 1].turn)}`;
    const ratio = turn.ratio === null ? "" : ` Its price is ${turn.ratio.toFixed(2)} of everything’s.`;
    const happened = turn.happened === "hold" ? "Nothing was cut" : turn.happened[0].toUpperCase() + turn.happened.slice(1);
    $(".said").textContent = `${say(turn.sent)} tokens sent of ${say(turn.history)}; ${say(turn.prefix)} are the same as in the request before. ${happened}.${ratio}`;
    const parts = [["fixed", "tools and format", turn.fixed], ...turn.sections.map((n, i) => [...data.sections[i], n])].filter((p) => p[2]);
    const all = parts.reduce((sum, p) => sum + p[2], 0) || 1;
    $(".split").replaceChildren(...parts.map(([name, , n]) => {
      const piece = make("i", { class: `s-${name}` });
      piece.style.flex = `${n} 0 0`;
      return piece;
    }));
    $(".legend").replaceChildren(...parts.map(([name, label, n]) =>
      make("li", {}, make("i", { class: `s-${name}` }), label, make("b", {}, `${say(n)} · ${say((100 * n) / all)} %`))));
    for (const button of article.querySelectorAll("[data-step]")) {
      const step = button.dataset.step;
      button.disabled = step === "-1" ? now === 0 : step === "1" ? now === turns.length - 1 : next() < 0;
    }
    const nth = compactions.indexOf(now);
    if (nth >= 0) $(".said").append(` This is compaction ${say(nth + 1)} of ${say(compactions.length)}.`);
    $("[data-at=turn]").value = turn.turn;
    if (!keep) page = null;
    showStrip();
    showChanges();
    if (chosen !== null) tell(chosen, false);
  }
  const compactions = turns.flatMap((turn, i) => (turn.happened.startsWith("compacted") ? [i] : []));
  const next = () => compactions.find((i) => i > now) ?? -1;

  // The units that this turn shortened or dropped.
  function showChanges() {
    const cut = unitsAt(now).filter(({ id, change }) => change.at === now && change.after < change.before && (run.units[id][2][0][0] !== now || change.action !== "reduce"));
    $(".changes").replaceChildren();
    if (!cut.length) return;
    const rows = cut.slice(0, UNITS).map((unit) => make("tr", {},
      make("td", {}, make("button", { type: "button", "data-unit": unit.id }, text(named(unit)))),
      make("td", {}, `${say(unit.change.before)} → ${say(unit.change.after)}`), make("td", { class: "wide" }, text(unit.change.reason))));
    const more = cut.length > UNITS ? `, the first ${UNITS}` : "";
    $(".changes").append(make("details", { class: "note" }, make("summary", {}, `What this turn cut: ${say(cut.length)} units${more}`),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What this turn cut" }, make("table", { class: "words" },
        make("thead", {}, make("tr", {}, ...["unit", "tokens", "why"].map((name) => make("th", { scope: "col", class: name === "why" ? "wide" : null }, name)))), make("tbody", {}, ...rows)))));
  }

  function showStrip() {
    const units = unitsAt(now), pages = Math.max(1, Math.ceil(units.length / UNITS));
    if (page === null) page = pages - 1;
    const from = page * UNITS, shown = units.slice(from, from + UNITS);
    strip.replaceChildren(...shown.map((unit, i) => {
      const { change } = unit, fill = make("i", { class: `s-${change.who}` });
      const share = change.action === "keep" || change.action === "repair" ? 1 : change.before ? change.after / change.before : 0;
      fill.style.height = `${100 * Math.min(1, share)}%`;
      const sizes = change.after === change.before ? `${say(change.after)} tokens` : `${say(change.after)} of ${say(change.before)} tokens`;
      const button = make("button", {
        type: "button", "data-unit": unit.id, "data-action": change.action, "data-new": unit.first === now,
        tabindex: unit.id === chosen || (chosen === null && i === shown.length - 1) ? "0" : "-1",
        "aria-pressed": unit.id === chosen ? "true" : "false",
        "aria-label": `${named(unit)}, ${DONE[change.action] || change.action}, ${sizes}${unit.first === now ? ", new" : ""}`,
      }, fill);
      button.title = button.getAttribute("aria-label");
      button.style.width = `${Math.round(Math.min(120, 6 + Math.sqrt(change.before) * 1.4))}px`;
      return button;
    }));
    if (!strip.querySelector("[tabindex='0']") && strip.lastChild) strip.lastChild.tabIndex = 0;
    pager($("[data-pager=strip]"), page, pages, `${say(from + 1)} to ${say(from + shown.length)} of ${say(units.length)} units`, (to) => { page = to; showStrip(); });
  }

  function pager(box, at, pages, label, go) {
    if (pages < 2) { box.replaceChildren(); return; }
    const held = box.contains(document.activeElement) ? document.activeElement.textContent : null;
    const steps = [["First", 0], ["Before", at - 1], ["Next", at + 1], ["Last", pages - 1]];
    box.replaceChildren(make("span", {}, label), ...steps.map(([name, to]) => {
      const button = make("button", { type: "button", disabled: to < 0 || to >= pages || to === at }, name);
      button.addEventListener("click", () => go(to));
      return button;
    }));
    const again = [...box.querySelectorAll("button")].find((b) => b.textContent === held);
    if (again) (again.disabled ? box.querySelector("button:enabled") : again).focus();
  }

  // The history of a unit: each change, and what sending it in full would have cost so far.
  function tell(id, focus) {
    const [start, end, rows] = run.units[id], story = rows.map((row) => changeOf(row, run.words));
    chosen = id;
    for (const button of strip.children) {
      const is = Number(button.dataset.unit) === id;
      button.setAttribute("aria-pressed", is ? "true" : "false");
      if (is) { for (const other of strip.children) other.tabIndex = -1; button.tabIndex = 0; }
    }
    const past = story.filter((change) => change.at <= now);
    life.hidden = !past.length || (end !== null && end <= now);
    if (life.hidden) return;
    const last = past[past.length - 1];
    const steps = story.map((change, i) => {
      const turn = turns[change.at], item = make("li", {}, make("b", {}, `Turn ${say(turn.turn)}`), " ");
      item.append(i ? "" : `came with ${say(change.before)} tokens, `, DONE[change.action] || text(change.action));
      if (change.after !== change.before) item.append(`, ${say(change.after)} of ${say(change.before)} tokens are sent`);
      item.append(" – ", text(change.reason));
      if (change.score !== null) {
        const rank = change.place === null ? "" : `, place ${say(change.place)} of ${say(change.among)}`;
        const cut = turn.cut === null || change.reason.includes(short.format(turn.cut)) ? "" : `; the last that stayed whole or in part had ${short.format(turn.cut)}`;
        item.append(`; score ${short.format(change.score)} a token${rank}${cut}`);
      }
      return item;
    });
    if (end !== null) steps.push(make("li", {}, make("b", {}, `Turn ${say(turns[end].turn)}`), " the host took it back"));
    life.replaceChildren(make("h4", {}, text(named({ start, change: last }))), make("ol", {}, ...steps));
    let more = 0;
    past.forEach((change, i) => { more += (change.before - change.after) * ((i + 1 < past.length ? past[i + 1].at : now + 1) - change.at); });
    if (last.after < last.before) {
      const cost = more * run.cached, dollars = run.dollars === null ? "" : ` ($${(more * run.dollars).toFixed(4)})`;
      life.append(make("p", { class: "note" }, `Sent whole it would take ${say(last.before - last.after)} more tokens of the window now. Up to this turn that would have cost as much as ${say(cost)} uncached tokens${dollars}, even if all of it was cached.`));
    }
    if (last.handle) life.append(make("p", { class: "note" }, "Its original has the handle ", text(last.handle), "."));
    if (last.said) life.append(make("pre", { tabindex: "0", role: "region", "aria-label": "Text of the unit", dir: "auto" }, text(last.said)));
    if (focus) life.focus();
  }

  function showRows() {
    const only = $("[data-only]").checked;
    const rows = turns.map((turn, i) => [turn, i]).filter(([turn]) => !only || turn.happened !== "hold");
    const pages = Math.max(1, Math.ceil(rows.length / ROWS));
    if (rowsPage === null || rowsPage >= pages) rowsPage = pages - 1;
    const from = rowsPage * ROWS, shown = rows.slice(from, from + ROWS);
    $(".all tbody").replaceChildren(...shown.map(([turn, i]) => {
      const button = make("button", { type: "button", "data-turn": i, "aria-label": `Turn ${say(turn.turn)}` }, say(turn.turn));
      const ratio = turn.ratio === null ? "–" : turn.ratio.toFixed(2);
      const cells = [say(turn.messages), say(turn.history), say(turn.sent), say(turn.prefix), ratio, turn.ms.toFixed(1)];
      return make("tr", {}, make("td", {}, button), ...cells.map((cell, at) => make("td", { class: at === 1 || at === 2 ? null : "opt" }, cell)), make("td", { class: "wide" }, turn.happened));
    }));
    pager($("[data-pager=turns]"), rowsPage, pages, `${say(rows.length ? from + 1 : 0)} to ${say(from + shown.length)} of ${say(rows.length)} turns`, (to) => { rowsPage = to; showRows(); });
  }

  slider.style.marginLeft = `calc(${50 / turns.length}% - 8px)`;  // aligns the thumb with the column
  slider.style.width = `calc(${100 - 100 / turns.length}% + 16px)`;
  slider.addEventListener("input", () => show(Number(slider.value)));
  cursor.parentNode.addEventListener("click", (event) => {
    const box = cursor.parentNode.getBoundingClientRect();
    show(Math.floor(((event.clientX - box.left) / box.width) * turns.length));
  });
  article.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.step) show(button.dataset.step === "compaction" ? next() : now + Number(button.dataset.step));
    if (button.dataset.unit) tell(Number(button.dataset.unit), true);
    if (button.dataset.turn) {
      show(Number(button.dataset.turn));
      $(".turn h3").focus();
    }
  });
  article.addEventListener("change", ({ target }) => {
    if (target.dataset.at === "turn") show(turns.findLastIndex((turn) => turn.turn <= Number(target.value)));
    if (target.dataset.at !== "message" || target.value === "") return;
    const at = Number(target.value), units = unitsAt(now), place = units.findIndex(({ start, change }) => start <= at && at < change.stop);
    if (place < 0) return;
    page = Math.floor(place / UNITS);
    showStrip();
    tell(units[place].id, true);
  });
  strip.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -strip.children.length, End: strip.children.length };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const all = [...strip.children], at = all.indexOf(document.activeElement);
    const to = all[Math.min(Math.max(at + steps[event.key], 0), all.length - 1)];
    for (const each of all) each.tabIndex = each === to ? 0 : -1;
    to.focus();
  });
  $("[data-only]").addEventListener("change", () => { rowsPage = null; showRows(); });
  $(".turn").hidden = false;
  $(".all").hidden = false;
  show(now);
  showRows();
  return () => now === turns.length - 1 && chosen === null;  // true if the newest turn is shown and no unit is selected
}

let articles, mounted, shown = 0;
function open(n) {
  shown = n;
  articles.forEach((article, i) => { article.hidden = i !== n; });
  if (!mounted.has(n)) mounted.set(n, mount(articles[n], data.runs[n]));
}
function begin(n) {
  articles = [...document.querySelectorAll("article")];
  mounted = new Map();
  const choice = document.getElementById("run");
  if (choice) {
    choice.value = n;
    choice.addEventListener("change", () => open(Number(choice.value)));
  }
  if (articles.length) open(Math.min(n, articles.length - 1));
}
begin(0);

// A served page polls for a newer log. It reloads by itself only if the user is not looking at something.
async function renew() {
  const said = await fetch(location.href);
  if (!said.ok) throw new Error(await said.text());
  const page = new DOMParser().parseFromString(await said.text(), "text/html");
  const last = shown === articles.length - 1;
  data = JSON.parse(page.getElementById("data").textContent);
  for (const name of ["header", "main"]) document.querySelector(name).replaceWith(page.querySelector(name));
  begin(last ? data.runs.length - 1 : shown);
}
async function follow() {
  let wait = 1000;
  try {
    const said = await fetch(new URL("version", location.href)), status = document.querySelector(".live");
    if (!said.ok) throw new Error(await said.text());
    if ((await said.json()) !== data.version && !status.querySelector("button")) {
      const idle = [document.body, null].includes(document.activeElement) && !document.querySelector("details[open]");
      const began = performance.now();
      if (!articles.length || (idle && mounted.get(shown)())) await renew();
      else {
        const button = make("button", { type: "button" }, "Show it");
        button.addEventListener("click", () => { button.blur(); renew().catch(stopped); });
        status.replaceChildren("The run went on. ", button);
      }
      wait = Math.max(wait, 3 * (performance.now() - began));
    }
    setTimeout(follow, wait);
  } catch (error) { stopped(error); }
}
function stopped(error) {
  const why = error instanceof TypeError ? "the command that served it has ended" : error.message;
  document.querySelector(".live").replaceChildren(`This page is not renewed any more: ${why}.`);
}
if (data.version !== null) setTimeout(follow, 1000);
let closed = [];
addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("article:not([hidden]) details:not([open])")]; closed.forEach((each) => { each.open = true; }); });
addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
