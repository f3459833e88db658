// socket.io: whatever a client says is emitted to everybody in the room.
import { createServer } from "node:http";
import { Server } from "socket.io";

const http = createServer();
const io = new Server(http, { pingInterval: 300000, pingTimeout: 300000 });
io.on("connection", (socket) => {
  socket.join("room");
  socket.on("say", (text) => io.to("room").emit("said", text));
});
http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}`));
