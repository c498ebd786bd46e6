package main

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"unicode/utf8"

	"cattail/peers/typha/syncproto"
)

// printer writes every event as one JSON line. With several clients each line carries the client's number.
type printer struct {
	out     *lines
	number  int
	several bool
}

// lines is what all printers of a process share.
type lines struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func newLines(w io.Writer) *lines { return &lines{w: bufio.NewWriter(w)} }

// print writes and flushes, so that the reader of a pipe sees every event at once.
func (l *lines) print(v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	enc := json.NewEncoder(l.w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fatal(err)
	}
	if err := l.w.Flush(); err != nil {
		fatal(err)
	}
}

func (p *printer) print(event map[string]any) {
	if p.several {
		event["client"] = p.number
	}
	p.out.print(event)
}

func (p *printer) hello(m syncproto.MsgServerHello) {
	p.print(map[string]any{"hello": map[string]any{
		"version":                     m.Version,
		"syncerType":                  m.SyncerType,
		"supportsNodeResourceUpdates": m.SupportsNodeResourceUpdates,
		"serverConnID":                m.ServerConnID,
	}})
}

func (p *printer) restart(m syncproto.MsgDecoderRestart, offset int64) {
	p.print(map[string]any{"restart": m.CompressionAlgorithm, "message": m.Message, "offset": offset})
}

func (p *printer) status(status uint8) {
	p.print(map[string]any{"status": status})
}

func (p *printer) kvs(kvs []syncproto.SerializedUpdate) {
	for _, kv := range kvs {
		p.print(map[string]any{"kv": describe(kv)})
	}
}

// kvLine fixes the order of fields of the "kv" objects.
type kvLine struct {
	Key      string  `json:"key"`
	Value    *string `json:"value"`
	ValueB64 []byte  `json:"value_b64,omitempty"`
	Revision any     `json:"revision"`
	V3RV     string  `json:"v3rv"`
	TTL      int64   `json:"ttl"`
	Type     uint8   `json:"type"`
}

func describe(kv syncproto.SerializedUpdate) kvLine {
	line := kvLine{
		Key:      kv.Key,
		Revision: kv.Revision,
		V3RV:     kv.V3ResourceVersion,
		TTL:      int64(kv.TTL),
		Type:     kv.UpdateType,
	}
	if len(kv.Value) > 0 {
		s := string(kv.Value)
		if !utf8.ValidString(s) {
			line.ValueB64 = kv.Value
		}
		line.Value = &s
	}
	return line
}
