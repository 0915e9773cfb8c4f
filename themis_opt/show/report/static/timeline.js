/** The timeline: which schedule, which times, which chunk; everything else follows from that. */
class TimelineView {
  constructor(onShow) {
    this.onShow = onShow;
    this.timings = new Map();
    this.index = -1;
    this.followed = null;
    this.chosen = null;
    this.player = new Player((ps) => this.#showMoment(ps));
    this.#fillChoices();
    this.#listen();
    onThemeChange.push(() => this.draw());
  }

  /** Show the schedule of a row, if it can be drawn. */
  async show(index) {
    const view = DATA.views[index];
    if (!view?.kinds || index === this.index) return;
    const changesRun = this.index < 0 || DATA.views[this.index].run !== view.run;
    this.index = index;
    if (!this.timings.has(index)) this.timings.set(index, await Timing.of(view, DATA.runs[view.run]));
    if (this.index !== index) return;
    this.timing = this.timings.get(index);
    const rivals = DATA.views.filter((other) => other.run === view.run && other.kinds);
    const makespans = rivals.map((other) => other.makespan_ps);
    const longest = Math.max(...makespans, 1);
    [this.unit, this.scale] = timeUnit(longest);
    this.longest = longest / this.scale;
    if (changesRun) {
      this.sharesAxis = makespans.length > 1 && longest <= 3 * Math.min(...makespans);
      byId("same-axis").hidden = makespans.length < 2;
      byId("same-axis").setAttribute("aria-pressed", String(this.sharesAxis));
    }
    if (changesRun || !this.sharesAxis) this.range = this.#all();
    if (this.followed !== null && this.followed >= this.timing.numChunks) this.followed = null;
    this.chosen = null;
    byId("chunk").max = String(this.timing.numChunks - 1);
    this.#showChoices(view);
    this.#showStage();
    await this.draw();
    this.onShow(index);
  }

  async draw() {
    if (!this.timing) return;
    const state = this.#state();
    const { data, layout, stagesOf } = ganttFigure(this.timing, state);
    this.stagesOf = stagesOf;
    await Plotly.react(byId("gantt"), data, layout, PLOT_CONFIG);
    await this.#drawUse();
    byId("legend").replaceChildren(...legendNodes(this.timing));
    this.#moveCursor();
    this.player.limit(this.range[0] * this.scale, this.range[1] * this.scale, this.timing.view.makespan_ps);
  }

  async #drawUse() {
    const { data, layout, step } = useFigure(this.timing, this.#state());
    const window_ = formatTime(Math.max(1, Math.round(step)));
    byId("use-heading").textContent =
      `Bandwidth use over time, in windows of ${window_}; left: over the whole makespan`;
    await Plotly.react(byId("use"), data, layout, PLOT_CONFIG);
  }

  #state() {
    const width = byId("stages").clientWidth - MARGIN.l - MARGIN.r;
    const { scale, unit, followed, chosen } = this;
    // A copy each time: plotly writes into the ranges that it is given.
    return { scale, unit, range: [...this.range], followed, chosen, width };
  }

