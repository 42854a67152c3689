"use strict";
(function () {
  var root = document.documentElement;
  root.classList.add("scripted");

  function all(selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); }
  function one(id) { return document.getElementById(id); }

  // --- light and dark

  var theme = one("theme");
  var prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches; }
  function showTheme() { theme.setAttribute("aria-pressed", String(isDark())); }
  theme.addEventListener("click", function () { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  prefersDark.addEventListener("change", showTheme);
  showTheme();

  // --- one turn, in a drawer at the foot of the page

  var drawer = one("drawer"), body = one("drawer-body"), cells = all(".cells a[data-t]"), items = all(".turns > li").sort(byTurn);
  var shown = -1, opener = null;
  function turnOf(one) { return Number(one.dataset.t || one.id.slice(1)); }
  function byTurn(one, other) { return turnOf(one) - turnOf(other); }
  function visibleItems() { return items.filter(function (item) { return !item.hidden; }); }

  function open(turn, from) {
    var item = one("t" + turn);
    if (!item) { return false; }
    body.replaceChildren.apply(body, Array.prototype.map.call(item.cloneNode(true).childNodes, function (node) { return node; }));
    drawer.hidden = false;
    shown = turn;
    if (from) { opener = from; }
    cells.forEach(function (cell) { cell.classList.toggle("on", Number(cell.dataset.t) === turn); });
    return true;
  }

  function close() {
    drawer.hidden = true;
    shown = -1;
    cells.forEach(function (cell) { cell.classList.remove("on"); });
    if (opener) { opener.focus(); opener = null; }
  }

  function step(by) {
    var ids = visibleItems().map(turnOf);
    var at = ids.indexOf(shown) + by;
    if (at >= 0 && at < ids.length) { open(ids[at]); }
  }

  one("previous").addEventListener("click", function () { step(-1); });
  one("next").addEventListener("click", function () { step(1); });
  one("close").addEventListener("click", close);
  document.addEventListener("keydown", function (event) { if (event.key === "Escape" && !drawer.hidden) { close(); } });
  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[data-t]");
    if (link && open(Number(link.dataset.t), link)) { event.preventDefault(); }
  });

  // --- the cells are one stop for the tabulator; the arrows go from turn to turn

  function label(cell) {
    var item = one("t" + cell.dataset.t), heading = item && item.querySelector("h3");
    return heading ? heading.textContent.replace(/\s+/g, " ").trim() : cell.dataset.t;
  }
  function focusable(cell) { cells.forEach(function (other) { other.setAttribute("tabindex", other === cell ? "0" : "-1"); }); }
  cells.sort(byTurn);
  cells.forEach(function (cell) {
    cell.addEventListener("focus", function () { cell.setAttribute("aria-label", label(cell)); focusable(cell); });
  });
  if (cells.length) { cells[0].setAttribute("aria-label", label(cells[0])); focusable(cells[0]); }
  document.addEventListener("keydown", function (event) {
    var at = cells.indexOf(document.activeElement);
    var by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -at, End: cells.length - 1 - at }[event.key];
    if (at < 0 || by === undefined) { return; }
    event.preventDefault();
    var next = cells[Math.min(cells.length - 1, Math.max(0, at + by))];
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (shown >= 0) { open(Number(next.dataset.t), next); }
  });

  // --- a frame says that it holds more than it shows

  function hint() {
    all(".hint").forEach(function (line) {
      var frame = line.nextElementSibling;
      line.hidden = frame.scrollWidth <= frame.clientWidth + 1 && frame.scrollHeight <= frame.clientHeight + 1;
    });
  }
  all("details").forEach(function (one) { one.addEventListener("toggle", hint); });
  window.addEventListener("resize", hint);
  hint();

  // --- filters

  var text = one("text"), topic = one("topic"), status = one("count"), listed = all(".filters ~ .turns > li");
  if (!text) { return; }

  function filter() {
    var wanted = text.value.trim().toLowerCase(), left = 0;
    listed.forEach(function (item) {
      var fits = (!topic || !topic.value || item.dataset.topic === topic.value) &&
        (!wanted || item.textContent.toLowerCase().indexOf(wanted) >= 0);
      item.hidden = !fits;
      left += fits ? 1 : 0;
    });
    cells.forEach(function (cell) { cell.classList.toggle("off", one("t" + cell.dataset.t).hidden); });
    status.textContent = status.dataset.words.replace("%n", String(left)).replace("%m", String(listed.length));
  }

  text.addEventListener("input", filter);
  if (topic) { topic.addEventListener("change", filter); }
  filter();
})();
