// The npm package ws: whatever the first client says is sent to all others as it is.
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false }, () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
server.on("connection", (socket) => {
  socket.on("message", (message) => {
    for (const client of server.clients) client.send(message, { binary: false });
  });
});