  #all() {
    const end = this.sharesAxis ? this.longest : Math.max(this.timing.view.makespan_ps, 1) / this.scale;
    return [-0.005 * end, 1.02 * end];
  }

  zoomTo(from, to) {
    const [first, last] = this.#all();
    const width = Math.min(Math.max(to - from, 20 / this.scale), last - first);
    const start = Math.min(Math.max(from, -0.005 * width), last - width);
    this.range = [start, start + width];
    byId("tip").hidden = true;
    return this.draw();
  }

  zoomBy(factor) {
    const [from, to] = this.range;
    const { start, release } = this.timing;
    const at = this.chosen === null ? NaN : (start[this.chosen] + release[this.chosen]) / 2 / this.scale;
    const middle = at > from && at < to ? at : (from + to) / 2;
    const half = ((to - from) * factor) / 2;
    return this.zoomTo(middle - half, middle + half);
  }

  moveBy(part) {
    const [from, to] = this.range;
    const way = (to - from) * part;
    return this.zoomTo(from + way, to + way);
  }

  follow(chunk) {
    this.followed = chunk;
    if (chunk !== null) byId("chunk").value = String(chunk);
    byId("follow").setAttribute("aria-pressed", String(chunk !== null));
    byId("follow").textContent = chunk === null ? "Follow" : "Show all";
    return this.draw();
  }

  /** Frame a stage, tell it, and bring it into view. */
  choose(at) {
    this.chosen = at;
    byId("tip").hidden = true;
    this.#showStage();
    if (at === null) return this.draw();
    byId("chunk").value = String(this.timing.chunkOf(at));
    const [from, to] = this.range;
    const [start, end] = [this.timing.start[at] / this.scale, this.timing.release[at] / this.scale];
    if (start < from || end > to) {
      const middle = (start + end) / 2;
      return this.zoomTo(middle - (to - from) / 2, middle + (to - from) / 2);
    }
    return this.draw();
  }

  #fillChoices() {
    const instances = byId("instance");
    DATA.runs.forEach((run, place) => instances.append(make("option", run.title, { value: String(place) })));
    byId("instance-choice").hidden = DATA.runs.length < 2;
    instances.addEventListener("change", () => {
      const run = Number(instances.value);
      const current = DATA.views[this.index]?.name;
      const views = DATA.views.filter((view) => view.run === run && view.kinds);
      const next = views.find((view) => view.name === current) ?? views[0];
      if (next) this.show(next.row);
    });
  }

  #showChoices(view) {
    byId("instance").value = String(view.run);
    const group = byId("schedules");
    if (group.dataset.run !== String(view.run)) {
      group.dataset.run = String(view.run);
      group.replaceChildren(group.querySelector("legend"));
      for (const other of DATA.views.filter((one) => one.run === view.run)) {
        const input = make("input", "", { type: "radio", name: "schedule", value: String(other.row) });
        input.disabled = !other.kinds;
        input.addEventListener("change", () => this.show(other.row));
        const label = make("label");
        label.append(input, make("span", other.name));
        group.append(label);
      }
    }
    for (const input of group.querySelectorAll("input")) input.checked = Number(input.value) === view.row;
  }

  #listen() {
    const actions = {
      earlier: () => this.moveBy(-0.5), later: () => this.moveBy(0.5), "zoom-in": () => this.zoomBy(0.5),
      "zoom-out": () => this.zoomBy(2), "zoom-all": () => this.zoomTo(...this.#all()),
      follow: () => this.follow(this.followed === null ? this.#typedChunk() : null),
    };
    for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
    byId("same-axis").addEventListener("click", () => {
      this.sharesAxis = !this.sharesAxis;
      byId("same-axis").setAttribute("aria-pressed", String(this.sharesAxis));
      this.zoomTo(...this.#all());
    });
    byId("chunk").addEventListener("change", () => {
      const chunk = this.#typedChunk();
      this.choose(chunk * this.timing.perChunk);
      if (this.followed !== null) this.follow(chunk);
    });
    byId("stages").addEventListener("keydown", (event) => this.#press(event));
    let width = document.documentElement.clientWidth;
    addEventListener("resize", () => {
      if (document.documentElement.clientWidth === width) return;
      width = document.documentElement.clientWidth;
      this.draw();
    });
  }

  #typedChunk() {
    const last = this.timing.numChunks - 1;
    const chunk = Math.min(Math.max(Math.round(Number(byId("chunk").value)) || 0, 0), last);
    byId("chunk").value = String(chunk);
    return chunk;
  }

  /** Listen to what plotly tells, once there are plots. */
  listenToPlots() {
    const gantt = byId("gantt");
    gantt.on("plotly_hover", (event) => this.#point(event));
    gantt.on("plotly_unhover", () => (byId("tip").hidden = true));
    gantt.on("plotly_click", (event) => {
      const at = this.#stageAt(event);
      if (at < 0) return;
      this.chosen = at;
      this.#showStage();
      this.follow(this.timing.chunkOf(at));
    });
    for (const plot of [gantt, byId("use")]) {
      plot.on("plotly_relayout", (change) => {
        const from = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0];
        const to = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
        const isNew = from !== undefined && (from !== this.range[0] || to !== this.range[1]);
        if (isNew) this.zoomTo(Number(from), Number(to));
      });
      plot.on("plotly_doubleclick", () => {
        this.zoomTo(...this.#all());
        return false;
      });
    }
  }

  #stageAt(event) {
    const point = event.points[0];
    const stages = this.stagesOf[point.curveNumber];
    return stages?.[point.pointNumber[1]] ?? -1;
  }

  #point(event) {
    const at = this.#stageAt(event);
    const tip = byId("tip");
    tip.hidden = at < 0;
    if (at < 0) return;
    tip.replaceChildren(...factNodes(this.timing.facts(at)));
    const box = byId("stages").getBoundingClientRect();
    const pointer = event.event ?? { clientX: box.left + box.width / 2, clientY: box.top };
    const left = pointer.clientX - box.left + 14;
    tip.style.left = `${Math.max(0, Math.min(left, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${pointer.clientY - box.top + 18}px`;
  }

  #press(event) {
    if (event.target !== byId("stages") || event.ctrlKey || event.metaKey || event.altKey || !this.timing) return;
    const { perChunk, numChunks } = this.timing;
    const at = this.chosen;
    const chunk = at === null ? 0 : this.timing.chunkOf(at);
    const stage = at === null ? -1 : this.timing.stageOf(at);
    const goTo = (nextChunk, nextStage) => {
      const place = Math.min(Math.max(nextStage, 0), perChunk - 1);
      const next = Math.min(Math.max(nextChunk, 0), numChunks - 1);
      this.chosen = next * perChunk + place;
      if (this.followed !== null) this.followed = next;
      this.choose(this.chosen);
    };
    const actions = {
      ArrowRight: () => goTo(chunk, stage + 1), ArrowLeft: () => goTo(chunk, stage - 1),
      ArrowDown: () => goTo(at === null ? 0 : chunk + 1, stage), ArrowUp: () => goTo(chunk - 1, stage),
      Home: () => goTo(chunk, 0), End: () => goTo(chunk, perChunk - 1),
      Enter: () => this.follow(this.followed === null ? chunk : null),
      Escape: () => { this.chosen = null; this.#showStage(); this.follow(null); },
      "+": () => this.zoomBy(0.5), "=": () => this.zoomBy(0.5), "-": () => this.zoomBy(2),
      0: () => this.zoomTo(...this.#all()), " ": () => this.player.toggle(),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  #showStage() {
    byId("stage").replaceChildren(...(this.chosen === null ? [] : factNodes(this.timing.facts(this.chosen))));
  }

  #showMoment(ps) {
    this.#moveCursor();
    if (!this.timing) return;
    const nodes = this.timing.run.lanes.map((lane, place) => {
      const at = this.timing.holding(place, ps);
      const node = make("span", `${lane.name}: `);
      node.append(make("b", at < 0 ? "idle" : `chunk ${this.timing.chunkOf(at)} ${this.timing.phaseName(at)}`));
      return node;
    });
    byId("now").replaceChildren(make("span", `at ${formatTime(Math.round(ps))}`), ...nodes);
  }

  #moveCursor() {
    const cursor = byId("cursor");
    const axis = byId("gantt")._fullLayout?.xaxis;
    const time = this.player ? this.player.ps / this.scale : 0;
    const isMoving = Boolean(axis) && (this.player.isPlaying || time > 0);
    const isShown = isMoving && time >= this.range[0] && time <= this.range[1];
    cursor.hidden = !isShown;
    if (isShown) cursor.style.transform = `translateX(${axis._offset + axis.l2p(time)}px)`;
  }
}
