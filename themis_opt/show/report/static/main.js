/** Put the parts together: what one of them highlights or selects, the others show. */
async function main() {
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => setTheme(button.dataset.themeChoice));
  }
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  prefersDark.addEventListener("change", () => onThemeChange.forEach((redraw) => redraw()));
  let timeline = null;
  let sweep = null;
  const highlight = (index) => {
    results.highlight(index);
    sweep?.highlight(index);
  };
  const select = (index, isFromPlot = false) => {
    if (index < 0) return;
    const next = index === results.selected && !DATA.views.length ? -1 : index;
    results.select(next);
    sweep?.select(next);
    if (isFromPlot && next >= 0) results.reveal(next);
    if (next < 0) return;
    if (DATA.views[next]?.kinds) timeline?.show(next);
    else if (DATA.views[next]) showRun(DATA.views[next].run);
  };
  const results = new Results(highlight, select);
  const showRun = (run) => {
    for (const part of document.querySelectorAll("article[data-run]")) part.hidden = part.dataset.run !== String(run);
  };
  if (DATA.views.length) showRun(0);
  await loadPlotly();
  if (byId("sweep")) {
    sweep = new Sweep(highlight, (index) => select(index, true));
    await sweep.draw();
  }
  const drawn = DATA.views.filter((view) => view.kinds);
  if (drawn.length) {
    const rivals = drawn.filter((view) => view.run === drawn[0].run);
    const first = rivals.reduce((best, view) => (view.makespan_ps < best.makespan_ps ? view : best));
    byId("gantt").replaceChildren();
    timeline = new TimelineView((index) => {
      showRun(DATA.views[index].run);
      results.select(index);
      sweep?.select(index);
    });
    await timeline.show(first.row);
    timeline.listenToPlots();
  }
  preparePrinting();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** Paper is light. */
function preparePrinting() {
  let before;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme ?? "auto";
    setTheme("light");
  });
  addEventListener("afterprint", () => setTheme(before ?? "auto"));
}

main().catch((error) => {
  document.documentElement.dataset.failed = String(error);
  const told = `Nothing can be drawn here: ${error.message}. A newer browser may help.`;
  for (const id of ["gantt", "sweep"]) byId(id)?.replaceChildren(make("p", told, { class: "waiting" }));
  console.error(error);
});
