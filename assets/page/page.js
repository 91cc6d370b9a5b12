// A world of `foreland serve` in a browser. The messages are those of engine/remote/protocol.py.
// Everything up to `open` at the end runs without a page too, so that it can be tested there.

export const PROTOCOL = 1;
const FIRST_DELAY = 0.05;      // seconds that the first group waits before it is shown
const AHEAD_SECONDS = 20;      // of pictures that wait, at most
const SILENCE = 3;             // seconds without a word after which a line counts as lost
const PING_SECONDS = 0.5;
const AGAIN = [0.1, 0.3, 0.6, 1];

export const KEYS = {
  KeyW: "forward", KeyS: "back", KeyA: "left", KeyD: "right", ArrowLeft: "turn_left", ArrowRight: "turn_right",
  ArrowUp: "look_up", ArrowDown: "look_down", Space: "rise", KeyC: "sink",
};

export function pack(message) {
  const header = new TextEncoder().encode(JSON.stringify(message));
  const out = new Uint8Array(4 + header.length);
  new DataView(out.buffer).setUint32(0, header.length);
  out.set(header, 4);
  return out;
}

export function unpack(data) {
  const bytes = new Uint8Array(data);
  if (bytes.length < 4) throw new Error("a message is shorter than its length");
  const n = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (4 + n > bytes.length) throw new Error("a header is longer than its message");
  const message = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + n)));
  return [message, bytes.subarray(4 + n)];
}

