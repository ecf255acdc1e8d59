"""What is run in the page to judge it."""

# Collects the layout shifts that no input caused.
OBSERVE = """
window.shifts = [];
new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) shifts.push(
  [e.value, ...e.sources.map(s => s.node && (s.node.id || s.node.className || s.node.nodeName))]); }))
  .observe({ type: 'layout-shift', buffered: true });
"""
# Texts whose contrast is below 4.5 (WCAG 2.2, 1.4.3).
CONTRAST = """
(() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
    if (getComputedStyle(e).visibility === 'hidden') continue;
    let at = e, ground;
    while (at && !(ground && ground[3] > 0.7)) { ground = parse(getComputedStyle(at).backgroundColor); at = at.parentElement; }
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${e.className || e.id || e.nodeName} ${e.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()
"""

# What a browser's audit finds wrong in the document: language, title, zoom, landmarks, headings, ids, images, sizes of
# what is pressed (WCAG 2.2, 2.5.8) and of text, and anything from elsewhere.
STRUCTURE = """
(() => {
  const bad = [], seen = new Set(), all = selector => [...document.querySelectorAll(selector)];
  const shown = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
  if (!document.documentElement.lang) bad.push('no language');
  if (!document.title) bad.push('no title');
  const viewport = document.querySelector('meta[name=viewport]')?.content ?? '';
  if (!viewport.includes('width=device-width') || /user-scalable=no|maximum-scale/.test(viewport)) bad.push('viewport');
  if (all('main').length !== 1 || all('h1').length !== 1) bad.push('one main and one h1');
  let level = 0;
  for (const e of all('h1,h2,h3,h4').filter(shown)) { const next = Number(e.nodeName[1]); if (next > level + 1) bad.push(`heading ${e.textContent}`); level = next; }
  for (const e of all('[id]')) { if (seen.has(e.id)) bad.push(`id ${e.id} twice`); seen.add(e.id); }
  for (const e of all('img:not([alt])')) bad.push(`image without alt ${e.src}`);
  for (const e of all('button,input,select,[role=slider],.grid a').filter(shown)) {
    const box = e.getBoundingClientRect();
    if (box.height < 24 && e.type !== 'range' || box.width < 24) bad.push(`small ${e.id || e.textContent} ${box.width}x${box.height}`);
  }
  for (const e of all('body *').filter(e => shown(e) && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())))
    if (parseFloat(getComputedStyle(e).fontSize) < 12) bad.push(`text of ${getComputedStyle(e).fontSize}: ${e.textContent.slice(0, 20)}`);
  for (const e of performance.getEntriesByType('resource')) if (!/^(data|blob):/.test(e.name) && new URL(e.name).origin !== location.origin) bad.push(e.name);
  return [...new Set(bad)];
})()
"""
