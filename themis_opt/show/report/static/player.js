const SECONDS_FOR_ALL = 12;
const STEPS_WITHOUT_MOTION = 24;

/** A moment that moves over the times shown; where less motion is wanted it jumps twice a second. */
class Player {
  constructor(show) {
    this.show = show;
    this.ps = 0;
    this.isPlaying = false;
    this.from = 0;
    this.to = 1;
    byId("play").addEventListener("click", () => this.toggle());
    byId("moment").addEventListener("input", () => {
      this.pause();
      this.moveTo((Number(byId("moment").value) / 1000) * this.makespan);
    });
  }

  /** Take the times that are shown now, and the makespan. */
  limit(from, to, makespan) {
    this.from = Math.max(0, from);
    this.to = Math.min(to, makespan);
    this.makespan = makespan;
    this.moveTo(Math.min(this.ps, makespan));
  }

  moveTo(ps) {
    this.ps = ps;
    byId("moment").value = String(this.makespan ? Math.round((ps / this.makespan) * 1000) : 0);
    byId("moment").setAttribute("aria-valuetext", formatTime(Math.round(ps)));
    this.show(ps);
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play() {
    this.isPlaying = true;
    this.#tell();
    if (this.ps < this.from || this.ps >= this.to) this.moveTo(this.from);
    let last = performance.now();
    const jumps = wantsLessMotion.matches;
    const wait = (step) => (jumps ? setTimeout(() => step(performance.now()), 500) : requestAnimationFrame(step));
    const step = (time) => {
      if (!this.isPlaying) return;
      const seconds = jumps ? SECONDS_FOR_ALL / STEPS_WITHOUT_MOTION : Math.max(0, time - last) / 1000;
      last = time;
      const speed = Number(byId("speed").value);
      const ps = this.ps + ((this.to - this.from) * seconds * speed) / SECONDS_FOR_ALL;
      this.moveTo(Math.min(ps, this.to));
      if (ps >= this.to) this.pause();
      else wait(step);
    };
    wait(step);
  }

  pause() {
    this.isPlaying = false;
    this.#tell();
  }

  #tell() {
    byId("play").textContent = this.isPlaying ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(this.isPlaying));
  }
}
