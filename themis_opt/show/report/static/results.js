/** The table: sorted by its headings, and a row at a time highlighted or selected, here and elsewhere. */
class Results {
  constructor(onHighlight, onSelect) {
    this.table = byId("results");
    this.body = this.table.tBodies[0];
    this.rows = [...this.body.rows];
    this.selected = -1;
    this.table.tHead.addEventListener("click", (event) => {
      const heading = event.target.closest("button")?.closest("th");
      if (heading) this.sortBy(heading);
    });
    const rowOf = (event) => Number(event.target.closest("tr")?.dataset.row ?? -1);
    this.body.addEventListener("click", (event) => onSelect(rowOf(event)));
    for (const name of ["mouseover", "focusin"]) this.body.addEventListener(name, (event) => onHighlight(rowOf(event)));
    for (const name of ["mouseleave", "focusout"]) this.body.addEventListener(name, () => onHighlight(-1));
  }

  sortBy(heading) {
    const column = Number(heading.dataset.column);
    const isRising = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of this.table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", isRising ? "ascending" : "descending");
    const valueOf = (row) => DATA.grid.values[Number(row.dataset.row)][column];
    const compare = (one, other) => {
      const [a, b] = [valueOf(one), valueOf(other)];
      if (a === null || b === null) return (a === null) - (b === null);
      const areNumbers = typeof a === "number" && typeof b === "number";
      const order = areNumbers ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
      return isRising ? order : -order;
    };
    this.body.append(...[...this.rows].sort(compare));
  }

  highlight(index) {
    this.body.querySelector("tr.linked")?.classList.remove("linked");
    if (index >= 0) this.rows[index].classList.add("linked");
  }

  select(index) {
    this.rows.forEach((row, place) => {
      row.classList.toggle("selected", place === index);
      row.querySelector("button").setAttribute("aria-pressed", String(place === index));
    });
    this.selected = index;
  }

  /** Bring a row into view inside the table's own frame. */
  reveal(index) {
    const frame = this.table.parentElement;
    const row = this.rows[index];
    frame.scrollTop = row.offsetTop - frame.clientHeight / 2;
  }
}
