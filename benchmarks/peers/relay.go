// Go with gorilla's WebSockets: a hub for each room that wraps what a member says in an envelope for all.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

type envelope struct {
	From, To []string
	Num      int
	Time     int64
	Intent   string
	Receipt  bool
	Body     []byte
}

// Who brings no id is of the first generation: bodies are JSON, and there are no receipts.
type plain struct {
	From, To []string
	Time     int64
	Intent   string
	Body     json.RawMessage
}

type member struct {
	id    string
	plain bool
	out   chan *websocket.PreparedMessage
}

type said struct {
	by   *member
	body []byte
}

type hub struct {
	join, leave chan *member
	say         chan said
}

func prepared(e any) *websocket.PreparedMessage {
	text, _ := json.Marshal(e)
	message, _ := websocket.NewPreparedMessage(websocket.TextMessage, text)
	return message
}

func (h *hub) run() {
	members := map[*member]bool{}
	num := 0
	tell := func(by *member, own, intent string, body []byte) {
		others := []string{}
		for m := range members {
			if m != by {
				others = append(others, m.id)
			}
		}
		e := envelope{[]string{by.id}, others, num, time.Now().UnixMilli(), intent, false, body}
		var message *websocket.PreparedMessage
		if by.plain && intent == "Peer" {
			message = prepared(plain{e.From, e.To, e.Time / 1000, intent, body})
		} else {
			message = prepared(e)
		}
		for m := range members {
			if m != by {
				m.out <- message
			}
		}
		if own == "Welcome" {
			e.From, e.To, e.Intent = e.To, e.From, own
		} else {
			e.Receipt = true
		}
		if members[by] && (own == "Welcome" || !by.plain) {
			by.out <- prepared(e)
		}
		num++
	}
	for {
		select {
		case m := <-h.join:
			members[m] = true
			tell(m, "Welcome", "Joiner", nil)
		case m := <-h.leave:
			delete(members, m)
			close(m.out)
			tell(m, "", "Leaver", nil)
		case s := <-h.say:
			tell(s.by, "", "Peer", s.body)
		}
	}
}

func main() {
	upgrader := websocket.Upgrader{}
	var mutex sync.Mutex
	hubs := map[string]*hub{}
	http.HandleFunc("/g/", func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		mutex.Lock()
		h := hubs[r.URL.Path]
		if h == nil {
			h = &hub{make(chan *member), make(chan *member), make(chan said)}
			hubs[r.URL.Path] = h
			go h.run()
		}
		mutex.Unlock()
		id := r.URL.Query().Get("id")
		m := &member{id, id == "", make(chan *websocket.PreparedMessage, 256)}
		if m.plain {
			m.id = fmt.Sprintf("%d.%d", time.Now().Unix(), rand.Int31())
		}
		go func() {
			for message := range m.out {
				if socket.WritePreparedMessage(message) != nil {
					return
				}
			}
		}()
		h.join <- m
		for {
			_, body, err := socket.ReadMessage()
			if err != nil {
				break
			}
			h.say <- said{m, body}
		}
		h.leave <- m
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
