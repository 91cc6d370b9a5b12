// What the page does, without a browser: `node --experimental-websocket page_check.mjs PORT TOKEN WATCH`. Prints JSON.
// The decoder is not a browser's: what it was given is printed, and decoded by whoever called this.
import { Client, Playout, bars, marks, pack, status, unpack } from "../../../assets/page/page.js";

const [port, token, watch] = process.argv.slice(2);
const now = () => performance.now() / 1000;
const until = async (condition, what) => {
  const end = now() + 60;
  while (!condition()) {
    if (now() > end) { console.log(JSON.stringify({ failed: what })); process.exit(1); }
    await new Promise((f) => setTimeout(f, 5));
  }
};

function player(place) {
  const it = { said: [], views: [], chunks: [], shown: [] };
  const make = {
    socket: (url) => (it.socket = new WebSocket(url)),
    decoder: ({ output }) => ({ decode: (c) => { it.chunks.push(c); output({ at: c.timestamp }); }, close: () => {} }),
    now,
  };
  const tell = { said: (s) => it.said.push(s), loading: (stage) => { it.loading = stage; }, view: (v) => it.views.push(v), size: (w, h) => { it.size = [w, h]; } };
  it.client = new Client({ url: `ws://localhost:${port}/`, ...place }, make, tell, "a");
  it.clock = setInterval(() => { const p = it.client.playout?.due(now()); if (p) it.shown.push(p.at); }, 5);
  it.client.start();
  return it;
}

// a clock of media by itself
const p = new Playout(16), closed = [], picture = (n) => ({ n, close: () => closed.push(n) });
for (let i = 0; i < 8; i++) p.put(i, picture(i), 10);
const clock = [p.due(10), p.due(10.06)?.n, p.due(10.13)?.n, p.due(10.4)?.n, closed.slice()];
p.pause(10.4); const paused = p.due(11); p.resume(11.4);
clock.push(paused, p.due(11.5)?.n, p.due(12)?.n, p.due(13));
p.put(8, picture(8), 13); clock.push(p.due(13.01)?.n);

const me = player({ token });
await until(() => me.shown.length > 16, "pictures");
me.client.hold("forward", true);
await until(() => me.views.at(-1)?.keys.includes("forward"), "a key");
const other = player({ watch });
await until(() => other.shown.length > 8, "a watcher's pictures");
other.client.hold("back", true);
other.socket.send(pack({ kind: "held", number: 99, at: 0, keys: ["back"] }));
await until(() => other.said.some((s) => s.includes("lost")), "a watcher who does something");
me.socket.close();
await until(() => me.said.some((s) => s.includes("is back")), "the line back");
const before = me.shown.length;
await until(() => me.shown.length > before + 8, "pictures again");
await until(() => me.views.at(-1)?.keys.join() === "forward", "the key that is still held");
me.client.prompt("b");
await until(() => me.views.at(-1)?.prompt === "b", "a prompt");
const stranger = player({ token: "wrong" });
await until(() => stranger.client.over, "a refusal");
const late = player({ watch: "wrong" });
await until(() => late.client.over, "a refusal of a watcher");
const view = me.views.at(-1);
console.log(JSON.stringify({
  clock, size: me.size, shown: me.shown, bars: bars(view, me.client.playout.next), marks: marks(view, me.client.playout.next).length, status: status(view),
  chunks: me.chunks.slice(0, 16).map((c) => ({ type: c.type, data: Buffer.from(c.data).toString("base64") })),
  watcher: { first: other.chunks[0].type, keys: view.keys }, stranger: stranger.said.at(-1), late: late.said.at(-1),
  unpacked: unpack(pack({ kind: "bye" }).buffer)[0],
}));
process.exit(0);
