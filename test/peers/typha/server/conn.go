package main

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/golang/snappy"

	"cattail/peers/typha/syncproto"
)

const (
	// The most key/values in one message of a plain snapshot or of deltas.
	maxMessageKVs = 100
	ackTimeout    = time.Minute
)

// conn serves one client the way the original does: messages are encoded and compressed for this client alone.
type conn struct {
	opts  options
	raw   net.Conn
	dec   *gob.Decoder
	enc   *gob.Encoder
	flush func() error
	write sync.Mutex
}

func serve(raw net.Conn, o options, stores map[string]*store, cache map[string]*snapshots) error {
	defer raw.Close()
	c := &conn{opts: o, raw: raw, dec: gob.NewDecoder(raw), enc: gob.NewEncoder(raw), flush: func() error { return nil }}
	hello, err := c.readHello()
	if err != nil {
		return err
	}
	syncer := hello.SyncerType
	if syncer == "" {
		syncer = "felix"
	}
	data, known := stores[syncer]
	if !known {
		return fmt.Errorf("unknown syncer type %q", syncer)
	}
	answer := syncer
	if o.answerType != "" {
		answer = o.answerType
	}
	if err := c.send(syncproto.MsgServerHello{
		Version: "test", SyncerType: answer, SupportsNodeResourceUpdates: !o.noNodeUpdates, ServerConnID: rand.Uint64(),
	}); err != nil {
		return err
	}
	at, err := c.sendSnapshot(hello, data, cache[syncer])
	if err != nil {
		return err
	}
	return c.stream(at)
}

func (c *conn) readHello() (syncproto.MsgClientHello, error) {
	_ = c.raw.SetReadDeadline(time.Now().Add(10 * time.Second))
	msg, err := c.receive()
	hello, ok := msg.(syncproto.MsgClientHello)
	if err == nil && !ok {
		err = fmt.Errorf("first message was %T", msg)
	}
	return hello, err
}

func (c *conn) sendSnapshot(hello syncproto.MsgClientHello, data *store, cache *snapshots) (*crumb, error) {
	if !hello.SupportsDecoderRestart || !slices.Contains(hello.SupportedCompressionAlgorithms, "snappy") {
		kvs, at := data.snapshot()
		for part := range slices.Chunk(kvs, maxMessageKVs) {
			if err := c.send(syncproto.MsgKVs{KVs: part}); err != nil {
				return nil, err
			}
		}
		return at, nil
	}
	if err := c.restart("enable compression: snappy;send binary snapshot"); err != nil {
		return nil, err
	}
	snap, err := cache.get()
	if err != nil {
		return nil, err
	}
	if _, err := c.raw.Write(snap.bytes); err != nil {
		return nil, err
	}
	if err := c.awaitACK(); err != nil {
		return nil, err
	}
	buffered := bufio.NewWriter(c.raw)
	packed := snappy.NewBufferedWriter(buffered)
	c.enc = gob.NewEncoder(packed)
	c.flush = func() error { return errors.Join(packed.Flush(), buffered.Flush()) }
	return snap.at, nil
}

func (c *conn) restart(why string) error {
	if err := c.send(syncproto.MsgDecoderRestart{Message: why, CompressionAlgorithm: "snappy"}); err != nil {
		return err
	}
	return c.awaitACK()
}

func (c *conn) awaitACK() error {
	_ = c.raw.SetReadDeadline(time.Now().Add(ackTimeout))
	msg, err := c.receive()
	if err != nil {
		return err
	}
	if _, ok := msg.(syncproto.MsgACK); !ok {
		return fmt.Errorf("expected MsgACK, got %T", msg)
	}
	return nil
}

// stream sends what comes after a crumb until something breaks. Crumbs that have piled up go out in one message.
func (c *conn) stream(at *crumb) error {
	failed := make(chan error, 2)
	stop := make(chan struct{})
	defer close(stop)
	go func() { failed <- c.readPongs() }()
	go func() { failed <- c.ping(stop) }()
	status := uint8(0)
	if at.status != status {
		status = at.status
		if err := c.send(syncproto.MsgSyncStatus{SyncStatus: status}); err != nil {
			return err
		}
	}
	for {
		select {
		case err := <-failed:
			return err
		case <-at.more:
		}
		var deltas []syncproto.SerializedUpdate
		for at.next != nil && len(deltas) < maxMessageKVs {
			at = at.next
			deltas = append(deltas, at.deltas...)
			if !isReady(at.more) {
				break
			}
		}
		if len(deltas) > 0 {
			if err := c.send(syncproto.MsgKVs{KVs: deltas}); err != nil {
				return err
			}
		}
		if at.status != status {
			status = at.status
			if err := c.send(syncproto.MsgSyncStatus{SyncStatus: status}); err != nil {
				return err
			}
		}
	}
}

func isReady(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *conn) readPongs() error {
	_ = c.raw.SetReadDeadline(time.Time{})
	for {
		msg, err := c.receive()
		if err != nil {
			return err
		}
		if _, ok := msg.(syncproto.MsgPong); !ok {
			return fmt.Errorf("expected MsgPong, got %T", msg)
		}
	}
}

func (c *conn) ping(stop <-chan struct{}) error {
	tick := time.NewTicker(c.opts.pingInterval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return nil
		case <-tick.C:
			if err := c.send(syncproto.MsgPing{Timestamp: time.Now()}); err != nil {
				return err
			}
		}
	}
}

func (c *conn) send(msg any) error {
	c.write.Lock()
	defer c.write.Unlock()
	if err := c.enc.Encode(syncproto.Envelope{Message: msg}); err != nil {
		return err
	}
	return c.flush()
}

func (c *conn) receive() (any, error) {
	var env syncproto.Envelope
	if err := c.dec.Decode(&env); err != nil {
		return nil, err
	}
	if env.Message == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return env.Message, nil
}
