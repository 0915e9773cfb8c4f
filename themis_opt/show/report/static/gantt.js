const MARGIN = { l: 58, r: 14, t: 8, b: 40 };
const HALF = 0.42;
const STRIPE = 0.15;
const MAX_LABELS = 150;

/** Stages of one dimension as a heat map of blocks: times of their edges, and which stage each column is. */
function blocks(timing, lane, keep, colourOf, numColours, scale) {
  const edges = [];
  const stages = [];
  const outer = [];
  const inner = [];
  for (const at of timing.byLane[lane]) {
    if (!keep(at) || timing.release[at] <= timing.start[at]) continue;
    const start = timing.start[at] / scale;
    if (!edges.length) edges.push(start);
    else if (start > edges.at(-1)) {
      edges.push(start);
      stages.push(-1);
      outer.push(null);
      inner.push(null);
    }
    edges.push(timing.release[at] / scale);
    stages.push(at);
    const colour = colourOf(timing.chunkOf(at));
    outer.push(colour);
    inner.push(timing.phase[at] === 1 ? colour + numColours : colour);
  }
  return { edges, stages, z: [outer, inner, outer] };
}

function stepScale(colours) {
  return colours.flatMap((colour, place) => [[place / colours.length, colour], [(place + 1) / colours.length, colour]]);
}

/** The figure of a schedule's stages; `stagesOf[curve][column]` says which stage a block is. */
function ganttFigure(timing, state) {
  const { scale, unit, range, followed, chosen } = state;
  const idle = pageColour("idle");
  const { colours, of } = chunkColours(timing.numChunks);
  const all = [...colours, ...colours.map((colour) => mixed(colour, idle, 0.72))];
  const look = { type: "heatmap", colorscale: stepScale(all), zmin: -0.5, zmax: all.length - 0.5, showscale: false };
  const data = [];
  const stagesOf = [];
  const draw = (keep, opacity) => {
    timing.run.lanes.forEach((_, lane) => {
      const { edges, stages, z } = blocks(timing, lane, keep, of, colours.length, scale);
      const y = [lane - HALF, lane - STRIPE, lane + STRIPE, lane + HALF];
      data.push({ ...look, x: edges, y, z, opacity, hoverongaps: false, hoverinfo: "none" });
      stagesOf.push(stages);
    });
  };
  draw(() => true, followed === null ? 1 : 0.16);
  if (followed !== null) {
    draw((at) => timing.chunkOf(at) === followed, 1);
    data.push(wayOf(timing, followed, scale));
  }
  data.push(labelsOf(timing, state, colours, of));
  const full = timing.view.makespan_ps / scale;
  const shapes = timing.run.lanes.map((_, lane) => ({
    type: "rect", layer: "below", x0: 0, x1: full, y0: lane - HALF, y1: lane + HALF,
    fillcolor: idle, line: { width: 0 },
  }));
  shapes.push(upright(timing.view.bound_ps / scale, "dash", pageColour("accent")));
  shapes.push(upright(full, "solid", pageColour("ink")));
  if (chosen !== null) shapes.push(frameOf(timing, chosen, scale));
  const names = timing.run.lanes.map((lane) => lane.name);
  const layout = plotLayout({
    margin: MARGIN,
    height: Math.max(120, names.length * (isNarrow() ? 46 : 62)) + MARGIN.t + MARGIN.b,
    hovermode: "closest",
    dragmode: isCoarse.matches ? false : "zoom",
    xaxis: plotAxis({ range, title: { text: `time [${unit}]`, standoff: 6 }, fixedrange: isCoarse.matches }),
    yaxis: plotAxis({
      range: [names.length - 0.5, -0.5], tickvals: names.map((_, lane) => lane), ticktext: names, fixedrange: true,
      showgrid: false, ticks: "",
    }),
    shapes,
  });
  return { data, layout, stagesOf };
}

/** A line that follows a chunk from stage to stage, waiting times included. */
function wayOf(timing, chunk, scale) {
  const x = [];
  const y = [];
  for (let at = chunk * timing.perChunk; at < (chunk + 1) * timing.perChunk; at++) {
    x.push(timing.start[at] / scale, timing.end[at] / scale);
    y.push(timing.lane[at], timing.lane[at]);
  }
  const line = { color: pageColour("ink"), width: 1.5, dash: "dot" };
  return { type: "scatter", mode: "lines", x, y, line, hoverinfo: "skip" };
}

/** Numbers of chunks on the blocks that are wide enough for them. */
function labelsOf(timing, state, colours, of) {
  const [from, to] = state.range.map((time) => time * state.scale);
  const wide = ((to - from) / Math.max(state.width, 1)) * (timing.numChunks > 100 ? 26 : 20);
  const labels = { x: [], y: [], text: [], colour: [] };
  for (const stages of timing.byLane) {
    for (const at of stages) {
      const start = Math.max(timing.start[at], from);
      const release = Math.min(timing.release[at], to);
      const chunk = timing.chunkOf(at);
      if (release - start < wide || (state.followed !== null && chunk !== state.followed)) continue;
      const colour = colours[of(chunk)];
      const shown = timing.phase[at] === 1 ? mixed(colour, pageColour("idle"), 0.72) : colour;
      labels.x.push((start + release) / 2 / state.scale);
      labels.y.push(timing.lane[at]);
      labels.text.push(String(chunk));
      labels.colour.push(isLight(shown) ? "#111111" : "#ffffff");
      if (labels.x.length > MAX_LABELS) return { ...TEXT, x: [], y: [], text: [] };
    }
  }
  const { x, y, text, colour } = labels;
  return { ...TEXT, x, y, text, textfont: { color: colour, size: 11 } };
}

const TEXT = { type: "scatter", mode: "text", hoverinfo: "skip", cliponaxis: true };

function isLight(colour) {
  const [red, green, blue] = channels(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140;
}

function isNarrow() {
  return document.documentElement.clientWidth < 600;
}

function upright(x, dash, color) {
  return { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color, width: 1.5, dash } };
}

function frameOf(timing, at, scale) {
  const lane = timing.lane[at];
  const line = { color: pageColour("ink"), width: 2.5 };
  const x = [timing.start[at] / scale, timing.release[at] / scale];
  return { type: "rect", x0: x[0], x1: x[1], y0: lane - HALF, y1: lane + HALF, line };
}
