// boardgame.io's own server with the noughts and crosses of its tutorial, in memory. With the word `endless` the
// board is wiped after eight marks, so that a game never ends.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { Server, SocketIO } = require("boardgame.io/server");
const { INVALID_MOVE } = require("boardgame.io/core");

const ENDLESS = process.argv.includes("endless");
const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

const tictactoe = {
  name: "tictactoe",
  setup: () => ({ cells: Array(9).fill(null) }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    clickCell: ({ G, playerID }, id) => {
      if (G.cells[id] !== null) return INVALID_MOVE;
      G.cells[id] = playerID;
      if (ENDLESS && G.cells.filter((cell) => cell === null).length === 1) G.cells.fill(null);
    },
  },
  endIf: ({ G, ctx }) => {
    if (LINES.some(([a, b, c]) => G.cells[a] !== null && G.cells[a] === G.cells[b] && G.cells[a] === G.cells[c]))
      return { winner: ctx.currentPlayer };
    if (!G.cells.includes(null)) return { draw: true };
  },
};

const patient = new SocketIO({ socketOpts: { pingInterval: 300000, pingTimeout: 300000 } });
const transport = ENDLESS ? { transport: patient } : {};
const server = Server({ games: [tictactoe], origins: [/127\.0\.0\.1/], ...transport });
const running = await server.run({ port: 0 });
console.log(`http://127.0.0.1:${running.appServer.address().port}`);
