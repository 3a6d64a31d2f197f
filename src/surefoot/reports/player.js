/* The player itself: the stage with time, buttons, keys and words. */
const INSET_PX = 8; // half the knob of a slider: its ends lie so far inside
const STRIP_ZERO = 0.62; // of the strip's height, from its top: what is missing needs more room

class Player extends Stage {
  constructor(figure) {
    super(figure);
    const time = this.actors[0].time;
    this.frameS = time.length > 1 ? (this.end - this.start) / (time.length - 1) : 1;
    this.speed = 1;
    this.playing = false;
    const unpack = (curve) => curve && {
      ...curve, time: decode(curve.time), values: decode(curve.values),
      state: decode(curve.state), phrase: decode(curve.phrase),
    };
    this.curve = unpack(this.scene.curve);
    this.compared = unpack(this.scene.compared);
    if (this.scene.opens !== null) this.t = this.clamped(this.scene.opens);
    this.controls();
    this.cursors();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resize());
    this.resize();
  }

  resize() {
    super.resize();
    this.draw();
  }

  draw() {
    super.draw();
    this.strip();
    this.say();
  }

  controls() {
    const slider = this.part("time");
    slider.min = this.start;
    slider.max = this.end;
    const sampleS = this.curve ? (this.end - this.start) / (this.curve.time.length - 1) : Infinity;
    slider.step = Math.max(Math.min(this.frameS, sampleS), 0.001); // a short stretch can be met
    slider.addEventListener("input", () => this.seek(Number(slider.value)));
    this.part("play").addEventListener("click", () => this.toggle());
    this.part("speed").addEventListener("change", (e) => { this.speed = Number(e.target.value); });
    this.part("reset").addEventListener("click", () => { this.camera = { ...HOME }; this.draw(); });
    const worst = this.part("worst");
    if (this.scene.worst === null) worst.hidden = true;
    worst.addEventListener("click", () => { this.pause(); this.seek(this.scene.worst); });
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    const lay = this.part("lay");
    lay.parentElement.hidden = this.leads.length < 2;
    lay.addEventListener("change", () => { this.beside = lay.value === "beside"; this.draw(); });
    this.drag();
    this.press();
  }

  key(event) {
    const camera = this.camera;
    const actions = {
      " ": () => this.toggle(),
      ",": () => this.step(-1), ".": () => this.step(1),
      Home: () => this.seek(this.start), End: () => this.seek(this.end),
      ArrowLeft: () => { camera.yaw += 0.1; }, ArrowRight: () => { camera.yaw -= 0.1; },
      ArrowUp: () => { camera.pitch += 0.08; }, ArrowDown: () => { camera.pitch -= 0.08; },
      "+": () => { camera.zoom *= 1.1; }, "-": () => { camera.zoom /= 1.1; },
      "0": () => { this.camera = { ...HOME }; },
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
    this.draw();
  }

  drag() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (e) => {
      from = [e.clientX, e.clientY];
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!from) return;
      this.camera.yaw -= (e.clientX - from[0]) * 0.008;
      this.camera.pitch += (e.clientY - from[1]) * 0.006;
      from = [e.clientX, e.clientY];
      this.draw();
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, () => { from = null; });
    }
    this.canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && document.activeElement !== this.canvas) return; // let the page scroll
      e.preventDefault();
      this.camera.zoom *= Math.exp(-e.deltaY * 0.001);
      this.draw();
    }, { passive: false });
  }

  cursors() {
    // The plots of the same chapter show the moment, and a click on them goes there.
    this.plots = [...this.figure.closest("article").querySelectorAll("svg[data-t0]")].map((svg) => {
      const box = Object.fromEntries(
        ["t0", "t1", "x0", "x1", "y0", "y1"].map((key) => [key, Number(svg.dataset[key])]),
      );
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      line.setAttribute("class", "cursor");
      line.setAttribute("y1", box.y0);
      line.setAttribute("y2", box.y1);
      svg.append(line);
      svg.addEventListener("click", (e) => {
        const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const share = (at.x - box.x0) / (box.x1 - box.x0);
        if (share < 0 || share > 1) return;
        this.pause();
        this.seek(box.t0 + share * (box.t1 - box.t0));
      });
      return { box, line };
    });
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }
  pause() { this.playing = false; this.mark(); }
  play() {
    if (this.t >= this.end) this.t = this.start;
    this.playing = true;
    this.mark();
    let last = null;
    const tick = (now) => {
      if (!this.playing) return;
      if (last !== null) this.t = Math.min(this.t + this.speed * (now - last) / 1000, this.end);
      last = now;
      if (this.t >= this.end) this.pause();
      this.seek(this.t);
      if (this.playing) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
  mark() {
    this.part("play").textContent = this.playing ? "Pause" : "Play";
  }
  step(count) { this.pause(); this.seek(this.t + count * this.frameS); }
  clamped(t) { return Math.min(Math.max(t, this.start), this.end); }
  seek(t) { this.t = this.clamped(t); this.draw(); }

  press() {
    // The strip is a slider for the mouse; the keyboard has the slider below it.
    const strip = this.part("strip");
    if (!this.curve) { strip.hidden = true; return; }
    strip.classList.toggle("two", Boolean(this.compared));
    const go = (e) => {
      const box = strip.getBoundingClientRect();
      const share = (e.clientX - box.left - INSET_PX) / (box.width - 2 * INSET_PX);
      this.pause();
      this.seek(this.start + share * (this.end - this.start));
    };
    strip.addEventListener("pointerdown", (e) => { strip.setPointerCapture(e.pointerId); go(e); });
    strip.addEventListener("pointermove", (e) => { if (e.buttons) go(e); });
  }

  strip() {
    // What is missing above the line, what is to spare below it; each side has its own scale.
    const canvas = this.part("strip"), curve = this.curve;
    if (!curve) return;
    const ratio = window.devicePixelRatio || 1;
    const wide = canvas.clientWidth || 300, tall = canvas.clientHeight || 30;
    if (canvas.width !== Math.round(wide * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(tall * ratio);
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, wide, tall);
    const across = (t) => INSET_PX + (t - this.start) / (this.end - this.start || 1) * (wide - 2 * INSET_PX);
    const curves = this.compared ? [this.compared, curve] : [curve];
    curves.forEach((one, i) => {
      this.band(ctx, one, across, i * tall / curves.length, (i + 1) * tall / curves.length - (i + 1 < curves.length ? 4 : 0), curves);
    });
    ctx.fillRect(across(this.t) - 0.75, 0, 1.5, tall);
  }

  band(ctx, curve, across, top, bottom, curves) {
    // One curve between two heights; several share their scales.
    const tall = bottom - top, zero = top + STRIP_ZERO * tall;
    const deepest = Math.min(...curves.map((c) => c.values.reduce((low, v) => Math.min(low, v), -1e-9)));
    const most = Math.max(...curves.map((c) => c.top)) || 1;
    const height = (v) => (v > 0
      ? zero - Math.max(2, Math.min(v / most, 1) * (zero - top - 1))
      : zero + (v / deepest) * (bottom - zero - 1));
    const side = (tone, wanted) => {
      ctx.beginPath();
      ctx.moveTo(across(curve.time[0]), zero);
      curve.time.forEach((t, i) => ctx.lineTo(across(t), wanted(curve.state[i]) ? height(curve.values[i]) : zero));
      ctx.lineTo(across(curve.time[curve.time.length - 1]), zero);
      ctx.fillStyle = ctx.strokeStyle = this.tone(tone);
      ctx.fill();
      ctx.stroke();
    };
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.6;
    side("good", (state) => state === 0);
    ctx.globalAlpha = 1;
    side("bad", (state) => state === 1);
    ctx.fillStyle = this.tone("ink");
    ctx.fillRect(across(this.start), zero - 0.5, across(this.end) - across(this.start), 1);
    if (curves.length < 2) return;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "top";
    ctx.fillStyle = this.tone("muted");
    ctx.fillText(curve.whose || this.actors[curves.length - 1 - curves.indexOf(curve)].label, INSET_PX, top);
  }

  why() {
    // Whether the contacts can give it at this moment, by how much, and why not; of both in turn.
    const both = [[this.part("compared"), this.compared, 1], [this.part("why"), this.curve, 0]];
    return both.map(([line, curve, i]) => {
      line.hidden = !curve;
      if (!curve) return "";
      const { state, verdict } = this.verdict(curve);
      const name = curve.whose || (this.compared ? this.actors[i].label : "");
      const whose = name ? `${name}: ` : "";
      line.dataset.state = state === 1 ? "bad" : "good";
      line.textContent = `${state === 1 ? "✕" : "●"} ${whose}${verdict}`;
      return `${whose}${verdict}`;
    }).filter(Boolean).join("; ");
  }

  verdict(curve) {
    const i = place(curve.time, this.t).nearest, state = curve.state[i];
    const newtons = Math.abs(curve.values[i]), share = newtons / curve.weight;
    const digits = newtons >= 10 ? 0 : newtons >= 1 ? 1 : 2;
    const part = share >= 2 ? `${share.toFixed(share < 10 ? 1 : 0)} times the weight`
      : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} % of the weight`;
    const shown = newtons.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const amount = `${shown} N (${part})`, limit = curve.phrases[curve.phrase[i]];
    const verdict = [
      `feasible: ${amount} to spare before ${limit}`, `not feasible: ${amount} missing, ${limit}`,
      "feasible: the contacts can give anything",
    ][state];
    return { state, verdict };
  }

  say() {
    const words = [];
    for (const track of this.tracks) {
      if (!track.distance || track.actor !== 0) continue;
      const i = place(track.time, this.t).nearest, mm = Math.round(Math.abs(track.distance[i]) * 1000);
      words.push(track.state[i] === 2
        ? `no ${track.name}` : `${track.name} ${mm} mm ${track.state[i] === 1 ? "outside" : "inside"}`);
    }
    const standing = this.scene.stances.filter(([, from, to]) => from <= this.t && this.t <= to);
    const names = [...new Set(standing.map(([name]) => name))].sort(); // left before right
    const named = this.leads.length > 1; // else it is clear who
    if (named) words.unshift(this.actors[0].label);
    words.push(names.length ? `standing: ${names.join(", ")}` : "nothing stands");
    const moment = `${this.t.toFixed(2)} s`;
    this.part("moment").textContent = moment;
    this.part("readout").textContent = words.join(" · ").replace(" · ", named ? ": " : " · ");
    const slider = this.part("time");
    slider.value = this.t;
    slider.setAttribute("aria-valuetext", [moment, this.why()].filter(Boolean).join(", "));
    for (const { box, line } of this.plots) {
      const x = box.x0 + ((this.t - box.t0) / (box.t1 - box.t0)) * (box.x1 - box.x0);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
  }
}

for (const figure of document.querySelectorAll("figure.player")) {
  new Player(figure);
  figure.dataset.ready = "1";
}
