// One GammonX player: the unmodified npm `@microsoft/signalr` client, told what to do by JSON lines on stdin.
// What it hears is printed, one JSON line each: {"heard": <event>, "payload"} or {"answer": <n>, "error"?}.
// With `play` it plays by itself, whatever is allowed, until the match is over; see `choose`.
import { createInterface } from "node:readline";
import { HubConnectionBuilder, HttpTransportType, LogLevel } from "@microsoft/signalr";

const EVENTS = [
  "match-lobby-waiting", "match-lobby-found", "match-started", "match-ended", "match-state",
  "game-waiting", "game-started", "game-state", "game-ended", "error", "force-disconnect",
  "double-offered", "double-accepted", "double-declined",
  "player-connected", "player-disconnected", "turn-timer",
];
// Nothing is to be done about these; after those of the second line comes one that says more.
const NO_TURN = ["player-disconnected", "error", "game-waiting",
  "match-lobby-found", "player-connected", "double-declined"];
const QUIET = ["game-state"]; // too many to print while it plays by itself
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");
let connection, match, player, playing, moves = 0, cuts = 0;
let busy = false, heardMeanwhile = null;

const random = (() => {
  let state = 1;
  return { seed: (n) => { state = n; }, below: (n) => (state = (state * 48271) % 2147483647) % n };
})();

// When to try again after the line broke: a server that starts on a busy machine takes its time.
const RETRIES = [0, 50, 200, ...Array(60).fill(1000)];

// What somebody does who may do these things; after a while doubles keep matches short, and no game is
// given up before the line was cut in it.
function choose({ allowedCommands, moveSequences }) {
  const may = (name) => allowedCommands.includes(name);
  if (may("AcceptDouble")) {
    return [cuts < playing.cuts || random.below(4) ? "AcceptDouble" : "DeclineDouble"];
  }
  if (may("StartGame")) return ["StartGame"];
  if (may("OfferDouble") && moves > 40 && random.below(3) === 0) return ["OfferDouble"];
  if (may("Roll")) return ["Roll"];
  if (may("Move")) {
    const { moves } = moveSequences[random.below(moveSequences.length)];
    return ["Move", moves[0].from, moves[0].to];
  }
  return may("EndTurn") ? ["EndTurn"] : [];
}

// The line breaks without a word.
function cut() {
  cuts += 1;
  connection.connection.transport._webSocket.terminate();
}

function check({ boardState: board }) {
  const white = board.fields.filter((n) => n < 0).reduce((sum, n) => sum - n, 0);
  const pinned = (board.pinnedFields ?? []).filter((n) => n < 0).length;
  const all = white + pinned + board.bearOffCountWhite + board.homeBarCountWhite;
  if (all !== 15) print({ heard: "wrong-board", board });
}

function hear(name, payload) {
  if (payload.boardState) check(payload);
  if (!playing) return;
  if (NO_TURN.includes(name)) return;
  if (cuts < playing.cuts && moves === playing.after) { moves += 1; cut(); return; }
  act(payload);
}

// One thing at a time: what is heard meanwhile may be older than what is being done, the last of it is not.
function act(payload) {
  if (busy) { heardMeanwhile = payload; return; }
  const [method, ...rest] = choose(payload);
  if (!method) return;
  moves += 1;
  busy = true;
  heardMeanwhile = null;
  connection.invoke(method, match, ...rest)
    .catch(() => { heardMeanwhile = null; }) // a cut line: the state is told again
    .finally(() => { busy = false; if (heardMeanwhile) act(heardMeanwhile); });
}

const commands = {
  async connect({ n, url, query, options }) {
    connection = new HubConnectionBuilder()
      .withUrl(`${url}?${query}`, { transport: HttpTransportType.WebSockets, ...options })
      .withAutomaticReconnect(RETRIES)
      .configureLogging(LogLevel.None)
      .build();
    for (const name of EVENTS) {
      connection.on(name, ({ type, payload }) => {
        if (type !== name) print({ heard: "wrong-type", type, name });
        if (!playing || !QUIET.includes(name)) print({ heard: name, payload });
        hear(name, payload);
      });
    }
    connection.onreconnected(() => print({ heard: "reconnected" }));
    connection.onclose((error) => print({ heard: "closed", reason: error?.message ?? null }));
    await connection.start();
    print({ answer: n });
  },
  async invoke({ n, args }) {
    try {
      await connection.invoke(...args);
      print({ answer: n });
    } catch (error) {
      print({ answer: n, error: error.message });
    }
  },
  play(how) {
    ({ match, player } = how);
    playing = how;
    random.seed(how.seed);
    connection.invoke("JoinMatch", match, player).catch((error) => print({ heard: "no", reason: error.message }));
  },
  cut,
  async stop({ n }) {
    await connection.stop();
    print({ answer: n });
  },
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const command = JSON.parse(line);
  Promise.resolve(commands[command.do](command)).catch((error) => print({ answer: command.n, error: error.message }));
});
lines.on("close", () => process.exit(0));
