let returned = '';
// Streamlit runs this anew for new data and forgets what it returned before: that would go on hearing.
const stops = new WeakMap();
const shown = new WeakMap();
// On the way to another page Streamlit writes that page's parameters to the address of the page that is left,
// and then the address itself: "back" would lead to a page with foreign parameters. What is written with
// nothing done in between is one entry of the history. A browser without `navigation` keeps both.
if (window.navigation && !window.paperTrailGoesBack) {
  window.paperTrailGoesBack = true;
  let written = '';
  navigation.addEventListener('navigate', (event) => {
    const { sameDocument, url } = event.destination;
    if (event.navigationType !== 'push' || !sameDocument || event.hashChange) return;
    if (written === location.href && event.cancelable) {
      event.preventDefault();
      history.replaceState(history.state, '', url);
    }
    written = url;
  });
  const forget = () => { written = ''; };
  for (const name of ['click', 'keydown', 'popstate']) addEventListener(name, forget, true);
}
// A link in a text to a page of ours, as "back" would lead there: Streamlit would open it beside. It is followed
// from when the first page has this script, between two runs of it too.
const follow = (event) => {
  const link = event.target.closest('a[href^="paper?"], a[href^="collection?"]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  // Another paper is the same page to Streamlit, which would show it where the one before is scrolled to.
  const [to, from] = [new URL(link.href), new URL(location.href)];
  const isOther = to.searchParams.get('id') !== from.searchParams.get('id');
  const main = document.querySelector('[data-testid="stMain"]');
  if (main && to.pathname === from.pathname && isOther) main.scrollTop = 0;
  history.pushState({}, '', link.href);
  dispatchEvent(new PopStateEvent('popstate'));
};
if (!window.paperTrailFollows) {
  window.paperTrailFollows = true;
  document.addEventListener('click', follow, true);
  addEventListener('popstate', () => { window.paperTrailAsked = location.href; });
}
export default function ({ setTriggerValue, setStateValue, data, parentElement }) {
  stops.get(parentElement)?.();
  const narrow = () => matchMedia(`(max-width: ${data.narrowPixels}px)`).matches;
  const hear = (event) => {
    const link = event.target.closest('a[href^="#cite-"]');
    if (!link) return;
    event.preventDefault();
    setTriggerValue('cite', { id: link.getAttribute('href').slice(6), narrow: narrow() });
  };
  const measure = () => { if (narrow() !== data.narrow) setStateValue('narrow', narrow()); };
  if (data.hears.includes('clicks')) document.addEventListener('click', hear, true);
  if (data.hears.includes('width')) {
    addEventListener('resize', measure);
    measure();
  }
  // Streamlit leaves the address as it is where a link leads from a page to itself. Whoever has gone on, or
  // back, before this came is at another page's address, or at that of another paper.
  const isLeft = data.isNewEntry && window.paperTrailAsked === location.href;
  const isHere = !isLeft && location.pathname.replace(/\/$/, '').endsWith(`/${data.page}`);
  const before = new URLSearchParams(location.search);
  const now = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(data.address)) {
    if (value) now.set(name, value); else now.delete(name);
  }
  if (isHere && now.toString() !== before.toString()) {
    const url = now.toString() ? `?${now}` : location.pathname;
    if (data.isNewEntry) history.pushState({}, '', url); else history.replaceState({}, '', url);
  }
  const isNew = data.show !== shown.get(parentElement);
  shown.set(parentElement, data.show);
  if (data.show && isNew) {
    // What stands above it may come, or grow, a moment later. Whoever does something meanwhile goes on there.
    let isLeft = false;
    const leave = () => { isLeft = true; };
    for (const name of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
      addEventListener(name, leave, { capture: true, once: true, passive: true });
    }
    const reveal = (tries) => setTimeout(() => {
      if (isLeft) return;
      document.querySelector('.st-key-' + data.show)?.scrollIntoView({ block: data.block });
      if (tries) reveal(tries - 1);
    }, 60);
    reveal(20);
  }
  const main = document.querySelector('[data-testid="stMain"]');
  const remember = () => {
    if (data.place) sessionStorage.setItem('paper-trail-place', JSON.stringify([data.place, main.scrollTop]));
  };
  if (data.place && data.place !== returned) {
    const [place, top] = JSON.parse(sessionStorage.getItem('paper-trail-place') || '[]');
    const isReload = !returned;
    returned = data.place;
    const goBack = (tries) => setTimeout(() => {
      if (main.scrollHeight - main.clientHeight >= top) main.scrollTop = top;
      else if (tries) goBack(tries - 1);
    }, 60);
    if (isReload && main && place === data.place && top > 0) goBack(50);
  }
  main?.addEventListener('scroll', remember, { passive: true });
  const stop = () => {
    document.removeEventListener('click', hear, true);
    removeEventListener('resize', measure);
    main?.removeEventListener('scroll', remember);
  };
  stops.set(parentElement, stop);
  return stop;
}
