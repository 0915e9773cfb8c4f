const MAX_LINES = 60;
const LONGEST_TITLE = 34;
const UNITS = {
  time: TIME_UNITS.map(([unit, scale]) => [unit, scale]),
  size: [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
  bandwidth: [["TB/s", 1e12], ["GB/s", 1e9], ["MB/s", 1e6], ["KB/s", 1e3], ["B/s", 1]],
};

/** The plots of a study or a comparison of several instances: a metric, and the gap, across an axis. */
class Sweep {
  constructor(onHighlight, onSelect) {
    this.onHighlight = onHighlight;
    this.onSelect = onSelect;
    this.columns = DATA.grid.columns;
    this.values = DATA.grid.values;
    this.known = new Map();
    this.highlighted = -1;
    this.selected = -1;
    this.axes = this.#places((column, place) => column.part === "axis" && this.#distinct(place).length > 1);
    const isDrawn = (column, place) => column.quantity !== "text" && this.#distinct(place).length > 0;
    this.metrics = this.#places((column, place) => column.part === "metric" && isDrawn(column, place));
    this.gap = this.columns.findIndex((column) => column.key === "gap");
    this.bound = this.columns.findIndex((column) => column.key === "bound_ps");
    const words = this.axes.filter((place) => this.columns[place].quantity === "text");
    this.scheduler = words.find((place) => this.columns[place].key === "scheduler") ?? words[0] ?? -1;
    this.#fill("sweep-x", this.#acrossFirst());
    this.#fill("sweep-y", this.#makespanFirst());
    for (const id of ["sweep-x", "sweep-y"]) byId(id).addEventListener("change", () => this.draw());
    const others = this.axes.filter((place) => place !== this.scheduler);
    this.only = new Map(others.map((place) => [place, this.values[0][place]]));
    onThemeChange.push(() => this.draw());
  }

  #places(keep) {
    return this.columns.map((_, place) => place).filter((place) => keep(this.columns[place], place));
  }

  /** The different values of a column, in the table's order. */
  #distinct(place) {
    if (!this.known.has(place)) {
      const values = new Set(this.values.map((row) => row[place]));
      values.delete(null);
      this.known.set(place, [...values]);
    }
    return this.known.get(place);
  }

  #acrossFirst() {
    const numeric = this.axes.filter((place) => this.columns[place].quantity !== "text");
    const words = this.axes.filter((place) => !numeric.includes(place) && place !== this.scheduler);
    numeric.sort((one, other) => this.#distinct(other).length - this.#distinct(one).length);
    return [...numeric, ...words, Math.max(this.scheduler, 0)];
  }

  #makespanFirst() {
    const rank = (place) => ["makespan_ps", "busbw_Bps"].indexOf(this.columns[place].key) >>> 0;
    return [...this.metrics].sort((one, other) => rank(one) - rank(other));
  }

  #fill(id, places) {
    for (const place of places) byId(id).append(make("option", this.columns[place].heading, { value: String(place) }));
  }

  async draw() {
    const x = Number(byId("sweep-x").value);
    const y = Number(byId("sweep-y").value);
    if (!this.metrics.length) return;
    this.#showOthers(x);
    const series = this.#series(x);
    this.#showLegend(series, y);
    this.plots = [["sweep", y]];
    if (this.gap >= 0 && this.#distinct(this.gap).length) this.plots.push(["gap", this.gap]);
    for (const id of ["gap", "gap-heading", "gap-note"]) byId(id).hidden = this.plots.length < 2;
    for (const [id, metric] of this.plots) {
      const isNew = !byId(id).data;
      const { data, layout } = this.#figure(series, x, metric);
      await Plotly.react(byId(id), data, layout, PLOT_CONFIG);
      if (isNew) this.#listen(byId(id));
    }
    this.#mark();
  }

  #listen(plot) {
    const rowOf = (event) => event.points[0].customdata ?? -1;
    plot.on("plotly_hover", (event) => this.onHighlight(rowOf(event)));
    plot.on("plotly_unhover", () => this.onHighlight(-1));
    plot.on("plotly_click", (event) => this.onSelect(rowOf(event)));
  }

  /** Rows that differ in the axis across alone are a line; lines of one scheduler look alike. */
  #series(x) {
    const others = this.axes.filter((place) => place !== x);
    const names = this.scheduler >= 0 && this.scheduler !== x ? this.#distinct(this.scheduler) : [null];
    const series = new Map();
    this.values.forEach((row, index) => {
      if (row[x] === null || !this.#isShown(row, x)) return;
      const key = JSON.stringify(others.map((place) => row[place]));
      if (!series.has(key)) {
        const name = names[0] === null ? "" : String(row[this.scheduler]);
        series.set(key, { name, look: Math.max(0, names.indexOf(row[this.scheduler])), rows: [] });
      }
      series.get(key).rows.push(index);
    });
    return [...series.values()];
  }

  /** Whether a row has the values that were chosen on the axes that are not across. */
  #isShown(row, x) {
    return [...this.only].every(([place, value]) => place === x || value === undefined || row[place] === value);
  }

  /** A choice for every axis that is not across: one of its values, or all of them. */
  #showOthers(x) {
    const labels = [...this.only.keys()].filter((place) => place !== x).map((place) => {
      const label = make("label", `${this.columns[place].heading} `);
      const select = make("select", "", { "data-axis": String(place) });
      select.append(make("option", "all", { value: "" }));
      const distinct = this.#distinct(place);
      distinct.forEach((value, at) => {
        const row = this.values.findIndex((one) => one[place] === value);
        select.append(make("option", DATA.grid.texts[row][place], { value: String(at) }));
      });
      select.value = this.only.get(place) === undefined ? "" : String(distinct.indexOf(this.only.get(place)));
      select.addEventListener("change", () => {
        this.only.set(place, select.value === "" ? undefined : distinct[Number(select.value)]);
        this.draw();
        byId("sweep-others").querySelector(`[data-axis="${place}"]`)?.focus();
      });
      label.append(select);
      return label;
    });
    byId("sweep-others").replaceChildren(...labels);
  }

  #figure(series, x, y) {
    const across = this.#scale(x);
    const up = this.#scale(y);
    const lines = series.length <= MAX_LINES ? "lines+markers" : "markers";
    const data = [];
    for (const one of series) {
      const rows = one.rows.filter((index) => this.values[index][y] !== null);
      rows.sort((a, b) => across.of(this.values[a][x]) - across.of(this.values[b][x]));
      const color = DISTINCT[one.look % DISTINCT.length];
      data.push({
        type: "scatter", mode: across.isText ? "markers" : lines, customdata: rows, hoverinfo: "none",
        cliponaxis: false,
        x: rows.map((index) => across.of(this.values[index][x])), y: rows.map((index) => up.of(this.values[index][y])),
        line: { color, width: 1.8 }, marker: { color, size: 8, symbol: SYMBOLS[one.look % SYMBOLS.length][0] },
      });
    }
    if (this.columns[y].key === "makespan_ps" && this.bound >= 0) data.push(...this.#bounds(series, x, across, up));
    const ring = { size: 17, color: "rgba(0,0,0,0)", line: { width: 3, color: pageColour("ink") } };
    data.push({ type: "scatter", mode: "markers", x: [], y: [], marker: ring, hoverinfo: "skip", cliponaxis: false });
    const layout = plotLayout({
      margin: { l: 64, r: 14, t: 8, b: 50 }, height: isNarrow() ? 260 : 320, hovermode: "closest",
      dragmode: isCoarse.matches ? false : "zoom",
      xaxis: plotAxis({ ...across.axis, title: { text: plotText(this.#titled(x, across), LONGEST_TITLE), standoff: 8 } }),
      yaxis: plotAxis({ ...up.axis, title: { text: plotText(this.#titled(y, up), LONGEST_TITLE), standoff: 8 } }),
    });
    return { data, layout };
  }

  #titled(place, scale) {
    const heading = this.columns[place].heading.replace(/ GB\/s$/, "");
    return scale.unit ? `${heading} [${scale.unit}]` : heading;
  }

  /** The lowest bound at each place, as a dashed line: nothing can be below it. */
  #bounds(series, x, across, up) {
    const lowest = new Map();
    for (const index of series.flatMap((one) => one.rows)) {
      const bound = this.values[index][this.bound];
      const at = across.of(this.values[index][x]);
      if (bound !== null) lowest.set(at, Math.min(bound, lowest.get(at) ?? Infinity));
    }
    const places = [...lowest.keys()].sort((a, b) => a - b);
    const line = { color: pageColour("ink"), width: 1.5, dash: "dash" };
    return [{
      type: "scatter", mode: across.isText ? "markers" : "lines", line, hoverinfo: "skip",
      x: places, y: places.map((at) => up.of(lowest.get(at))),
      marker: { symbol: "line-ew-open", size: 16, color: pageColour("ink") },
    }];
  }

  /** How the values of a column become places on an axis. */
  #scale(place) {
    const { quantity } = this.columns[place];
    const distinct = this.#distinct(place);
    if (quantity === "text") {
      const ticktext = distinct.map((value) => plotText(String(value), isNarrow() ? 9 : 18));
      const axis = { tickvals: distinct.map((_, at) => at), ticktext, range: [-0.5, distinct.length - 0.5] };
      return { of: (value) => distinct.indexOf(value), axis, unit: "", isText: true };
    }
    if (quantity === "share") {
      return { of: (value) => value, axis: { tickformat: ".3~%", rangemode: "tozero" }, unit: "", isText: false };
    }
    const largest = Math.max(...distinct);
    const [unit, scale] = UNITS[quantity]?.find(([, size]) => largest >= size) ?? UNITS[quantity]?.at(-1) ?? ["", 1];
    const least = Math.min(...distinct);
    const isLog = least > 0 && largest / least >= 8;
    const isVaried = this.columns[place].part === "axis" && distinct.length <= (isNarrow() ? 5 : 12);
    let ticks = {};
    if (isVaried) ticks = this.#ownTicks(place, distinct, scale);
    else if (isLog) ticks = roundTicks(least / scale, largest / scale);
    const axis = isLog ? { type: "log", ...ticks } : { rangemode: isVaried ? "normal" : "tozero", ...ticks };
    return { of: (value) => value / scale, axis, unit: isVaried ? "" : unit, isText: false };
  }

  /** The values themselves, as the table has them, where a few were chosen. */
  #ownTicks(place, distinct, scale) {
    const rows = distinct.map((value) => this.values.findIndex((row) => row[place] === value));
    const ticktext = rows.map((row) => plotText(DATA.grid.texts[row][place]));
    return { tickvals: distinct.map((value) => value / scale), ticktext };
  }

  #showLegend(series, y) {
    const seen = new Map(series.map((one) => [one.name, one.look]));
    const nodes = [...seen].filter(([name]) => name).map(([name, look]) => {
      const node = make("span");
      const mark = make("i", SYMBOLS[look % SYMBOLS.length][1], { class: "symbol", "aria-hidden": "true" });
      mark.style.color = DISTINCT[look % DISTINCT.length];
      node.append(mark, ` ${name}`);
      return node;
    });
    if (this.columns[y].key === "makespan_ps" && this.bound >= 0) nodes.push(keyed("key-bound-ink", "lowest bound"));
    byId("sweep-legend").replaceChildren(...nodes);
  }

  highlight(index) {
    this.highlighted = index;
    this.#mark();
  }

  /** Ring a row's point for good; the plots go where it is. */
  select(index) {
    this.selected = index;
    const row = this.values[index];
    if (!row || this.#isShown(row, Number(byId("sweep-x").value))) return this.#mark();
    for (const [place, value] of this.only) if (value !== undefined) this.only.set(place, row[place]);
    return this.draw();
  }

  /** Ring the point of the row that is pointed at, and of the one that is selected. */
  #mark() {
    const x = Number(byId("sweep-x").value);
    const marked = [...new Set([this.selected, this.highlighted])].filter((index) => index >= 0);
    this.#tell(marked.at(-1) ?? -1, x);
    const rows = marked.filter((index) => this.#isShown(this.values[index], x));
    for (const [id, metric] of this.plots ?? []) {
      const plot = byId(id);
      const shown = rows.filter((index) => this.values[index][x] !== null && this.values[index][metric] !== null);
      const places = (column) => shown.map((index) => this.#scale(column).of(this.values[index][column]));
      Plotly.restyle(plot, { x: [places(x)], y: [places(metric)] }, [plot.data.length - 1]);
    }
  }

  #tell(index, x) {
    if (index < 0) return;
    const cells = [...byId("results").querySelector(`tr[data-row="${index}"]`).cells];
    const told = cells.map((cell, place) => `${this.columns[place].heading} ${cell.textContent}`);
    const isShown = this.#isShown(this.values[index], x);
    const elsewhere = isShown ? "" : " (select its row to see its point: the plots show others now)";
    byId("point").textContent = told.join(", ") + elsewhere;
  }
}

/** A few round numbers for a logarithmic axis from one number to another. */
function roundTicks(least, largest) {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(largest))];
  const digits = last - first <= 3 ? [1, 2, 5] : [1];
  const tickvals = [];
  for (let power = first; power <= last; power++) tickvals.push(...digits.map((digit) => Number(`${digit}e${power}`)));
  return { tickvals, ticktext: tickvals.map((value) => String(Number(value.toPrecision(4)))) };
}
