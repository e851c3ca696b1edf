// Nothing is parsed as HTML: every text of a paper or a model becomes the text of a node.
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
  whole.style.minWidth = `${8.25 * data.head.length}rem`;
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
