const TIME_UNITS = [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]];

/** The largest unit of time that a time reaches, with its picoseconds. */
function timeUnit(ps) {
  return TIME_UNITS.find(([, scale]) => ps >= scale) ?? TIME_UNITS.at(-1);
}

/** A number with so many decimals, a tie rounded to the even digit as the command line does. */
function fixed(value, places) {
  const rounded = value.toFixed(places);
  const exact = value.toFixed(60);
  const rest = exact.slice(exact.indexOf(".") + 1 + places);
  if (!/^50*$/.test(rest)) return rounded;
  const down = exact.slice(0, exact.length - rest.length).replace(/\.$/, "");
  return "02468".includes(down.at(-1)) ? down : rounded;
}

/** A time for people, four to six significant digits, as the command line writes it. */
function formatTime(ps) {
  const [unit, scale] = timeUnit(ps);
  if (unit === "ps") return `${Number(ps.toPrecision(6))} ps`;
  const value = ps / scale;
  return `${fixed(value, value >= 100 ? 2 : value >= 10 ? 3 : 4)} ${unit}`;
}

/** A time for people and, where the numbers of a page are exact, to the picosecond. */
function fullTime(ps) {
  const text = formatTime(ps);
  return ps < 1000 || ps > Number.MAX_SAFE_INTEGER ? text : `${text} (${ps} ps)`;
}

/** Text for plotly, which takes some markup: here it never is any. */
function plotText(text, longest = 22) {
  const shown = text.length > longest ? `${text.slice(0, longest - 1)}\u2026` : text;
  return shown.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("$", "&#36;");
}
