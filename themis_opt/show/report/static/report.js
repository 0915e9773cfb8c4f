"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  /** What the page's maker packed: gzip, in base64. */
  const unpacked = async (id) => {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    byId(id).remove();
    return new Response(stream).text();
  };
  /** Text for plotly, which takes some markup: here it never is any. */
  const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("$", "&#36;").replaceAll("%{", "%&#123;");
  const fill = (select, texts) => select.replaceChildren(...texts.map((text, value) => new Option(text, value)));

  /* Colours: plots take those of the page. */
  const drawn = new Map();
  const colours = () => {
    const style = getComputedStyle(root);
    const [ink, line, paper] = ["--ink", "--line", "--paper"].map((name) => style.getPropertyValue(name).trim());
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    return { ink, line, paper, axis };
  };
  const draw = (id, figure) => {
    drawn.set(id, figure);
    const { ink, line, paper, axis } = colours();
    const layout = {
      font: { color: ink, family: "system-ui, sans-serif", size: 13 }, paper_bgcolor: paper, plot_bgcolor: paper,
      margin: { l: 10, r: 40, t: 40, b: 10 }, modebar: { orientation: "v" }, legend: { orientation: "h", y: 1.02, yanchor: "bottom" },
      hoverlabel: { bgcolor: paper, bordercolor: line, font: { color: ink } }, ...figure.layout,
    };
    for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) layout[name] = { ...axis, ...layout[name] };
    return Plotly.react(byId(id), figure.data, layout, { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
  };
  const setTheme = (choice) => {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
    for (const button of document.querySelectorAll("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
    }
    return Promise.all([...drawn].map(([id, figure]) => draw(id, figure)));
  };
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.addEventListener("click", () => setTheme(button.dataset.themeChoice));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => root.dataset.theme || setTheme("auto"));
  // Paper is light.
  let before = "auto";
  addEventListener("beforeprint", () => { before = root.dataset.theme ?? "auto"; setTheme("light"); });
  addEventListener("afterprint", () => setTheme(before));

  try {
    const script = document.createElement("script");
    const DATA = JSON.parse(await unpacked("data"));
    script.textContent = await unpacked("library");
    document.head.append(script);
    script.remove();
    if (!window.Plotly) throw new Error("the page is damaged: plotly did not start");
    const { columns, values, texts } = DATA.grid;

    /* The table: headings sort, first cells select. */
    const body = byId("results").tBodies[0];
    const rows = [...body.rows];
    let selected = -1;
    const sort = (heading) => {
      const place = Number(heading.dataset.column);
      const isRising = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", isRising ? "ascending" : "descending");
      const order = (one, other) => {
        const [a, b] = [one, other].map((row) => values[Number(row.dataset.row)][place]);
        if (a === null || b === null) return (a === null) - (b === null);
        const rising = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
        return isRising ? rising : -rising;
      };
      body.append(...[...rows].sort(order));
    };
    for (const heading of byId("results").tHead.rows[0].cells) {
      heading.querySelector("button").addEventListener("click", () => sort(heading));
    }
    const select = async (index) => {
      selected = index;
      rows.forEach((row, place) => {
        row.classList.toggle("selected", place === index);
        row.querySelector("button").setAttribute("aria-pressed", String(place === index));
      });
      const view = DATA.views[index];
      if (!view) return;
      for (const part of document.querySelectorAll("article[data-run]")) part.hidden = part.dataset.run !== String(view.run);
      await showTimeline(index);
    };
    for (const row of rows) row.addEventListener("click", () => select(Number(row.dataset.row)));

    /* The timeline of one schedule. */
    const showTimeline = async (index) => {
      const { run, figure, why } = DATA.views[index];
      const ofRun = DATA.views.map((view, place) => place).filter((place) => DATA.views[place].run === run);
      byId("instance").value = run;
      byId("schedule").replaceChildren(...ofRun.map((place) => new Option(DATA.views[place].name, place, false, place === index)));
      if (!figure) {
        drawn.delete("gantt");
        Plotly.purge(byId("gantt"));
        byId("gantt").textContent = why ?? "This schedule has too many stages to draw.";
        return;
      }
      if (!drawn.has("gantt")) byId("gantt").replaceChildren();
      const { xaxis } = figure.layout;
      const end = byId("same-axis").checked ? DATA.runs[run].end : xaxis.range[1];
      await draw("gantt", { ...figure, layout: { ...figure.layout, xaxis: { ...xaxis, range: [0, end] } } });
    };

    /* A metric, and the gap, over an axis that was varied: a line for each scheduler. */
    const distinct = (place) => [...new Set(values.map((row) => row[place]))].filter((value) => value !== null);
    const places = columns.map((_, place) => place);
    const axes = places.filter((place) => columns[place].part === "axis" && distinct(place).length > 1);
    const key = (name) => columns.findIndex((column) => column.key === name);
    const scheduler = key("scheduler");
    const heldAt = new Map();
    const title = (place) => plain(columns[place].heading) + (columns[place].unit ? ` [${columns[place].unit}]` : "");
    const scaled = (place, value) => (columns[place].is_text ? plain(value) : value === null ? null : value / columns[place].scale);
    const axis = (place) => {
      const numbers = distinct(place).filter((value) => value > 0);
      const isWide = !columns[place].is_text && !columns[place].is_share && numbers.length === distinct(place).length && Math.max(...numbers) > 20 * Math.min(...numbers);
      return { title: { text: title(place) }, type: columns[place].is_text ? "category" : isWide ? "log" : "linear", tickformat: columns[place].is_share ? "~%" : "" };
    };
    const lines = (x, y) => {
      const others = axes.filter((place) => place !== x && place !== scheduler);
      const kept = rows.map((_, index) => index).filter((index) => values[index][y] !== null && others.every((place) => !heldAt.has(place) || values[index][place] === heldAt.get(place)));
      const groups = new Map();
      for (const index of kept) {
        const name = scheduler < 0 ? "" : values[index][scheduler];
        groups.set(name, [...(groups.get(name) ?? []), index]);
      }
      const traces = [...groups].map(([name, members]) => {
        const sorted = columns[x].is_text ? members : [...members].sort((one, other) => values[one][x] - values[other][x]);
        return {
          type: "scatter", mode: "lines+markers", name: plain(name), meta: sorted,
          x: sorted.map((index) => scaled(x, values[index][x])), y: sorted.map((index) => scaled(y, values[index][y])),
          text: sorted.map((index) => places.filter((place) => columns[place].part !== "remark").map((place) => `${plain(columns[place].heading)}: ${plain(texts[index][place])}`).join("<br>")),
          hovertemplate: "%{text}<extra></extra>",
        };
      });
      const bound = key("bound_ps");
      if (columns[y].key === "makespan_ps" && bound >= 0) {
        const least = new Map();
        for (const index of kept) least.set(values[index][x], Math.min(values[index][bound] ?? Infinity, least.get(values[index][x]) ?? Infinity));
        const at = [...least.keys()].sort((one, other) => (columns[x].is_text ? 0 : one - other));
        traces.push({ type: "scatter", mode: "lines", name: "lowest bound", line: { dash: "dash", color: colours().ink }, x: at.map((value) => scaled(x, value)), y: at.map((value) => scaled(y, least.get(value))) });
      }
      return { data: traces, layout: { height: 380, xaxis: axis(x), yaxis: axis(y) } };
    };
    const drawSweep = async () => {
      const [x, y] = ["sweep-x", "sweep-y"].map((id) => Number(byId(id).selectedOptions[0].dataset.place));
      for (const label of byId("sweep-others").children) label.hidden = label.dataset.place === String(x);
      heldAt.delete(x);
      await draw("sweep", lines(x, y));
      byId("gap").hidden = byId("gap-note").hidden = key("gap") < 0;
      if (key("gap") >= 0) await draw("gap", lines(x, key("gap")));
    };
    const choose = (id, choices) => {
      byId(id).replaceChildren(...choices.map((place) => Object.assign(new Option(columns[place].heading, columns[place].key), {})));
      [...byId(id).options].forEach((option, at) => { option.dataset.place = choices[at]; });
      byId(id).addEventListener("change", drawSweep);
    };
    if (byId("sweep")) {
      const across = [...axes.filter((place) => !columns[place].is_text), ...axes.filter((place) => columns[place].is_text && place !== scheduler)];
      const metrics = places.filter((place) => columns[place].part === "metric" && !columns[place].is_text && distinct(place).length);
      const first = key("makespan_ps");
      choose("sweep-x", across.length ? across : [Math.max(scheduler, 0)]);
      choose("sweep-y", first >= 0 ? [first, ...metrics.filter((place) => place !== first)] : metrics);
      byId("sweep-others").replaceChildren(...across.map((place) => {
        const label = document.createElement("label");
        const held = document.createElement("select");
        const known = distinct(place);
        const textOf = (value) => texts[values.findIndex((row) => row[place] === value)][place];
        fill(held, [...known.map(textOf), "all"]);
        held.addEventListener("change", () => {
          if (Number(held.value) < known.length) heldAt.set(place, known[Number(held.value)]);
          else heldAt.delete(place);
          drawSweep();
        });
        heldAt.set(place, known[0]);
        label.dataset.place = place;
        label.append(`${columns[place].heading} `, held);
        return label;
      }));
      if (byId("sweep-y").options.length) {
        await drawSweep();
        for (const id of ["sweep", "gap"]) byId(id).on?.("plotly_click", ({ points: [{ data, pointNumber }] }) => {
          if (!data.meta) return;
          rows[data.meta[pointNumber]].scrollIntoView({ block: "nearest" });
          select(data.meta[pointNumber]);
        });
      }
    }
    if (DATA.views.length) {
      fill(byId("instance"), DATA.runs.map((run) => run.title));
      byId("instance-choice").hidden = DATA.runs.length < 2;
      byId("instance").addEventListener("change", () => select(DATA.views.findIndex((view) => String(view.run) === byId("instance").value)));
      byId("schedule").addEventListener("change", () => select(Number(byId("schedule").value)));
      byId("same-axis").addEventListener("change", () => showTimeline(selected));
      const ofFirst = DATA.views.map((view, place) => place).filter((place) => DATA.views[place].run === 0);
      await select(ofFirst.reduce((best, place) => (DATA.views[place].makespan_ps < DATA.views[best].makespan_ps ? place : best)));
    }
    root.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    root.dataset.failed = String(error);
    for (const id of ["gantt", "sweep"]) if (byId(id)) byId(id).textContent = `Nothing can be drawn here: ${error.message}. A newer browser may help.`;
    console.error(error);
  }
})();