export async function inflated(payload) {
  const stream = new Blob([payload]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// When frames are shown: a clock of media that stands while a frame is late, as engine/playback/player.py.
export class Playout {
  constructor(fps) {
    this.fps = fps;
    this.frames = new Map();   // media frame -> picture
    this.next = 0;
    this.origin = null;
    this.held = null;
  }
  leave(frame) {
    for (const picture of this.frames.values()) picture?.close?.();
    this.frames.clear();
    this.next = frame;
    this.origin = null;
  }
  put(frame, picture, now) {
    if (frame < this.next) { picture?.close?.(); return; }
    this.frames.set(frame, picture);
    if (this.origin === null && frame === this.next) this.origin = now + FIRST_DELAY - frame / this.fps;
  }
  get ahead() { return this.frames.size / this.fps; }
  pause(now) { this.held ??= now; }
  resume(now) {
    if (this.held !== null && this.origin !== null) this.origin += now - this.held;
    this.held = null;
  }
  // The newest picture that is due, or null where none is; what it overtakes is closed.
  due(now) {
    let shown = null;
    if (this.origin === null || this.held !== null) return null;
    while (this.origin + this.next / this.fps <= now) {
      const picture = this.frames.get(this.next);
      if (picture === undefined) {
        this.origin = now - this.next / this.fps;  // it is late: everything after it is later too
        break;
      }
      this.frames.delete(this.next);
      this.next += 1;
      if (picture === null) continue;              // its time passes with the picture before it
      shown?.close?.();
      shown = picture;
    }
    return shown;
  }
}

export class Client {
  // place: {url, token, watch}; make: {socket(url), decoder({output, error}), now()}; tell: {said, loading, view, size}
  constructor(place, make, tell, prompt = "") {
    Object.assign(this, { place, make, tell });
    this.firstPrompt = prompt;
    this.number = 0;
    this.held = new Set();
    this.waiting = [];         // numbered messages that the server may not have
    this.session = null;
    this.groups = 0;
    this.epoch = 0;
    this.tries = 0;
    this.over = false;
    this.offset = 0;
    this.bestTrip = Infinity;
    this.decoding = [];        // media frames whose packets the decoder has
    this.playout = null;
  }

  start() {
    this.open = false;
    const socket = this.socket = this.make.socket(this.place.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      const hello = { kind: "hello", protocol: PROTOCOL, token: this.place.token ?? "" };
      if (this.place.watch) hello.watch = this.place.watch;
      else if (this.session !== null) Object.assign(hello, { session: this.session, groups: this.groups });
      hello.log = null;        // it is not read here
      socket.send(pack(hello));
      this.heard = this.make.now();
    };
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.heard = this.make.now();
      try {
        this.take(...unpack(event.data));
      } catch (e) {
        this.end(`what the server sent cannot be understood (${e.message})`);
      }
    };
    socket.onclose = () => { if (socket === this.socket) this.lost(); };
    clearInterval(this.timer);
    this.timer = setInterval(() => this.beat(), PING_SECONDS * 1000);
  }

  end(sentence) {
    this.over = true;
    clearInterval(this.timer);
    this.tell.said(sentence);
    this.socket?.close();
  }

  lost() {
    clearInterval(this.timer);
    if (this.over) return;
    this.open = false;
    this.tell.said("The line is lost: trying again. The world waits there.");
    const wait = AGAIN[Math.min(this.tries++, AGAIN.length - 1)];
    setTimeout(() => { if (!this.over) this.start(); }, wait * 1000);
  }

  beat() {
    const now = this.make.now();
    if (this.open && now - this.heard > SILENCE) { const gone = this.socket; this.socket = null; gone.close(); this.lost(); return; }
    if (this.open) this.socket.send(pack({ kind: "ping", sent: now }));
  }

  say(message) {
    if (this.place.watch) return;
    const data = pack({ ...message, number: ++this.number });
    this.waiting.push([this.number, data]);
    if (this.waiting.length > 256) this.waiting.shift();
    if (this.open) this.socket.send(data);
  }

  get there() { return this.make.now() + this.offset; }

  hold(action, down) {
    if (down === this.held.has(action)) return;
    if (down) this.held.add(action); else this.held.delete(action);
    this.say({ kind: "held", at: this.there, keys: [...this.held].sort() });
  }

  releaseAll() {
    if (!this.held.size) return;
    this.held.clear();
    this.say({ kind: "held", at: this.there, keys: [] });
  }

  prompt(text) { this.say({ kind: "prompt", at: this.there, text, seconds: 0 }); }
  newWorld(text) { this.held.clear(); this.say({ kind: "world", prompt: text || null, start: "same" }); }
  pause() { this.held.clear(); this.playout?.pause(this.make.now()); this.say({ kind: "pause" }); }
  resume() { this.playout?.resume(this.make.now()); this.say({ kind: "resume" }); }

  take(message, payload) {
    switch (message.kind) {
      case "welcome": return this.welcome(message);
      case "group": return this.group(message, payload);
      case "left":
        if (message.epoch > this.epoch || this.place.watch) {
          this.epoch = message.epoch;
          this.playout.leave(message.frame);
        }
        return;
      case "view": {
        if (message.error) return this.end(message.error);
        this.tell.loading(message.ready ? null : message.stage, message.share);
        const order = this.views = (this.views ?? 0) + 1;
        inflated(payload).then((view) => { if (order === this.views) this.tell.view(view, this.playout); }, () => {});
        return;
      }
      case "pong": {
        const now = this.make.now(), trip = now - message.sent;
        if (trip >= 0 && trip <= this.bestTrip) {
          this.bestTrip = trip;
          this.offset = message.now - (message.sent + now) / 2;
        }
        return;
      }
      case "refusal": return this.end(message.reason);
      case "ended": return this.end("The world is over.");
      case "log": case "took": return;
      default: throw new Error(`a message of kind ${message.kind}`);
    }
  }

  welcome(message) {
    const { spec } = message;
    const again = this.session !== null;
    this.session = message.session;
    if (this.playout === null) this.playout = new Playout(spec.fps);
    this.tell.size(spec.width, spec.height, spec.name);
    this.open = true;
    this.tries = 0;
    if (this.place.watch) {    // it begins anew at the next key frame
      this.decoder?.close();
      this.decoder = undefined;
      this.playout.leave(0);
      this.decoding = [];
    }
    this.decoder ??= this.make.decoder({
      output: (picture) => {
        const frame = this.decoding.shift();
        if (frame === undefined || this.playout.ahead > AHEAD_SECONDS) picture.close?.();
        else this.playout.put(frame, picture, this.make.now());
      },
      error: (e) => this.end(`the pictures cannot be decoded here (${e.message})`),
    });
    if (this.place.watch) { this.tell.said("watching"); return; }
    if (!again) this.socket.send(pack({ kind: "begin", chosen: { prompt: this.firstPrompt } }));
    for (const [number, data] of this.waiting) if (number > message.number) this.socket.send(data);
    if (again && this.held.size) this.say({ kind: "held", at: this.there, keys: [...this.held].sort() });
    if (again) this.tell.said("The line is back: the world goes on where it was.");
  }

  group(m, payload) {
    if (this.place.watch) {
      if (m.epoch !== this.epoch || this.playout.origin === null && !this.decoding.length) {
        if (!m.key) return;    // a watcher begins at the next key frame
        this.epoch = m.epoch;
        this.playout.leave(m.start);
      }
    } else {
      if (m.index < this.groups) return;
      this.groups = m.index + 1;
      this.socket.send(pack({ kind: "got", index: m.index }));
    }
    let at = 0;
    if (!m.pictures.length) {  // the line could not take it
      for (let i = 0; i < m.span; i++) this.playout.put(m.start + i, null, this.make.now());
      return;
    }
    m.pictures.forEach((size, i) => {
      const data = payload.subarray(at, at + size);
      if (data.length < size) throw new Error("a picture is cut off");
      at += size;
      this.decoding.push(m.start + i);
      this.decoder.decode({ type: m.key && i === 0 ? "key" : "delta", timestamp: (m.start + i) * 1e6 / this.playout.fps, data });
    });
  }
}

// The ribbon, as engine/runtime/view.py describes it: what was played, what surely plays, what is predicted, what was revoked, the call
// in progress, and when a person did something. x and w are shares of its width; the playhead is at PAST / (PAST + FUTURE).
export const PAST = 3, FUTURE = 7;
const ALPHA = { delivered: 0.35, locked: 1, cached: 0.6, revoked: 1 };
export function colour(version) {  // neighbours are far apart in hue, as in the window
  return `hsl(${Math.round(((0.56 + version * 0.381966) % 1) * 360)} 80% 68%)`;
}
export function bars(view, shown) {
  const from = shown - PAST * view.fps, span = (PAST + FUTURE) * view.fps;
  const all = [...view.groups, ...view.revoked].map((g) => ({
    start: g.start, span: g.span, alpha: ALPHA[g.fate], colour: g.fate === "revoked" ? "#ff5c5c" : colour(g.version), low: g.fate === "revoked",
  }));
  const f = view.flight, group = view.groups.at(-1)?.span ?? 0;
  if (f) all.push({ start: f.start, span: f.window * group, alpha: 1, colour: colour(f.version), outline: true, done: f.steps ? f.step / f.steps : 0 });
  return all.filter((g) => g.start + g.span > from && g.start < from + span)
    .map((g) => ({ ...g, x: (g.start - from) / span, w: g.span / span }));
}
export function marks(view, shown) {
  const from = shown / view.fps - PAST, span = PAST + FUTURE;
  return view.updates.filter((u) => u.kind !== "start" && u.arrival > from && u.arrival < from + span)
    .map((u) => ({ x: (u.arrival - from) / span, colour: colour(u.version) }));
}

export function status(view) {
  const l = view.L50 === null ? "" : `L50 ${view.L50.toFixed(2)} s`;
  const cache = view.state === null ? "" : `cache ${view.cached_seconds.toFixed(1)} s`;
  return [view.message, view.paused ? "paused" : "", view.shared ? `shared with ${view.shared}` : "", l, cache, view.stalls ? `${view.stalls} stalls` : ""]
    .filter(Boolean).join(" \u00b7 ");
}

function paint(canvas, view, shown) {
  const ratio = window.devicePixelRatio || 1, height = canvas.clientHeight;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = height * ratio;
  const c = canvas.getContext("2d"), width = canvas.clientWidth;
  c.scale(ratio, ratio);
  for (const bar of bars(view, shown)) {
    const x = bar.x * width + 1, w = Math.max(1, bar.w * width - 2);
    c.globalAlpha = bar.alpha;
    c.fillStyle = c.strokeStyle = bar.colour;
    if (bar.outline) {
      c.strokeRect(x, 4.5, w, 15);
      c.fillRect(x, 17, w * bar.done, 2);
    } else c.fillRect(x, bar.low ? 22 : 4, w, bar.low ? 5 : 16);
  }
  c.globalAlpha = 1;
  for (const mark of marks(view, shown)) {
    c.fillStyle = mark.colour;
    c.beginPath();
    c.moveTo(mark.x * width, 22);
    c.lineTo(mark.x * width - 4, 29);
    c.lineTo(mark.x * width + 4, 29);
    c.fill();
  }
  c.fillStyle = "#fff";
  c.fillRect(width * PAST / (PAST + FUTURE), 0, 1, height);
}

function open() {
  const $ = (id) => document.getElementById(id);
  let loading = true;
  const picture = $("picture"), ribbon = $("ribbon"), context = picture.getContext("2d");
  if (!("VideoDecoder" in window)) {
    $("said").textContent = "This browser cannot decode video for pages (WebCodecs), or the page came without https or localhost.";
    return;
  }
  const words = new URLSearchParams(location.hash.slice(1));
  let token = words.get("token") ?? sessionStorage.getItem("token") ?? "";
  const watch = words.get("watch");
  history.replaceState(null, "", location.pathname);  // the secret does not stay in the address
  if (!token && !watch && document.body.dataset.token !== undefined) token = window.prompt("The server's token") ?? "";
  sessionStorage.setItem("token", token);
  if (watch) document.body.classList.add("watching");
  const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;
  const make = {
    socket: (where) => new WebSocket(where),
    decoder: (told) => {
      const decoder = new VideoDecoder(told);
      decoder.configure({ codec: "avc1.42E028", optimizeForLatency: true });
      return { decode: (c) => decoder.decode(new EncodedVideoChunk(c)), close: () => decoder.state !== "closed" && decoder.close() };
    },
    now: () => performance.now() / 1000,
  };
  const tell = {
    said: (sentence) => { $("said").textContent = sentence; },
    size: (width, height, name) => { picture.width = width; picture.height = height; document.title = `${name} - Foreland`; },
    loading: (stage, share) => {
      loading = stage !== null;
      if (!loading) { $("loading").hidden = true; return; }
      $("loading").hidden = false;
      $("stage").textContent = stage;
      $("share").value = share;
    },
    view: (view, playout) => {
      if (!loading) $("said").textContent = status(view);
      paint(ribbon, view, playout.next);
      $("pause").setAttribute("aria-pressed", String(view.paused));
      $("pause").textContent = view.paused ? "Play" : "Pause";
      if (document.activeElement !== $("prompt")) $("prompt").value = view.prompt;
    },
  };
  const client = new Client({ url, token, watch }, make, tell, document.body.dataset.prompt ?? "");
  const draw = () => {
    const frame = client.playout?.due(make.now());
    if (frame) { context.drawImage(frame, 0, 0, picture.width, picture.height); frame.close(); }
    requestAnimationFrame(draw);
  };
  draw();
  client.start();
  const typing = () => document.activeElement === $("prompt");
  addEventListener("keydown", (e) => {
    if (typing() || e.ctrlKey || e.metaKey || e.altKey || !(e.code in KEYS)) return;
    e.preventDefault();
    if (!e.repeat) client.hold(KEYS[e.code], true);
  });
  addEventListener("keyup", (e) => { if (e.code in KEYS) client.hold(KEYS[e.code], false); });
  addEventListener("blur", () => client.releaseAll());
  document.addEventListener("visibilitychange", () => { if (document.hidden) client.releaseAll(); });
  $("prompt").addEventListener("focus", () => client.releaseAll());
  for (const button of $("pad").children) {
    const { action } = button.dataset;
    button.addEventListener("pointerdown", (e) => { button.setPointerCapture(e.pointerId); client.hold(action, true); });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(end, () => client.hold(action, false));
  }
  $("form").addEventListener("submit", (e) => { e.preventDefault(); client.prompt($("prompt").value); picture.focus(); });
  $("new").addEventListener("click", () => client.newWorld($("prompt").value));
  $("pause").addEventListener("click", () => {
    if ($("pause").getAttribute("aria-pressed") !== "true") client.pause(); else client.resume();
  });
}

if (typeof document !== "undefined") open();
