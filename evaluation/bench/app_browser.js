// What is measured in the page: each function is evaluated with one argument.
({
  // Wait for a state of the page from frame to frame, at most PATIENCE_MS.
  async until(reached) {
    const begun = performance.now();
    while (!reached()) {
      if (performance.now() - begun > PATIENCE_MS) throw new Error(`never: ${reached}`);
      await new Promise(requestAnimationFrame);
    }
  },
  rests: () => document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning',
  panel() {
    const text = document.querySelector('.st-key-evidence_panel')?.textContent ?? '';
    return text.includes('Evidence for') ? text : '';
  },
  click: (link) => document.querySelector(`a[href="${link}"]`).click(),
  links: () => [...document.querySelectorAll('a[href^="#cite-"]')].map(one => one.getAttribute('href')),
  // A list is there when its script has ended and its search can be typed into.
  async interactive() {
    await this.until(() => this.rests() && document.querySelector('.st-key-q input'));
    return performance.now();
  },
  // Return what the panel shows when it has not changed for a while; the first click may come before its listener.
  async atRest(link) {
    const before = this.panel();
    let clicked = -Infinity;
    await this.until(() => {
      if (this.panel() === before && performance.now() - clicked > 2000) {
        clicked = performance.now();
        this.click(link);
      }
      return this.panel() !== before;
    });
    let seen = '', since = 0;
    await this.until(() => {
      if (this.panel() !== seen || !this.rests()) { seen = this.panel(); since = performance.now(); }
      return performance.now() - since > 500;
    });
    return seen;
  },
  async clickUntil([link, wanted]) {
    const begun = performance.now();
    this.click(link);
    await this.until(() => this.panel() === wanted);
    return performance.now() - begun;
  },
})
