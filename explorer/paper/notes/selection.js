// Words that are selected in the paper's text can be marked: two buttons stand beside them meanwhile.
const bars = new WeakMap();
const TEXT = '[class*="st-key-reading_section"], .st-key-reading_abstract';
const LONGEST = 4000;
const within = (node) => (node instanceof Element ? node : node?.parentElement)?.closest(TEXT);
const selected = () => {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const place = within(range.startContainer);
  if (!place) return null;
  const held = range.cloneContents();
  // Numbers of references stand in the page, and not in the text of the paper.
  for (const link of held.querySelectorAll('a[href^="#cite-"]')) link.remove();
  const quoted = held.textContent.replace(/\u2060/g, '').trim().slice(0, LONGEST);
  const section = [...place.classList].map((name) => /^st-key-reading_(section-\d+|abstract)$/.exec(name)?.[1])
    .find(Boolean) ?? '';
  return quoted.length > 2 ? { quoted, section, box: range.getBoundingClientRect() } : null;
};
const begin = (parent) => {
  const bar = parent.appendChild(document.createElement('div'));
  bar.className = 'bar';
  bar.setAttribute('role', 'toolbar');
  bar.setAttribute('aria-label', 'Mark the selected words');
  bar.hidden = true;
  const made = { bar, found: null, report: () => {} };
  for (const [name, wants] of [['Highlight', false], ['Write a note', true]]) {
    const button = bar.appendChild(document.createElement('button'));
    button.type = 'button';
    button.textContent = name;
    // The selection would be gone before the click.
    button.addEventListener('pointerdown', (event) => event.preventDefault());
    button.addEventListener('click', () => {
      if (!made.found) return;
      made.report({ quoted: made.found.quoted, section: made.found.section, wantsNote: wants });
      document.getSelection()?.removeAllRanges();
      bar.hidden = true;
    });
  }
  bars.set(parent, made);
  return made;
};
export default function ({ parentElement, setTriggerValue }) {
  const made = bars.get(parentElement) ?? begin(parentElement);
  made.report = (marked) => setTriggerValue('marked', marked);
  let waiting = 0;
  const look = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      // Who has moved from the words to the buttons still means the words.
      if (made.bar.matches(':focus-within')) return;
      made.found = selected();
      made.bar.hidden = !made.found;
      if (!made.found) return;
      const { left, bottom } = made.found.box;
      made.bar.style.setProperty('--left', `${Math.max(8, Math.min(left, innerWidth - 230))}px`);
      made.bar.style.setProperty('--top', `${Math.max(8, Math.min(bottom + 8, innerHeight - 56))}px`);
    }, 160);
  };
  const hide = () => { if (!made.bar.hidden) look(); };
  document.addEventListener('selectionchange', look);
  addEventListener('scroll', hide, { capture: true, passive: true });
  // Words may be selected before this has come to the page: nothing tells of them anew.
  look();
  return () => {
    clearTimeout(waiting);
    document.removeEventListener('selectionchange', look);
    removeEventListener('scroll', hide, { capture: true });
  };
}
