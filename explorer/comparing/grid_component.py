"""The table of key elements in the page: built of text nodes alone; it reports the cell that is chosen."""

from collections.abc import Callable

import streamlit as st

from assistant.comparing.grid import Grid
from explorer.comparing.grid_table import Cell, parse_cell, table_data

_KEY = "grid_table"

# Nothing is parsed as HTML: every text of a paper or a model becomes the text of a node.
_SCRIPT = """
const tables = new WeakMap();
const make = (parent, name, kind, text) => {
  const node = parent.appendChild(document.createElement(name));
  if (kind) node.className = kind;
  if (text) node.textContent = text;
  return node;
};
const heading = (row, scope, text) => {
  const cell = make(row, 'th', '', text);
  cell.scope = scope;
  return cell;
};
const fill = (cell, said) => {
  if (!said.id) {
    cell.className = 'absent';
    cell.textContent = said.absence;
    return;
  }
  if (said.mark) cell.className = 'not-carried';
  const button = make(cell, 'button');
  button.type = 'button';
  button.dataset.cell = said.id;
  if (said.mark) make(button, 'span', 'mark', said.mark);
  make(button, 'span', 'text', said.text);
  if (!said.score) return;
  const facts = make(button, 'span', 'facts');
  make(facts, 'span', 'spot ' + said.word);
  facts.append(said.score);
};
const draw = (table, data) => {
  table.region.setAttribute('aria-label', data.name);
  const whole = document.createElement('table');
  const head = make(make(whole, 'thead'), 'tr');
  for (const title of data.head) heading(head, 'col', title);
  const body = make(whole, 'tbody');
  for (const one of data.rows) {
    const row = make(body, 'tr');
    make(heading(row, 'row', one.title), 'span', 'facts', one.facts);
    for (const said of one.cells) fill(make(row, 'td'), said);
  }
  table.region.replaceChildren(whole);
};
const mark = (table, chosen) => {
  for (const button of table.region.querySelectorAll('button')) {
    if (button.dataset.cell === chosen) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
  }
};
const begin = (parent) => {
  const table = { region: make(parent, 'div', 'grid'), drawn: '', report: () => {} };
  table.region.setAttribute('role', 'region');
  table.region.tabIndex = 0;
  table.region.addEventListener('click', (event) => {
    const button = event.target.closest('td')?.querySelector('button');
    if (button) table.report(button.dataset.cell);
  });
  tables.set(parent, table);
  return table;
};
export default function ({ data, parentElement, setTriggerValue }) {
  const table = tables.get(parentElement) ?? begin(parentElement);
  table.report = (cell) => setTriggerValue('cell', cell);
  // Only what has changed is drawn anew: a choice moves neither the table nor the focus.
  const drawn = JSON.stringify([data.head, data.rows]);
  if (drawn !== table.drawn) draw(table, data);
  table.drawn = drawn;
  mark(table, data.chosen);
}
"""

_STYLE = """
.grid { overflow: auto; max-height: 78vh; scrollbar-width: auto; border-radius: 6px; box-sizing: border-box;
  color: var(--st-text-color); font-family: var(--st-font); font-variant-numeric: tabular-nums;
  scrollbar-color: color-mix(in srgb, currentColor 45%, transparent) transparent;
  border: 1px solid color-mix(in srgb, currentColor 16%, transparent); }
.grid:focus-visible, button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
table { border-collapse: separate; border-spacing: 0; table-layout: fixed; width: 100%; min-width: 66rem;
  font-size: 13.5px; line-height: 1.4; }
th, td { text-align: left; vertical-align: top; padding: .45rem .55rem; font-weight: 400;
  overflow-wrap: break-word; border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
tbody tr:last-child > * { border-bottom: 0; }
th { font-weight: 600; background: var(--st-background-color); position: sticky; }
thead th { top: 0; z-index: 1; }
th:first-child { left: 0; width: 10rem; z-index: 1;
  border-right: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
thead th:first-child { z-index: 2; }
td:has(button) { cursor: pointer; }
button { display: block; width: 100%; padding: 0; border: 0; background: none; color: inherit; font: inherit;
  text-align: left; cursor: pointer; overflow-wrap: break-word; border-radius: 3px; }
td:hover .text, button:focus-visible .text { text-decoration: underline; text-underline-offset: .2em; }
td:has([aria-current]) { background: rgba(234, 179, 8, .16); box-shadow: inset 3px 0 #ca8a04; }
.facts { display: block; font-weight: 400; font-size: 12.5px; opacity: .8; margin-top: .25rem; }
.spot { display: inline-block; width: .55rem; height: .55rem; border-radius: 50%; margin-right: .35rem; }
.partial { background: #ca8a04; }
.strong { background: var(--pt-strong); }
.absent { opacity: .7; font-style: italic; }
.not-carried { background: color-mix(in srgb, #dc2626 9%, transparent); }
.mark { display: block; font-weight: 600; margin-bottom: .2rem; }
"""

_component = st.components.v2.component("paper_trail_grid", js=_SCRIPT, css=_STYLE)


def draw_table(grid: Grid, chosen: Cell | None, on_choice: Callable[[Cell], None]) -> None:
    """Draw a grid with the chosen cell marked; `on_choice` hears of another before the screen is drawn."""

    def heard() -> None:
        reported = st.session_state.get(_KEY) or {}
        if cell := parse_cell(reported.get("cell")):
            on_choice(cell)

    _component(key=_KEY, data=table_data(grid, chosen), on_cell_change=heard)
