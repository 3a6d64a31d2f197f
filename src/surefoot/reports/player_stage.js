/* The stage of the player: what is seen at a moment, drawn on a canvas from packed poses. */
class Stage {
  constructor(figure) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.ctx = this.canvas.getContext("2d");
    const source = JSON.parse(document.getElementById(figure.dataset.scene).textContent);
    this.scene = source;
    this.actors = source.actors.map((actor) => ({
      ...actor, time: decode(actor.time), pos: decode(actor.pos), quat: decode(actor.quat),
      links: actor.pos.shape[1],
    }));
    this.tracks = source.tracks.map((track) => ({
      ...track, time: decode(track.time), points: decode(track.points), state: decode(track.state),
      distance: track.distance ? decode(track.distance) : null,
    }));
    this.polygons = source.polygons.map((polygon) => ({
      ...polygon, time: decode(polygon.time), vertices: decode(polygon.vertices),
      count: decode(polygon.count), width: polygon.vertices.shape[1],
    }));
    this.arrows = source.arrows.map((arrow) => ({
      ...arrow, time: decode(arrow.time), tail: decode(arrow.tail), force: decode(arrow.force),
      state: decode(arrow.state),
    }));
    this.start = Math.min(...this.actors.map(({ time }) => time[0]));
    this.end = Math.max(...this.actors.map(({ time }) => time[time.length - 1]));
    this.leads = this.actors.map((_, i) => i).filter((i) => this.actors[i].behind === null);
    this.beside = this.leads.length > 1; // two views side by side, or one over the other
    this.t = this.start;
    this.camera = { ...HOME };
    this.height = this.bodyHeight();
  }

  part(name) { return this.figure.querySelector(`[data-part="${name}"]`); }

  bodyHeight() {
    // Head to ground where it stands tallest; the camera has to stand somewhere before it can look.
    this.right = [0, 1, 0]; this.up = [0, 0, 1]; this.toward = [1, 0, 0];
    this.target = [0, 0, 0]; this.distance = this.focal = 1;
    this.view = { left: 0, wide: 0 };
    let top = this.scene.ground + 0.3;
    for (let k = 0; k <= LOOKS; k++) {
      this.t = this.start + (k / LOOKS) * (this.end - this.start);
      for (const { shape, world } of this.body(this.actors[0])) {
        for (const end of shape.spine) top = Math.max(top, world(end)[2] + shape.radius);
      }
    }
    this.t = this.start;
    return top - this.scene.ground;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth || 640;
    this.tall = this.canvas.clientHeight || 420;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.tall * ratio);
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(this.figure);
    this.tone = (name) => style.getPropertyValue(`--${name}`).trim();
  }

  // -- projection --
  look() {
    const camera = this.camera;
    camera.pitch = Math.min(Math.max(camera.pitch, -0.1), 1.55);
    camera.zoom = Math.min(Math.max(camera.zoom, 0.3), 6);
    const ca = Math.cos(camera.yaw), sa = Math.sin(camera.yaw);
    const ce = Math.cos(camera.pitch), se = Math.sin(camera.pitch);
    this.toward = [ce * ca, ce * sa, se];
    this.right = [-sa, ca, 0];
    this.up = cross(this.toward, this.right);
    this.distance = 4.5 * this.height;
    this.focal = 4.5 * Math.min(this.tall / 1.2, this.view.wide / 0.95) * camera.zoom;
    const { pos, follow, links, time } = this.actors[0];
    const at = place(time, this.t);
    const root = (i) => [0, 1].map((k) => pos[3 * (i * links + follow) + k]);
    const [x, y] = mix(root(at.low), root(at.high), at.share);
    this.target = [x, y, this.scene.ground + 0.5 * this.height];
  }
  turn(v) { return [dot(v, this.right), dot(v, this.up), dot(v, this.toward)]; }
  project(p) {
    // Across and down on the canvas, px; nearness, m; pixels a metre at that depth.
    const [x, y, z] = this.turn(minus(p, this.target));
    const scale = this.focal / Math.max(this.distance - z, 0.1);
    return [this.view.left + this.view.wide / 2 + x * scale, this.tall / 2 - y * scale, z, scale];
  }

  // -- drawing --
  views() {
    // Where on the canvas which actors are seen; the first of them has ZMP and support there.
    const leads = this.leads, all = this.actors.map((_, i) => i);
    const own = (i) => [i, ...all.filter((k) => this.actors[k].behind === i)];
    if (leads.length === 1) return [{ left: 0, wide: this.width, shown: own(leads[0]) }];
    if (!this.beside) return [{ left: 0, wide: this.width, shown: leads }];
    const wide = this.width / leads.length;
    return leads.map((i, k) => ({ left: wide * (leads.length - 1 - k), wide, shown: own(i) }));
  }

  draw() {
    const ctx = this.ctx;
    ctx.clearRect(0, 0, this.width, this.tall);
    for (const view of this.views()) {
      this.view = view;
      ctx.save();
      ctx.beginPath();
      ctx.rect(view.left, 0, view.wide, this.tall);
      ctx.clip();
      this.look();
      this.scenery(view.shown);
      ctx.restore();
    }
    if (this.actors.length > 1) this.names();
  }

  scenery(shown) {
    const ctx = this.ctx, lead = shown[0];
    const own = (thing) => thing.actor === lead;
    ctx.lineJoin = "round";
    this.grid();
    for (const item of painterOrder(this.scene.terrain.map((s) => this.posed(s, [0, 0, 0], null)))) {
      this.solid(item);
    }
    const bodies = shown.map((i) => this.body(this.actors[i]));
    this.shadow(bodies[0]);
    this.polygons.filter(own).forEach((polygon) => this.polygon(polygon, false));
    this.tracks.filter(own).forEach((track) => this.trail(track));
    bodies.slice(1).forEach((items) => this.ghost(items));
    painterOrder(bodies[0]).forEach((item) => this.solid(item));
    this.polygons.filter(own).forEach((polygon) => this.polygon(polygon, true)); // feet hide ground
    this.tracks.filter(own).forEach((track) => this.marker(track));
    this.arrows.filter((arrow) => shown.includes(arrow.actor)).forEach((arrow) => {
      ctx.globalAlpha = arrow.actor === lead ? 1 : GHOST;
      this.arrow(arrow);
    });
    ctx.globalAlpha = 1;
  }

  ghost(items) {
    // Drawn apart and then laid on as a whole: its shapes do not show through one another.
    const layer = this.layer || (this.layer = document.createElement("canvas"));
    const sheet = this.ctx, ratio = window.devicePixelRatio || 1;
    layer.width = this.canvas.width;
    layer.height = this.canvas.height;
    this.ctx = layer.getContext("2d");
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ctx.lineJoin = "round";
    painterOrder(items).forEach((item) => this.solid(item));
    this.ctx = sheet;
    sheet.globalAlpha = GHOST;
    sheet.drawImage(layer, 0, 0, this.width, this.tall);
    sheet.globalAlpha = 1;
  }

  names() {
    const ctx = this.ctx;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    ctx.font = "600 14px system-ui, sans-serif";
    for (const { left, wide, shown } of this.views()) {
      const [lead, ...rest] = shown.map((i) => this.actors[i].label);
      ctx.fillStyle = this.tone("ink");
      ctx.fillText(rest.length ? `${lead}, over ${rest.join(", ")}` : lead, left + wide / 2, 10);
      if (!left) continue;
      ctx.fillStyle = this.tone("rule");
      ctx.fillRect(left - 0.5, 0, 1, this.tall);
    }
  }

  path(points, close = true) {
    const ctx = this.ctx;
    points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    if (close) ctx.closePath();
  }

  grid() {
    const ctx = this.ctx, z = this.scene.ground;
    const x0 = Math.round(this.target[0] / GRID_M), y0 = Math.round(this.target[1] / GRID_M);
    ctx.strokeStyle = this.tone("grid");
    ctx.lineWidth = 1;
    for (let i = -GRID_REACH; i <= GRID_REACH; i++) {
      for (let j = -GRID_REACH; j < GRID_REACH; j++) {
        const far = Math.hypot(i, j + 0.5) / GRID_REACH;
        if (far > 1) continue;
        ctx.globalAlpha = 1 - far;
        ctx.beginPath();
        this.path([[x0 + i, y0 + j], [x0 + i, y0 + j + 1]].map(([x, y]) => this.project([x * GRID_M, y * GRID_M, z])), false);
        this.path([[x0 + j, y0 + i], [x0 + j + 1, y0 + i]].map(([x, y]) => this.project([x * GRID_M, y * GRID_M, z])), false);
        ctx.stroke();
      }
    }
    ctx.globalAlpha = 1;
  }

  body(actor) {
    const at = place(actor.time, this.t);
    const take = (data, width, sample, link) => {
      const first = width * (sample * actor.links + link);
      return Array.from(data.subarray(first, first + width));
    };
    const poses = [];
    for (let link = 0; link < actor.links; link++) {
      const a = take(actor.quat, 4, at.low, link), b = take(actor.quat, 4, at.high, link);
      const near = a.reduce((sum, v, i) => sum + v * b[i], 0) < 0 ? b.map((v) => -v) : b;
      poses.push({
        pos: mix(take(actor.pos, 3, at.low, link), take(actor.pos, 3, at.high, link), at.share),
        rot: matrix(unit(mix(a, near, at.share))),
      });
    }
    return actor.shapes.map((s) => this.posed(s, poses[s.link].pos, poses[s.link].rot));
  }

  posed(shape, pos, rot) {
    const offset = rot ? turned(rot, shape.pos) : shape.pos;
    const item = {
      shape,
      rot: rot ? product(rot, shape.rot) : shape.rot,
      pos: pos.map((v, i) => v + offset[i]),
    };
    item.world = (p) => { const q = turned(item.rot, p); return q.map((v, i) => v + item.pos[i]); };
    item.flat = shape.spine.map((p) => this.project(item.world(p)));
    item.middle = (item.flat[0][2] + item.flat[1][2]) / 2;
    item.radiusPx = shape.radius * (item.flat[0][3] + item.flat[1][3]) / 2;
    return item;
  }

  shadow(items) {
    const ctx = this.ctx, z = this.scene.ground;
    ctx.beginPath();
    for (const item of items) {
      const points = [];
      const drop = (p) => points.push(this.project([p[0], p[1], z]));
      if (item.shape.kind === "polyhedron") {
        for (let i = 0; i < item.shape.points.length; i += 3) drop(item.world(item.shape.points.slice(i, i + 3)));
      } else {
        for (const end of item.shape.spine) {
          const p = item.world(end);
          for (let k = 0; k < 12; k++) {
            const a = (k * Math.PI) / 6, r = item.shape.radius;
            drop([p[0] + r * Math.cos(a), p[1] + r * Math.sin(a)]);
          }
        }
      }
      this.path(hull(points));
    }
    ctx.fillStyle = this.tone("shadow");
    ctx.fill();
  }

  shade(rgb, normal) {
    const bright = typeof normal === "number" ? normal : AMBIENT + DIFFUSE * 0.5 * (1 + dot(normal, LIGHT));
    return `rgb(${rgb.map((c) => Math.round(Math.min(c * bright, 255))).join(",")})`;
  }

  solid(item) {
    const ctx = this.ctx;
    ctx.lineWidth = 1;
    ctx.beginPath();
    if (item.shape.kind === "capsule") this.capsule(item);
    else if (item.shape.kind === "ellipsoid") this.ellipsoid(item);
    else this.polyhedron(item);
    ctx.strokeStyle = this.shade(item.shape.rgb, EDGE);
    ctx.stroke();
  }

  gradient(middle, across, reach, rgb, front) {
    // Brightness over a round thing: `across` on the canvas and `front` are unit, in camera axes.
    const end = (sign) => [middle[0] + sign * reach * across[0], middle[1] - sign * reach * across[1]];
    const fill = this.ctx.createLinearGradient(...end(-1), ...end(1));
    for (const share of [-1, -0.6, -0.2, 0.2, 0.6, 1]) {
      const depth = Math.sqrt(1 - share * share);
      fill.addColorStop(0.5 + 0.5 * share, this.shade(rgb, across.map((v, i) => share * v + depth * front[i])));
    }
    this.ctx.fillStyle = fill;
  }

  capsule(item) {
    const ctx = this.ctx, [a, b] = item.flat, radius = item.shape.size[0];
    const ra = radius * a[3], rb = radius * b[3];
    const dx = b[0] - a[0], dy = b[1] - a[1], apart = Math.hypot(dx, dy);
    if (apart <= Math.abs(ra - rb) + 1e-6) {
      const [x, y] = ra > rb ? a : b;
      ctx.arc(x, y, Math.max(ra, rb), 0, 2 * Math.PI);
    } else {
      const heading = Math.atan2(dy, dx), lean = Math.acos((ra - rb) / apart);
      ctx.arc(a[0], a[1], ra, heading + lean, heading - lean + 2 * Math.PI);
      ctx.arc(b[0], b[1], rb, heading - lean, heading + lean);
      ctx.closePath();
    }
    let across = [0, -1, 0], front = [0, 0, 1];
    if (apart > 0.5 * Math.max(ra, rb)) {
      const along = unit(this.turn(minus(item.world(item.shape.spine[1]), item.world(item.shape.spine[0]))));
      across = unit([-along[1], along[0], 0]);
      front = cross(along, across);
      if (front[2] < 0) front = front.map((v) => -v);
    }
    const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    this.gradient(middle, across, Math.max(ra, rb), item.shape.rgb, front);
    ctx.fill();
  }

  ellipsoid(item) {
    const [x, y, , scale] = this.project(item.pos), size = item.shape.size;
    const columns = [0, 1, 2].map((k) => this.turn([item.rot[k], item.rot[3 + k], item.rot[6 + k]]).map((v) => v * size[k]));
    const sum = (i, j) => columns.reduce((total, c) => total + c[i] * c[j], 0);
    const p = sum(0, 0), q = sum(0, 1), r = sum(1, 1);
    const spread = Math.hypot((p - r) / 2, q), mean = (p + r) / 2;
    const major = Math.sqrt(mean + spread), minor = Math.sqrt(Math.max(mean - spread, 0));
    this.ctx.ellipse(x, y, major * scale, minor * scale, -0.5 * Math.atan2(2 * q, p - r), 0, 2 * Math.PI);
    this.gradient([x, y], [0, -1, 0], Math.sqrt(r) * scale, item.shape.rgb, [0, 0, 1]);
    this.ctx.fill();
  }

  polyhedron(item) {
    const ctx = this.ctx, { points, faces, rgb } = item.shape;
    const world = [];
    for (let i = 0; i < points.length; i += 3) world.push(item.world(points.slice(i, i + 3)));
    const flat = world.map((p) => this.project(p));
    for (const face of faces) {
      const [a, b, c] = face.map((i) => flat[i]);
      if ((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) >= 0) continue; // looks away
      const [p, q, r] = face.map((i) => world[i]);
      ctx.beginPath();
      this.path(face.map((i) => flat[i]));
      ctx.fillStyle = ctx.strokeStyle = this.shade(rgb, unit(this.turn(cross(minus(q, p), minus(r, q)))));
      ctx.fill();
      ctx.stroke();
    }
    ctx.beginPath();
    this.path(hull(flat));
  }

  polygon(polygon, over) {
    const i = place(polygon.time, this.t).nearest, count = polygon.count[i], ctx = this.ctx;
    const points = [];
    for (let k = 0; k < count; k++) {
      const first = 3 * (i * polygon.width + k);
      points.push(this.project(Array.from(polygon.vertices.subarray(first, first + 3))));
    }
    if (!count) return;
    ctx.beginPath();
    this.path(hull(points));
    ctx.fillStyle = this.tone("support-fill");
    ctx.strokeStyle = this.tone("support");
    ctx.lineWidth = 1.5;
    if (over) ctx.stroke(); else ctx.fill();
  }

  ground(track, i) {
    const z = track.mark === "plumb" ? this.scene.ground : track.points[3 * i + 2];
    return [track.points[3 * i], track.points[3 * i + 1], z];
  }

  trail(track) {
    const ctx = this.ctx, last = place(track.time, this.t).nearest;
    const far = (i) => track.distance && track.distance[i] > TRAIL_FAR_M; // it jumps about
    ctx.lineWidth = 2;
    for (let i = last; i > 0 && track.time[i] > this.t - TRAIL_S; i--) {
      if (track.state[i] === 2 || track.state[i - 1] === 2 || far(i) || far(i - 1)) continue;
      ctx.globalAlpha = 1 - (this.t - track.time[i]) / TRAIL_S;
      ctx.strokeStyle = this.colour(track, i);
      ctx.beginPath();
      this.path([this.project(this.ground(track, i - 1)), this.project(this.ground(track, i))], false);
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  colour(track, i) {
    if (track.mark === "plumb") return this.tone("com");
    if (track.mark === "pressed") return this.tone("zmp");
    return this.tone(track.state[i] === 1 ? "bad" : "good");
  }

  marker(track) {
    const i = place(track.time, this.t).nearest, ctx = this.ctx;
    if (track.state[i] === 2) return;
    const [x, y] = this.project(this.ground(track, i));
    ctx.strokeStyle = ctx.fillStyle = this.colour(track, i);
    ctx.lineWidth = 2;
    if (track.mark === "plumb") {
      const top = this.project(Array.from(track.points.subarray(3 * i, 3 * i + 3)));
      ctx.setLineDash([4, 4]);
      ctx.beginPath();
      this.path([top, [x, y]], false);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      this.path([[x, y - 6], [x + 7, y], [x, y + 6], [x - 7, y]]);
      ctx.stroke();
      ctx.beginPath();
      ctx.arc(top[0], top[1], 3.5, 0, 2 * Math.PI);
      ctx.fill();
      return;
    }
    ctx.beginPath();
    if (track.mark === "pressed") {
      ctx.rect(x - 5, y - 5, 10, 10);
      ctx.fill();
      ctx.strokeStyle = this.tone("paper");
      ctx.stroke();
    } else if (track.state[i] === 1) {
      ctx.lineWidth = 4;
      ctx.lineCap = "round";
      this.path([[x - 7, y - 7], [x + 7, y + 7]], false);
      this.path([[x - 7, y + 7], [x + 7, y - 7]], false);
      ctx.stroke();
      ctx.lineCap = "butt";
    } else {
      ctx.arc(x, y, 6, 0, 2 * Math.PI);
      ctx.fill();
      ctx.strokeStyle = this.tone("paper");
      ctx.stroke();
    }
  }

  arrow(arrow) {
    // A force, ARROW_HEIGHTS robots long for each weight; one that is cut has two heads.
    const i = place(arrow.time, this.t).nearest, ctx = this.ctx;
    const force = Array.from(arrow.force.subarray(3 * i, 3 * i + 3)), size = Math.hypot(...force);
    const tail = Array.from(arrow.tail.subarray(3 * i, 3 * i + 3)), whole = size * ARROW_HEIGHTS * this.height;
    if (whole < 0.01 * this.height) return;
    const room = this.scene.ground + ARROW_TOP * this.height - tail[2];
    const fits = force[2] > 0 ? Math.max(room, 0.2 * this.height) * size / force[2] : Infinity;
    const long = Math.min(whole, fits, MOST_HEIGHTS * this.height);
    const reach = (share) => this.project(tail.map((v, k) => v + share * long * force[k] / size));
    const [a, b] = [reach(0), reach(1)];
    const apart = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const [ux, uy] = apart > 1e-6 ? [(b[0] - a[0]) / apart, (b[1] - a[1]) / apart] : [0, -1];
    const head = Math.min(16, 0.5 * apart), wing = 0.45 * head;
    const tips = long < whole ? [0, 0.8 * head] : [0];
    const shaft = apart - head - tips[tips.length - 1] + 1;
    const trace = (dash) => {
      ctx.beginPath();
      this.path([[a[0], a[1]], [a[0] + shaft * ux, a[1] + shaft * uy]], false);
      ctx.setLineDash(dash);
      ctx.stroke();
      ctx.setLineDash([]);
      for (const back of tips) {
        const [x, y] = [b[0] - back * ux, b[1] - back * uy];
        const [bx, by] = [x - head * ux, y - head * uy];
        ctx.beginPath();
        this.path([[x, y], [bx - wing * uy, by + wing * ux], [bx + wing * uy, by - wing * ux]]);
        ctx.stroke();
        ctx.fill();
      }
    };
    ctx.strokeStyle = ctx.fillStyle = this.tone("paper"); // a rim, so that it is seen on any robot
    ctx.lineWidth = 7;
    trace([]);
    ctx.strokeStyle = ctx.fillStyle = this.tone(arrow.state[i] === 1 ? "bad" : "good");
    ctx.lineWidth = 3.5;
    trace(arrow.state[i] === 1 ? [10, 4] : []); // told by more than its colour
  }
}
