/** What colours, stripes and lines of a timeline mean. */
function legendNodes({ view, run, numChunks }) {
  const { colours } = chunkColours(numChunks);
  const bar = make("span", "", { class: "swatches", "aria-hidden": "true" });
  const shown = numChunks <= DISTINCT.length ? colours : colours.filter((_, place) => place % 8 === 0);
  for (const colour of shown) {
    const swatch = make("i");
    swatch.style.background = colour;
    bar.append(swatch);
  }
  const chunks = make("span", numChunks > 1 ? `chunk 0 to ${numChunks - 1} ` : "chunk 0 ");
  chunks.append(bar);
  const phases = run.phases.length > 1 ? [keyed("key-rs", run.phases[0]), keyed("key-ag", run.phases[1])] : [];
  const marks = [keyed("key-end", `makespan ${view.makespan}`), keyed("key-bound", `bound ${view.bound}`)];
  return [chunks, ...phases, keyed("key-idle", "idle"), ...marks, ...run.lanes.map((lane) => make("span", lane.label))];
}

function keyed(name, text) {
  const node = make("span");
  node.append(make("i", "", { class: `key ${name}`, "aria-hidden": "true" }), ` ${text}`);
  return node;
}

/** Names and values as a list of descriptions. */
function factNodes(facts) {
  const list = make("dl");
  for (const [name, value] of facts) {
    const pair = make("div");
    pair.append(make("dt", name), make("dd", value));
    list.append(pair);
  }
  return [list];
}
