"use strict";
// Everything that comes from the data is put into the page as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const picture = $("picture"), world = $("world"), panel = $("panel"), find = $("find");
  const { nodes, edges } = data;

  const svg = (name, attributes = {}, text = null) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  };
  const tag = (name, text, className = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    made.className = className;
    return made;
  };

  // ---------------------------------------------------------------- drawing

  const KINDS = {
    premise: "is a premise of",
    derives: "derives",
    supports: "supports: the fact rests on it",
    circular: "circular: only because the fact itself is IN",
    lost: "lost: does not derive it any more",
  };
  const MARKS = { died: "✗ ", retracted: "⊘ ", survived: "✓ ", revived: "↑ ", asked: "▶ " };

  const outline = (role, w, h) => {
    if (role === "source") {
      const c = 11;
      return svg("path", { d: `M${c} 0H${w - c}L${w} ${h / 2}L${w - c} ${h}H${c}L0 ${h / 2}Z` });
    }
    const rounding = { fact: 4, node: 14, justification: h / 2 }[role];
    return svg("rect", { width: w, height: h, rx: rounding });
  };

  const shape = (role, w, h) => {
    const made = outline(role, w, h);
    made.setAttribute("class", "shape");
    return made;
  };

  const drawNode = (node, number) => {
    const [x, y, w, h] = node.box;
    const classes = ["node", node.role, node.status.toLowerCase() || "untold"];
    for (const mark of node.marks) if (/^[a-z]+$/.test(mark)) classes.push(mark);
    const made = svg("g", {
      class: classes.join(" "),
      transform: `translate(${x} ${y})`,
      role: "button",
      tabindex: -1,
      "aria-label": `${node.label}: ${node.words.join(", ")}`,
      "data-number": number,
    });
    made.append(svg("title", {}, `${node.id}\n${node.words.join(", ")}`));
    const ring = outline(node.role, w + 10, h + 10);
    ring.setAttribute("class", "ring");
    ring.setAttribute("transform", "translate(-5 -5)");
    made.append(ring, shape(node.role, w, h));
    const label = svg("text", { class: "label", x: w / 2, y: 20, "text-anchor": "middle" });
    const sign = node.marks.map((mark) => MARKS[mark] || "").join("");
    label.textContent = node.label;
    const told = svg("text", { class: "told", x: w / 2, y: 36, "text-anchor": "middle" });
    told.append(svg("tspan", {}, sign));
    node.words.forEach((word, place) => {
      if (place) told.append(svg("tspan", {}, ", "));
      const state = word === node.status || word === "fires" || word === "does not fire";
      told.append(svg("tspan", state ? { class: "state" } : {}, word));
    });
    made.append(label, told);
    $("nodes").append(made);
    return made;
  };

  const drawEdge = (edge) => {
    const [ax, ay, aw, ah] = nodes[edge.from].box, [bx, by, bw, bh] = nodes[edge.to].box;
    const onward = bx >= ax + aw / 2;
    const start = [onward ? ax + aw : ax, ay + ah / 2];
    const end = [onward ? bx - 8 : bx + bw + 8, by + bh / 2];
    const points = [start, ...(onward ? edge.bends : [...edge.bends].reverse()), end];
    let d = `M${start[0]} ${start[1]}`;
    for (let place = 1; place < points.length; place += 1) {
      const [px, py] = points[place - 1], [qx, qy] = points[place];
      const pull = (onward ? 1 : -1) * Math.max(24, Math.abs(qx - px) / 2);
      d += `C${px + pull} ${py} ${qx - pull} ${qy} ${qx} ${qy}`;
    }
    const path = svg("path", { class: `edge ${edge.kind}`, d });
    const size = edge.kind === "supports" ? 5.5 : 4.5, back = onward ? -9 : 9;
    const tip = svg("path", {
      class: `tip ${edge.kind}`,
      d: `M${end[0] - back} ${end[1]}l${back} ${-size}v${2 * size}Z`,
    });
    $("edges").append(path, tip);
    if (edge.kind === "circular" || edge.kind === "lost") {
      const middle = points.length > 2
        ? points[points.length >> 1]
        : [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2];
      const word = edge.kind === "lost" ? "✗ lost" : "↺ circular";
      $("edges").append(svg("text", { class: "said", x: middle[0], y: middle[1] + 3 }, word));
    }
    return path;
  };

  $("title").textContent = data.title;
  for (const note of data.notes) $("notes").append(tag("li", note));
  if (data.more) $("notes").append(tag("li", data.more, "more"));
  for (const { title, box: [x, y, w, h] } of data.groups) {
    const made = svg("g", { class: "group" });
    made.append(svg("rect", { x: x - 18, y: y - 12, width: w + 36, height: h + 30, rx: 10 }));
    made.append(svg("text", { x, y: y + 14 }, title));
    $("groups").append(made);
  }
  const lines = edges.map(drawEdge);
  const drawn = nodes.map(drawNode);
  const into = nodes.map(() => []), out = nodes.map(() => []);
  edges.forEach((edge, number) => {
    out[edge.from].push(number);
    into[edge.to].push(number);
  });
  const asked = Math.max(0, nodes.findIndex((node) => node.marks.includes("asked")));
  picture.setAttribute("aria-label", `${data.title}: ${nodes.length} nodes, ${edges.length} edges`);

  // ---------------------------------------------------------------- legend

  const sign = (element, text) => {
    const item = document.createElement("li");
    const small = svg("svg", { width: 44, height: 20, "aria-hidden": "true" });
    small.append(element);
    item.append(small, document.createTextNode(text));
    $("signs").append(item);
  };
  const sampleNode = (role, status) => {
    const made = svg("g", { class: `node ${status}`, transform: "translate(3 2)" });
    made.append(shape(role, 38, 16));
    return made;
  };
  const has = (test) => nodes.some(test);
  const ROLES = {
    source: "source",
    fact: "fact",
    justification: "justification",
    node: "source or fact: the answer does not tell which",
  };
  for (const [role, text] of Object.entries(ROLES)) {
    if (has((node) => node.role === role)) sign(sampleNode(role, "untold"), text);
  }
  const STATES = {
    IN: "IN: it holds; a justification fires",
    OUT: "OUT: dashed; nothing that holds supports it",
    "": "status not told",
  };
  for (const [status, text] of Object.entries(STATES)) {
    if (has((node) => node.status === status)) {
      sign(sampleNode("fact", status.toLowerCase() || "untold"), text);
    }
  }
  for (const [kind, text] of Object.entries(KINDS)) {
    if (!edges.some((edge) => edge.kind === kind)) continue;
    const made = svg("g");
    made.append(svg("path", { class: `edge ${kind}`, d: "M2 10H32" }));
    made.append(svg("path", { class: `tip ${kind}`, d: "M42 10l-9 -4.5v9Z" }));
    sign(made, text);
  }
  for (const [mark, glyph] of Object.entries(MARKS)) {
    if (has((node) => node.marks.includes(mark))) {
      sign(svg("text", { x: 22, y: 15, "text-anchor": "middle" }, glyph.trim()), mark);
    }
  }

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
    const { width, height } = size(), edge = 40, top = 56;
    const room = Math.min((width - 2 * edge) / data.width, (height - edge - top) / data.height);
    view.scale = Math.min(1.25, Math.max(LEAST, room));
    view.x = (width - data.width * view.scale) / 2;
    view.y = top + (height - edge - top - data.height * view.scale) / 2;
    show();
  };
  const centre = (number, scale = Math.max(view.scale, 0.8)) => {
    const [x, y, w, h] = nodes[number].box, { width, height } = size();
    view.scale = scale;
    view.x = width / 2 - (x + w / 2) * scale;
    view.y = height / 2 - (y + h / 2) * scale;
    show();
  };
  const start = () => {
    fit();
    if (view.scale < 0.55 && nodes.length) centre(asked, 0.9);
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
    $("ref").textContent = escaped(node.id);
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
  const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  const escaped = (text) => text.replace(CONTROLS, (found) => {
    const code = found.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });
  $("close").addEventListener("click", close);
  $("nodes").addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (!node || dragged > 3) return;
    const number = Number(node.dataset.number);
    choose(number);
    focus(number);
  });

  // ---------------------------------------------------------------- keys

  const columns = [...nodes.keys()].sort((a, b) =>
    nodes[a].box[1] - nodes[b].box[1] || nodes[a].box[0] - nodes[b].box[0]);
  const beside = (number, step) => {
    const middle = (node) => node.box[0] + node.box[2] / 2;
    const x = middle(nodes[number]);
    const same = columns.filter((other) => Math.abs(middle(nodes[other]) - x) < 60);
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
    [node.id, escaped(node.id), node.label, ...node.words, ...node.details.map((pair) => pair[1])]
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
