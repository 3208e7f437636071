"use strict";
// What can be done with the picture: move and enlarge it, choose a node, go from node to node, find.
(() => {
  const { $, tag, nodes, edges, drawn, lines, into, out, asked } = drawing;
  const picture = $("picture"), world = $("world"), panel = $("panel"), find = $("find");
  const { width: wide, height: high } = drawing;

  // ---------------------------------------------------------------- moving and enlarging

  const view = { x: 0, y: 0, scale: 1 };
  const LEAST = 0.02, MOST = 6;
  const show = () => {
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
  };
  const size = () => picture.getBoundingClientRect();
  const move = (x, y) => { view.x += x; view.y += y; show(); };
  const zoom = (factor, x = size().width / 2, y = size().height / 2) => {
    const scale = Math.min(MOST, Math.max(LEAST, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    show();
  };
  const fit = () => {
    const { width, height } = size(), edge = 32;
    const room = Math.min((width - 2 * edge) / wide, (height - 2 * edge) / high);
    view.scale = Math.min(1.25, Math.max(LEAST, room));
    view.x = (width - wide * view.scale) / 2;
    view.y = (height - high * view.scale) / 2;
    show();
  };
  const centre = (number, scale = Math.max(view.scale, 0.8)) => {
    const [x, y, w, h] = nodes[number].box, { width, height } = size();
    view.scale = scale;
    view.x = width / 2 - (x + w / 2) * scale;
    view.y = height / 2 - (y + h / 2) * scale;
    show();
  };
  const within = (value, least, most) =>
    (least > most ? (least + most) / 2 : Math.min(most, Math.max(least, value)));
  const start = () => {
    fit();
    if (view.scale >= 0.6 || !nodes.length) return;
    centre(asked, 0.9);
    const { width, height } = size(), edge = 32;
    view.x = within(view.x, width - edge - wide * view.scale, edge);
    view.y = within(view.y, height - edge - high * view.scale, edge);
    show();
  };
  const reveal = (number) => {
    const [x, y, w, h] = nodes[number].box, { width, height } = size();
    const left = view.x + x * view.scale, top = view.y + y * view.scale;
    const inside = left >= 8 && top >= 8 && left + w * view.scale <= width - 8 &&
      top + h * view.scale <= height - 8;
    if (!inside || view.scale < 0.3) centre(number);
  };

  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = size();
    const step = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    zoom(Math.exp(-Math.max(-240, Math.min(240, step)) / 480), event.clientX - box.x, event.clientY - box.y);
  }, { passive: false });
  const held = new Map();
  let dragged = 0;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (!held.size) dragged = 0;
    held.set(event.pointerId, [event.clientX, event.clientY]);
  });
  picture.addEventListener("pointermove", (event) => {
    const last = held.get(event.pointerId);
    if (!last) return;
    const now = [event.clientX, event.clientY];
    const step = [now[0] - last[0], now[1] - last[1]];
    dragged += Math.abs(step[0]) + Math.abs(step[1]);
    if (held.size === 2) {
      const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const before = Math.hypot(last[0] - other[0], last[1] - other[1]) || 1;
      const after = Math.hypot(now[0] - other[0], now[1] - other[1]);
      const box = size();
      zoom(after / before, other[0] - box.x, other[1] - box.y);
    } else if (dragged > 3) {
      if (!picture.hasPointerCapture(event.pointerId)) picture.setPointerCapture(event.pointerId);
      picture.classList.add("moving");
      move(...step);
    }
    held.set(event.pointerId, now);
  });
  const release = (event) => {
    held.delete(event.pointerId);
    picture.classList.remove("moving");
  };
  picture.addEventListener("pointerup", release);
  picture.addEventListener("pointercancel", release);
  $("closer").addEventListener("click", () => zoom(1.3));
  $("further").addEventListener("click", () => zoom(1 / 1.3));
  $("fit").addEventListener("click", fit);
  $("back").addEventListener("click", () => { if (nodes.length) focus(asked, true); });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // ---------------------------------------------------------------- choosing

  let current = asked, chosen = -1;
  const focus = (number, always = false) => {
    drawn[current].setAttribute("tabindex", -1);
    current = number;
    drawn[number].setAttribute("tabindex", 0);
    if (always) centre(number); else reveal(number);
    drawn[number].focus({ preventScroll: true });
  };
  const links = (title, numbers, end) => {
    if (!numbers.length) return;
    $("near").append(tag("h3", `${title} (${numbers.length})`));
    for (const number of numbers.slice(0, 200)) {
      const node = nodes[edges[number][end]];
      const button = tag("button", node.label);
      button.type = "button";
      button.append(tag("div", `${edges[number].kind} · ${node.words.join(", ")}`, "kind"));
      button.addEventListener("click", () => { choose(edges[number][end]); focus(edges[number][end]); });
      $("near").append(button);
    }
    if (numbers.length > 200) $("near").append(tag("p", `… ${numbers.length - 200} more`));
  };
  const mark = (on) => {
    if (chosen < 0) return;
    drawn[chosen].classList.toggle("chosen", on);
    for (const number of [...into[chosen], ...out[chosen]]) lines[number].classList.toggle("chosen", on);
  };
  const choose = (number) => {
    mark(false);
    chosen = number;
    mark(true);
    const node = nodes[number];
    $("ref").textContent = node.shown;
    $("words").textContent = node.words.join(", ");
    $("details").replaceChildren();
    for (const [name, text] of node.details) $("details").append(tag("dt", name), tag("dd", text));
    $("near").replaceChildren();
    links("from", into[number], "from");
    links("to", out[number], "to");
    panel.hidden = false;
    panel.scrollTop = 0;
  };
  const close = () => {
    if (panel.hidden) return;
    panel.hidden = true;
    mark(false);
    const last = chosen;
    chosen = -1;
    focus(last);
  };
  $("close").addEventListener("click", close);
  $("nodes").addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (!node || dragged > 3) return;
    const number = Number(node.dataset.number);
    choose(number);
    focus(number);
  });

  // ---------------------------------------------------------------- keys

  const downwards = [...nodes.keys()].sort((a, b) => nodes[a].box[1] - nodes[b].box[1] || a - b);
  const beside = (number, step) => {
    const centred = (node) => node.box[0] + node.box[2] / 2;
    const x = centred(nodes[number]);
    const same = downwards.filter((other) => Math.abs(centred(nodes[other]) - x) < 60);
    return same[same.indexOf(number) + step];
  };
  const next = (key, number) => {
    if (key === "ArrowLeft") return into[number].length ? edges[into[number][0]].from : undefined;
    if (key === "ArrowRight") return out[number].length ? edges[out[number][0]].to : undefined;
    return beside(number, key === "ArrowDown" ? 1 : -1);
  };
  const SHIFT = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const writing = event.target === find;
    if (event.key === "Escape") {
      if (writing && find.value) { find.value = ""; search(); } else close();
      return;
    }
    if (writing) return;
    const onNode = event.target.closest && event.target.closest(".node");
    const onPicture = onNode || event.target === picture || event.target === document.body;
    const act = {
      "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit,
      "/": () => find.focus(),
      Home: () => nodes.length && focus(asked, true),
    }[event.key];
    if (act) {
      act();
    } else if (onPicture && event.key in SHIFT) {
      if (event.shiftKey) move(...SHIFT[event.key]);
      else if (!onNode) { if (nodes.length) focus(current); }
      else {
        const to = next(event.key, Number(onNode.dataset.number));
        if (to !== undefined) focus(to);
      }
    } else if (onPicture && (event.key === "Enter" || event.key === " ")) {
      if (!onNode) { if (nodes.length) focus(current); }
      else {
        choose(Number(onNode.dataset.number));
        $("ref").focus();
      }
    } else {
      return;
    }
    event.preventDefault();
  });

  // ---------------------------------------------------------------- finding

  const texts = nodes.map((node) =>
    [node.id, node.shown, node.label, ...node.words, ...node.details.map((pair) => pair[1])]
      .join("\n").toLowerCase());
  let hits = [], hit = -1;
  const search = () => {
    const wanted = find.value.trim().toLowerCase();
    for (const number of hits) drawn[number].classList.remove("hit");
    hits = wanted ? texts.flatMap((text, number) => (text.includes(wanted) ? [number] : [])) : [];
    for (const number of hits) drawn[number].classList.add("hit");
    picture.classList.toggle("finding", Boolean(wanted));
    hit = hits.length ? 0 : -1;
    jump(wanted);
  };
  const jump = (wanted) => {
    $("found").textContent = !wanted ? "" : hits.length ? `${hit + 1} of ${hits.length}` : "none";
    if (hit >= 0) centre(hits[hit]);
  };
  find.addEventListener("input", search);
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    if (hit < 0) return;
    if (find.dataset.entered === find.value) hit = (hit + 1) % hits.length;
    find.dataset.entered = find.value;
    jump(find.value);
    choose(hits[hit]);
  });

  if (nodes.length) drawn[asked].setAttribute("tabindex", 0);
  if (innerWidth < 900) $("legend").open = false;
  start();
})();
