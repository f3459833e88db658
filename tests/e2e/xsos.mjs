// One XsOs player: the unmodified npm `socket.io-client`, of 4.x or 2.x, told what to do by JSON lines on stdin.
// What it hears is printed, one JSON line each: {"heard": <what>, ...} or {"answer": <n>, ...}.
import { createInterface } from "node:readline";
import { io } from "socket.io-client";
import io2 from "socket.io-client-2";

const NOWHERE = "http://127.0.0.1:1"; // nothing listens there: what a network does when it is down
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");
let socket;
let home;

const commands = {
  connect({ url, options, version }) {
    home = url;
    socket = (version === 2 ? io2 : io)(url, { reconnectionDelay: 20, reconnectionDelayMax: 50, ...options });
    socket.on("connect", () => print({ heard: "connect" }));
    socket.on("disconnect", (reason) => print({ heard: "disconnect", reason }));
    socket.on("connect_error", (error) => print({ heard: "connect_error", reason: error.message }));
    socket.on("server_msg", (message) => print({ heard: "server_msg", message }));
    socket.io.engine.on("upgrade", ({ name }) => print({ heard: "upgrade", transport: name }));
  },
  say({ n, args }) {
    socket.emit("client_msg", ...args, (ack) => print({ answer: n, ack }));
  },
  tell({ args }) {
    socket.emit("client_msg", ...args);
  },
  // The connection breaks without a word, and the network stays down until `back`.
  cut() {
    socket.io.uri = NOWHERE;
    const { transport } = socket.io.engine;
    if (transport.ws) transport.ws.terminate();
    else transport.onError("cut");
  },
  back() {
    socket.io.uri = home;
  },
  close() {
    socket.close();
  },
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const command = JSON.parse(line);
  commands[command.do](command);
});
lines.on("close", () => process.exit(0));
