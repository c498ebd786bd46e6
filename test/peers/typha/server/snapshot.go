package main

import (
	"bytes"
	"encoding/gob"
	"slices"
	"sync"
	"time"

	"github.com/golang/snappy"

	"cattail/peers/typha/syncproto"
)

// snapshots keeps the compressed snapshot that was made last. As in the original it serves everyone who connects until
// it is a second old and something has changed.
type snapshots struct {
	mu    sync.Mutex
	store *store
	made  *binarySnapshot
}

type binarySnapshot struct {
	bytes []byte
	at    *crumb
	when  time.Time
}

func (s *snapshots) get() (*binarySnapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made != nil && !(s.made.isOutdated() && time.Since(s.made.when) > time.Second) {
		return s.made, nil
	}
	kvs, at := s.store.snapshot()
	var buf bytes.Buffer
	w := snappy.NewBufferedWriter(&buf)
	enc := gob.NewEncoder(w)
	for part := range slices.Chunk(kvs, 1000) {
		if err := enc.Encode(syncproto.Envelope{Message: syncproto.MsgKVs{KVs: part}}); err != nil {
			return nil, err
		}
	}
	if err := enc.Encode(syncproto.Envelope{Message: syncproto.MsgDecoderRestart{
		Message: "End of compressed snapshot.", CompressionAlgorithm: "snappy",
	}}); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	s.made = &binarySnapshot{bytes: buf.Bytes(), at: at, when: time.Now()}
	return s.made, nil
}

func (b *binarySnapshot) isOutdated() bool {
	select {
	case <-b.at.more:
		return true
	default:
		return false
	}
}
