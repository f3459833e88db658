// Go with gorilla's WebSockets: whatever a client says is sent to all, by a hub and a writer for each client.
package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

func main() {
	upgrader := websocket.Upgrader{}
	var mutex sync.RWMutex
	clients := map[chan *websocket.PreparedMessage]bool{}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		out := make(chan *websocket.PreparedMessage, 256)
		mutex.Lock()
		clients[out] = true
		mutex.Unlock()
		go func() {
			for message := range out {
				if socket.WritePreparedMessage(message) != nil {
					return
				}
			}
		}()
		for {
			_, text, err := socket.ReadMessage()
			if err != nil {
				break
			}
			message, _ := websocket.NewPreparedMessage(websocket.TextMessage, text)
			mutex.RLock()
			for client := range clients {
				client <- message
			}
			mutex.RUnlock()
		}
		mutex.Lock()
		delete(clients, out)
		mutex.Unlock()
		close(out)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
