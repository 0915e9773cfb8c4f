/** The figure of every dimension's use in windows of the times that are shown. */
function useFigure(timing, state) {
  const { scale, unit, range } = state;
  const [from, to] = [Math.max(0, range[0] * scale), Math.min(timing.view.makespan_ps, range[1] * scale)];
  const count = Math.max(20, Math.min(160, Math.floor(state.width / 5)));
  const lanes = timing.run.lanes;
  const data = [];
  const part = 1 / lanes.length;
  const layout = plotLayout({
    margin: { ...MARGIN, t: 6 },
    height: lanes.length * (isNarrow() ? 46 : 54) + 6 + MARGIN.b,
    hovermode: "closest",
    dragmode: isCoarse.matches ? false : "zoom",
    xaxis: plotAxis({
      range, title: { text: `time [${unit}]`, standoff: 6 }, anchor: "free", position: 0, fixedrange: isCoarse.matches,
    }),
  });
  const step = (to - from) / count;
  lanes.forEach((lane, place) => {
    const name = place ? `yaxis${place + 1}` : "yaxis";
    const top = 1 - place * part;
    layout[name] = plotAxis({
      domain: [top - part * 0.86, top], range: [0, 1.04], fixedrange: true, tickvals: [0.5], ticks: "",
      ticktext: [`${lane.name}<br>${timing.view.use[place]}`], showgrid: false,
    });
    const use = to > from ? windowedUse(timing, place, from, to, count) : [];
    const x = Array.from(use, (_, slot) => (from + slot * step) / scale);
    const y = Array.from(use);
    if (x.length) {
      x.push(to / scale);
      y.push(y.at(-1));
    }
    data.push({
      type: "scatter", mode: "lines", x, y, yaxis: place ? `y${place + 1}` : "y", fill: "tozeroy",
      line: { shape: "hv", width: 1.2, color: pageColour("accent") }, fillcolor: pageColour("fill"),
      hovertemplate: `${lane.name}: %{y:.1%}<extra></extra>`,
    });
  });
  return { data, layout, step };
}
