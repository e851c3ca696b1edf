// Nothing is parsed as HTML: every text of a paper becomes the text of a node.
const drawn = new WeakMap();
const make = (parent, name, text) => {
  const node = parent.appendChild(document.createElement(name));
  if (text) {
    node.textContent = text;
    node.dir = 'auto';
  }
  return node;
};
const fill = (parent, cells) => {
  const row = make(parent, 'tr');
  for (const { text, scope, span } of cells) {
    const cell = make(row, scope ? 'th' : 'td', text);
    if (scope) cell.scope = scope;
    if (span > 1) cell.colSpan = span;
  }
  return row;
};
const draw = (region, data) => {
  const table = document.createElement('table');
  if (data.caption) make(table, 'caption', data.caption);
  const head = make(table, 'thead');
  for (const cells of data.head) fill(head, cells);
  const body = make(table, 'tbody');
  for (const one of data.rows) {
    const row = fill(body, one.cells);
    if (one.marked) row.setAttribute('aria-current', 'true');
  }
  region.replaceChildren(table);
  if (data.left_out) make(region, 'p', data.left_out);
  region.setAttribute('aria-label', data.caption || 'Table');
};
export default function ({ data, parentElement }) {
  const known = drawn.get(parentElement);
  const region = known?.region ?? make(parentElement, 'div');
  region.className = 'table';
  region.setAttribute('role', 'region');
  region.tabIndex = 0;
  const text = JSON.stringify(data);
  if (text !== known?.text) draw(region, data);
  drawn.set(parentElement, { region, text });
}
