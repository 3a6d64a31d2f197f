/* What a surefoot report's player reckons with: packed arrays, vectors, order of painting. */
const LIGHT = [-0.35, 0.62, 0.7].map((v) => v / Math.hypot(0.35, 0.62, 0.7));
const AMBIENT = 0.54, DIFFUSE = 0.52, EDGE = 0.42, TIE = 0.25;
const TRAIL_S = 1.2, TRAIL_FAR_M = 0.15, GRID_M = 0.25, GRID_REACH = 9, LOOKS = 16;
const ARROW_HEIGHTS = 0.45, MOST_HEIGHTS = 0.7, ARROW_TOP = 1.06; // of the robot's height
const GHOST = 0.38; // opacity of what another one is compared with
const HOME = { yaw: -0.7, pitch: 0.3, zoom: 1 };

// ---- packed arrays ----
function decode(entry) {
  const raw = atob(entry.data);
  const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
  if (entry.type === "u1") return bytes;
  if (entry.type === "f4") return new Float32Array(bytes.buffer);
  const codes = new Uint16Array(bytes.buffer);
  const out = new Float32Array(codes.length);
  const columns = entry.low.length;
  for (let i = 0; i < codes.length; i++) {
    out[i] = entry.low[i % columns] + entry.step[i % columns] * codes[i];
  }
  return out;
}

function place(time, t) {
  // The sample before t, the one after it, and the share between them.
  let low = 0, high = time.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle; else high = middle;
  }
  const gap = time[high] - time[low];
  const share = gap > 0 ? Math.min(Math.max((t - time[low]) / gap, 0), 1) : 0;
  return { low, high, share, nearest: share < 0.5 ? low : high };
}

// ---- vectors ----
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const unit = (a) => { const l = Math.hypot(...a) || 1; return a.map((v) => v / l); };
const mix = (a, b, s) => a.map((v, i) => v + (b[i] - v) * s);
const turned = (r, p) => [
  r[0] * p[0] + r[1] * p[1] + r[2] * p[2],
  r[3] * p[0] + r[4] * p[1] + r[5] * p[2],
  r[6] * p[0] + r[7] * p[1] + r[8] * p[2],
];
function product(a, b) {
  const out = new Array(9);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
  return out;
}
function matrix([w, x, y, z]) {
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
  ];
}

function hull(points) {
  const ordered = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (ordered.length < 3) return ordered;
  const half = (list) => {
    const chain = [];
    for (const p of list) {
      while (chain.length > 1) {
        const a = chain[chain.length - 2], b = chain[chain.length - 1];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  return [...half(ordered), ...half(ordered.reverse())];
}

// ---- order of painting: the same rule as painter_order in projection.py ----
function closest(a, b) {
  const d = minus(a[1], a[0]), e = minus(b[1], b[0]), r = minus(b[0], a[0]);
  const det = d[0] * e[1] - d[1] * e[0];
  if (Math.abs(det) > 1e-9) {
    const s = (r[0] * e[1] - r[1] * e[0]) / det, t = (r[0] * d[1] - r[1] * d[0]) / det;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
      return [0, a[0][2] + s * d[2], b[0][2] + t * e[2]];
    }
  }
  const foot = (p, start, along) => {
    const square = along[0] * along[0] + along[1] * along[1];
    if (square < 1e-12) return 0.5;
    const share = ((p[0] - start[0]) * along[0] + (p[1] - start[1]) * along[1]) / square;
    return Math.min(Math.max(share, 0), 1);
  };
  const at = (start, along, s) => start.map((v, i) => v + s * along[i]);
  let best = [Infinity, 0, 0];
  const offer = (p, q) => {
    const gap = Math.hypot(p[0] - q[0], p[1] - q[1]);
    if (gap < best[0]) best = [gap, p[2], q[2]];
  };
  for (const p of a) offer(p, at(b[0], e, foot(p, b[0], e)));
  for (const q of b) offer(at(a[0], d, foot(q, a[0], d)), q);
  return best;
}

function painterOrder(items) {
  const behind = items.map(() => []);
  for (let i = 0; i < items.length; i++) {
    for (let j = i + 1; j < items.length; j++) {
      const a = items[i], b = items[j];
      const [gap, depthA, depthB] = closest(a.flat, b.flat);
      if (gap > a.radiusPx + b.radiusPx) continue;
      let ahead = depthA - depthB;
      if (Math.abs(ahead) < TIE * Math.min(a.shape.radius, b.shape.radius)) ahead = a.middle - b.middle;
      if (ahead > 0) behind[i].push(j); else behind[j].push(i);
    }
  }
  const byDepth = (i, j) => items[i].middle - items[j].middle;
  const order = [], seen = new Set();
  const paint = (i) => {
    if (seen.has(i)) return;
    seen.add(i);
    behind[i].sort(byDepth).forEach(paint);
    order.push(items[i]);
  };
  items.map((_, i) => i).sort(byDepth).forEach(paint);
  return order;
}
