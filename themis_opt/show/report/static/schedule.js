/** The stages of one schedule as flat arrays: stage `s` of chunk `c` is at `c * perChunk + s`. */
class Timing {
  constructor(view, run, starts) {
    this.view = view;
    this.run = run;
    this.numChunks = view.kind_of.length;
    this.perChunk = view.kinds[0].path.length;
    this.start = starts;
    const count = this.numChunks * this.perChunk;
    this.lane = new Uint8Array(count);
    this.phase = new Uint8Array(count);
    this.release = new Float64Array(count);
    this.end = new Float64Array(count);
    for (let chunk = 0; chunk < this.numChunks; chunk++) {
      const kind = view.kinds[view.kind_of[chunk]];
      for (let stage = 0; stage < this.perChunk; stage++) {
        const at = chunk * this.perChunk + stage;
        [this.phase[at], this.lane[at]] = kind.path[stage];
        this.release[at] = starts[at] + kind.hold[stage];
        this.end[at] = starts[at] + kind.duration[stage];
      }
    }
    this.byLane = run.lanes.map((_, lane) => this.#sequence(lane));
  }

  /** Read a view's packed starts and make its timing. */
  static async of(view, run) {
    const buffer = await unpacked(view.starts).arrayBuffer();
    return new Timing(view, run, new Float64Array(buffer));
  }

  #sequence(lane) {
    const stages = [];
    for (let at = 0; at < this.lane.length; at++) if (this.lane[at] === lane) stages.push(at);
    return Int32Array.from(stages.sort((a, b) => this.start[a] - this.start[b] || this.release[a] - this.release[b]));
  }

  chunkOf(at) {
    return Math.floor(at / this.perChunk);
  }

  stageOf(at) {
    return at % this.perChunk;
  }

  kindOf(at) {
    return this.view.kinds[this.view.kind_of[this.chunkOf(at)]];
  }

  sentBytes(at) {
    return this.kindOf(at).sent[this.stageOf(at)];
  }

  phaseName(at) {
    return this.run.phases[this.phase[at]];
  }

  /** The stage that holds a dimension at a time, or -1. */
  holding(lane, ps) {
    const stages = this.byLane[lane];
    let low = 0;
    let high = stages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[stages[middle]] <= ps) low = middle + 1;
      else high = middle;
    }
    for (let place = low - 1; place >= 0 && place >= low - 3; place--) {
      if (this.release[stages[place]] > ps) return stages[place];
    }
    return -1;
  }

  /** Names and values that say everything of a stage. */
  facts(at) {
    const stage = this.stageOf(at);
    const kind = this.kindOf(at);
    return [
      ["chunk", `${this.chunkOf(at)} (${this.numChunks} in all)`],
      ["chunk size", kind.size],
      ["stage", `${stage + 1} of ${this.perChunk}: ${this.phaseName(at)} on ${this.run.lanes[this.lane[at]].name}`],
      ["bytes sent", kind.bytes[stage]],
      ["start", fullTime(this.start[at])],
      ["end", fullTime(this.end[at])],
      ["takes", formatTime(this.end[at] - this.start[at])],
    ];
  }
}

/** The part of a dimension's bandwidth that is used in each of `count` windows between two times. */
function windowedUse(timing, lane, from, to, count) {
  const use = new Float64Array(count);
  const width = (to - from) / count;
  const capacity = (timing.run.lanes[lane].bandwidth_Bps / 1e12) * width;
  for (const at of timing.byLane[lane]) {
    const start = timing.start[at];
    const release = timing.release[at];
    if (release <= from || start >= to || release <= start) continue;
    const rate = timing.sentBytes(at) / (release - start) / capacity;
    const last = Math.min(count - 1, Math.floor((release - from) / width));
    for (let slot = Math.max(0, Math.floor((start - from) / width)); slot <= last; slot++) {
      const overlap = Math.min(release, from + (slot + 1) * width) - Math.max(start, from + slot * width);
      if (overlap > 0) use[slot] += rate * overlap;
    }
  }
  return use;
}
