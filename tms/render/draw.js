"use strict";
// Draws the picture. Everything that comes from the data is put into the page as text, never as
// markup. What the other script needs is in `drawing`.
const drawing = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
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
  const MARKS = {
    died: "✗ ", retracted: "⊘ ", "not valid": "◌ ", expired: "◌ ", began: "● ",
    survived: "✓ ", revived: "↑ ", asked: "▶ ",
  };

  const outline = (role, w, h) => {
    if (role === "source") {
      const c = 11;
      return svg("path", { d: `M${c} 0H${w - c}L${w} ${h / 2}L${w - c} ${h}H${c}L0 ${h / 2}Z` });
    }
    if (role === "node") {
      const c = h / 5;
      return svg("path", { d: `M${c} 0H${w - c}L${w} ${c}V${h - c}L${w - c} ${h}H${c}L0 ${h - c}V${c}Z` });
    }
    if (role === "set") {
      return svg("path", { d: `M0 0H${w}V${h}H0ZM5 0V${h}M${w - 5} 0V${h}` });
    }
    return svg("rect", { width: w, height: h, rx: role === "fact" ? 4 : h / 2 });
  };

  const shape = (role, w, h) => {
    const made = outline(role, w, h);
    made.setAttribute("class", "shape");
    return made;
  };

  const drawNode = (node, number) => {
    const [x, y, w, h] = node.box;
    const classes = ["node", node.role, node.status.toLowerCase() || "untold"];
    for (const mark of node.marks) if (/^[a-z ]+$/.test(mark)) classes.push(mark.replace(/ /g, "-"));
    const made = svg("g", {
      class: classes.join(" "),
      transform: `translate(${x} ${y})`,
      role: "button",
      tabindex: -1,
      "aria-label": `${node.label}: ${node.words.join(", ")}`,
      "data-number": number,
    });
    made.append(svg("title", {}, `${node.shown}\n${node.words.join(", ")}`));
    const ring = outline(node.role, w + 10, h + 10);
    ring.setAttribute("class", "ring");
    ring.setAttribute("transform", "translate(-5 -5)");
    made.append(ring, shape(node.role, w, h));
    const label = svg("text", { class: "label", x: w / 2, y: 20, "text-anchor": "middle" });
    const sign = node.marks.map((mark) => MARKS[mark] || "").join("");
    label.textContent = node.label;
    const told = svg("text", { class: "told", x: w / 2, y: 36, "text-anchor": "middle" });
    told.append(svg("tspan", {}, sign));
    const words = node.role === "justification" ? node.words.slice(1) : node.words;
    words.forEach((word, place) => {
      if (place) told.append(svg("tspan", {}, ", "));
      const state = word === node.status || word === "fires" || word === "does not fire";
      told.append(svg("tspan", state ? { class: "state" } : {}, word));
    });
    made.append(label, told);
    $("nodes").append(made);
    return made;
  };

  // Where edges meet the sides of a node: spread out, in the order of where they come from.
  const onward = (edge) =>
    nodes[edge.to].box[0] >= nodes[edge.from].box[0] + nodes[edge.from].box[2] / 2;
  const middle = ([, y, , h]) => y + h / 2;
  const ports = { from: [], to: [] };
  for (const [end, other] of [["from", "to"], ["to", "from"]]) {
    const sides = new Map();
    edges.forEach((edge, number) => {
      const side = `${edge[end]} ${onward(edge)}`;
      const near = edge.bends.length ? edge.bends[end === "from" ? 0 : edge.bends.length - 1] : null;
      if (!sides.has(side)) sides.set(side, []);
      sides.get(side).push([near ? near[1] : middle(nodes[edge[other]].box), number]);
    });
    for (const side of sides.values()) {
      side.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const gap = Math.min(11, 30 / side.length);
      side.forEach(([, number], place) => {
        ports[end][number] = (place - (side.length - 1) / 2) * gap;
      });
    }
  }

  const drawEdge = (edge, number) => {
    const a = nodes[edge.from].box, b = nodes[edge.to].box, ahead = onward(edge);
    const start = [ahead ? a[0] + a[2] : a[0], middle(a) + ports.from[number]];
    const end = [ahead ? b[0] - 8 : b[0] + b[2] + 8, middle(b) + ports.to[number]];
    const points = [start, ...edge.bends, end];
    let d = `M${start[0]} ${start[1]}`;
    for (let place = 1; place < points.length; place += 1) {
      const [px, py] = points[place - 1], [qx, qy] = points[place];
      const pull = (ahead ? 1 : -1) * Math.max(24, Math.abs(qx - px) / 2);
      d += `C${px + pull} ${py} ${qx - pull} ${qy} ${qx} ${qy}`;
    }
    const path = svg("path", { class: `edge ${edge.kind}`, d });
    const size = edge.kind === "supports" ? 5.5 : 4.5, back = ahead ? -9 : 9;
    const tip = svg("path", {
      class: `tip ${edge.kind}`,
      d: `M${end[0] - back} ${end[1]}l${back} ${-size}v${2 * size}Z`,
    });
    $("edges").append(path, tip);
    const word = { circular: "↺ circular", lost: "✗ lost" }[edge.kind];
    if (word) {
      const [x, y] = points.length > 2
        ? points[points.length >> 1]
        : [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2];
      const said = svg("g", { class: "said" }), wide = word.length * 6.8;
      said.append(svg("rect", { x: x - wide / 2, y: y - 8, width: wide, height: 16, rx: 3 }));
      said.append(svg("text", { x, y: y + 4 }, word));
      $("said").append(said);
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
  $("picture").setAttribute("aria-label", `${data.title}: ${nodes.length} nodes, ${edges.length} edges`);

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
    set: "all of these together",
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

  return {
    $, tag, nodes, edges, drawn,
    lines, into, out, asked, width: data.width, height: data.height,
  };
})();
