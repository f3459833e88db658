// One player: the unmodified npm `phoenix` client, told what to do by JSON lines on stdin.
// Everything it hears is printed, one JSON line each: {"heard": <what>, ...} or {"answer": <n>, ...}.
import { createInterface } from "node:readline";
import { Presence, Socket } from "phoenix";
import WebSocket from "ws";

const NOWHERE = "ws://127.0.0.1:1"; // nothing listens there: what a network does when it is down
const channels = new Map();
const seen = new Map(); // topic: the seq of its last update or sync
let socket;
let online = true;

class Line extends WebSocket {
  constructor(url, protocols) {
    super(online ? url : NOWHERE, protocols);
  }
}

const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

/** Print the answer to command `n`, whichever way the push goes. */
function answer(n, push) {
  for (const status of ["ok", "error", "timeout"]) {
    push.receive(status, (response) => print({ answer: n, status, response }));
  }
}

/** What a join says; the client's own rejoins ask again, so they name what was seen last. */
function joinParams(topic, payload, resume) {
  return resume && seen.has(topic) ? { ...payload, since: seen.get(topic) } : payload;
}

/** Print what reaches the application, by the hook that phoenix has for it. */
function listen(channel) {
  channel.onMessage = (event, payload) => {
    if (event === "update" || event === "sync") seen.set(channel.topic, payload.seq);
    if (!event.startsWith("chan_reply_") && event !== "phx_reply") {
      print({ heard: event, topic: channel.topic, payload: payload instanceof Object ? payload : { why: payload } });
    }
    return payload;
  };
  const presence = new Presence(channel);
  presence.onSync(() => print({ heard: "presence", topic: channel.topic, payload: presence.state }));
}

const commands = {
  connect({ n, url, options }) {
    socket = new Socket(url, { ...options, transport: Line });
    socket.onOpen(() => print({ heard: "open", payload: {} }));
    socket.onClose(({ code, reason }) => print({ heard: "close", payload: { code, reason } }));
    socket.onMessage(({ topic, payload }) => topic === "phoenix" && print({ heard: "heartbeat", payload }));
    socket.connect();
    print({ answer: n, status: "ok", response: {} });
  },
  join({ n, topic, payload, resume }) {
    const channel = socket.channel(topic, () => joinParams(topic, payload, resume));
    listen(channel);
    channels.set(topic, channel);
    const push = channel.join();
    push.receive("ok", (response) => print({ heard: "joined", topic, payload: response }));
    answer(n, push);
  },
  push({ n, topic, event, payload, binary }) {
    const body = binary === undefined ? payload : Uint8Array.from(binary).buffer;
    answer(n, channels.get(topic).push(event, body));
  },
  leave({ n, topic }) {
    answer(n, channels.get(topic).leave());
  },
  ping({ n }) {
    socket.ping(() => print({ answer: n, status: "ok", response: {} }));
  },
  cut({ n, back }) {
    online = back;
    socket.conn.terminate();
    print({ answer: n, status: "ok", response: {} });
  },
  back({ n }) {
    online = true;
    print({ answer: n, status: "ok", response: {} });
  },
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const command = JSON.parse(line);
  commands[command.do](command);
});
lines.on("close", () => process.exit(0));
