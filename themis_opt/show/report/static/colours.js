/* Okabe and Ito's colours, the lightest ones darkened so that they show on white, too. */
const DISTINCT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a7a00", "#7f7f7f"];
/* Viridis, which gets lighter all the way, for every kind of colour vision and in grey. */
const RAMP = [
  "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
];
const RAMP_LEVELS = 32;
const SYMBOLS = [
  ["circle", "\u25cf"], ["square", "\u25a0"], ["diamond", "\u25c6"], ["triangle-up", "\u25b2"],
  ["triangle-down", "\u25bc"], ["cross", "\u271a"], ["x", "\u2716"], ["star", "\u2605"],
];
const onThemeChange = [];

/** A colour of the page as the style sheet has it for light or dark. */
function pageColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** A colour between two, `part` of the way to the second. */
function mixed(one, other, part) {
  const second = channels(other);
  const values = channels(one).map((value, at) => Math.round(value + (second[at] - value) * part));
  return `#${values.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** The colours of so many chunks, and which one each chunk has: neighbours differ even where the ramp is flat. */
function chunkColours(count) {
  const idle = pageColour("idle");
  if (count <= DISTINCT.length) return { colours: DISTINCT.slice(0, count), of: (chunk) => chunk };
  const [from, to] = isDark() ? [0.22, 1] : [0, 0.92];
  const colours = [];
  for (let level = 0; level < RAMP_LEVELS; level++) {
    const at = (from + ((to - from) * level) / (RAMP_LEVELS - 1)) * (RAMP.length - 1);
    const place = Math.min(Math.floor(at), RAMP.length - 2);
    const colour = mixed(RAMP[place], RAMP[place + 1], at - place);
    colours.push(colour, mixed(colour, idle, 0.28));
  }
  const of = (chunk) => 2 * Math.round((chunk / (count - 1)) * (RAMP_LEVELS - 1)) + (chunk % 2);
  return { colours, of };
}

function setTheme(choice) {
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
  for (const redraw of onThemeChange) redraw();
}

/** What every plot has in common. */
function plotLayout(changes) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: pageColour("ink") },
    showlegend: false,
    autosize: true,
    hoverlabel: { bgcolor: pageColour("panel"), bordercolor: pageColour("line"), font: { color: pageColour("ink") } },
    ...changes,
  };
}

function plotAxis(changes) {
  return {
    color: pageColour("soft"), gridcolor: pageColour("line"), zeroline: false, linecolor: pageColour("line"),
    ticks: "outside", tickcolor: pageColour("line"), ...changes,
  };
}

const PLOT_CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false };
