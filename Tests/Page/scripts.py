"""What is run in the page to judge it."""

# Collects the layout shifts that no input caused.
OBSERVE = """
window.shifts = [];
new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) shifts.push(
  [e.value, ...e.sources.map(s => s.node && (s.node.id || s.node.className || s.node.nodeName))]); }))
  .observe({ type: 'layout-shift', buffered: true });
"""
# Collects the lengths of tasks of more than 50 ms, in milliseconds.
TASKS = """
window.tasks = [];
new PerformanceObserver(list => list.getEntries().forEach(e => tasks.push(Math.round(e.duration)))).observe({ type: 'longtask', buffered: true });
"""
# The contrast of two colours (WCAG 2.2, 1.4.3), and what is behind an element.
COLORS = """
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const contrast = (c, d) => { const [a, b] = [light(c), light(d)]; return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
  const ground = e => { for (let at = e; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor); if (c[3] > 0.7) return c; } return [255, 255, 255, 1]; };
"""
# Texts whose contrast is below 4.5 (WCAG 2.2, 1.4.3).
CONTRAST = """
(() => {""" + COLORS + """
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
    if (getComputedStyle(e).visibility === 'hidden') continue;
    const ratio = contrast(parse(getComputedStyle(e).color), ground(e));
    if (ratio < 4.5) bad.push(`${e.className || e.id || e.nodeName} ${e.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()
"""
# Buttons and fields whose border or ground has a contrast below 3 to what is around them (WCAG 2.2, 1.4.11). Buttons that
# are text without a border are not among them.
CONTROLS = """
(() => {""" + COLORS + """
  const bad = [];
  for (const e of document.querySelectorAll('button, .button, select, input:not([type=range], [type=checkbox])')) {
    const style = getComputedStyle(e), own = parse(style.backgroundColor), border = parse(style.borderTopColor);
    const hasBorder = parseFloat(style.borderTopWidth) > 0 && border[3] > 0.7;
    if (!e.getClientRects().length || style.visibility === 'hidden' || !hasBorder && own[3] < 0.7) continue;
    const around = ground(e.parentElement);
    const ratio = Math.max(hasBorder ? contrast(border, around) : 1, own[3] > 0.7 ? contrast(own, around) : 1);
    if (ratio < 3) bad.push(`${e.id || e.className || e.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()
"""
# The colours along the middle of the bar, and each two neighbours with their contrast.
BAR = """
(() => {""" + COLORS + """
  const canvas = document.querySelector('#bar canvas'), { width, height } = canvas, behind = ground(canvas);
  const row = canvas.getContext('2d').getImageData(0, height >> 1, width, 1).data, runs = [];
  for (let x = 0; x < width; x++) {
    const alpha = row[4 * x + 3] / 255, color = [0, 1, 2].map(i => Math.round(row[4 * x + i] * alpha + behind[i] * (1 - alpha)));
    if (runs.at(-1)?.color.join() === color.join()) runs.at(-1).length++; else runs.push({ color, length: 1 });
  }
  const parts = runs.filter(({ length }) => length > 1); // others are edges
  return parts.slice(1).map(({ color }, i) => [parts[i].color.join(), color.join(), contrast(parts[i].color, color)]);
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
