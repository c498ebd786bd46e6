package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strings"
	"time"

	"cattail/peers/typha/syncproto"
)

// errDone says that what was waited for has come.
var errDone = errors.New("done")

// errClosed says that the server hung up.
var errClosed = errors.New("server closed the connection")

// sink is told what happens on a connection.
type sink interface {
	hello(syncproto.MsgServerHello)
	restart(m syncproto.MsgDecoderRestart, offset int64)
	kvs([]syncproto.SerializedUpdate)
	status(uint8)
}

// session is one client's conversation.
type session struct {
	*transport
	opts    options
	number  int
	sink    sink
	started time.Time
	seenKVs int
	stalled bool
	told    orders
}

func runSession(d *dialer, o options, number int, s sink, told orders) (bytesRead int64, err error) {
	started := time.Now()
	conn, err := d.dial()
	if err != nil {
		return 0, fmt.Errorf("cannot connect: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	defer conn.Close()
	go func() {
		select {
		case <-told.stop:
			conn.Close()
		case <-ended:
		}
	}()
	var r io.Reader = conn
	var w io.Writer = conn
	for _, tap := range []struct {
		path string
		add  func(io.Writer)
	}{
		{o.rawOut, func(f io.Writer) { r = io.TeeReader(r, f) }},
		{o.sentOut, func(f io.Writer) { w = io.MultiWriter(w, f) }},
	} {
		if tap.path == "" {
			continue
		}
		f, err := os.Create(tap.path)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		tap.add(f)
	}
	c := &session{transport: newTransport(conn, r, w, o.readDelay), opts: o, number: number, sink: s, started: started, told: told}
	err = c.talk()
	return c.in.n, err
}

func (c *session) talk() error {
	if err := c.open(); err != nil {
		return err
	}
	c.stall("hello")
	msg, err := c.receive()
	if err != nil {
		return fmt.Errorf("no server hello: %w", err)
	}
	hello, ok := msg.(syncproto.MsgServerHello)
	if !ok {
		return fmt.Errorf("first message was %T, not MsgServerHello", msg)
	}
	c.sink.hello(hello)
	if err := c.checkHello(hello); err != nil {
		return err
	}
	if err := c.misbehave(c.opts.thenMessage); err != nil {
		return err
	}
	for {
		msg, err := c.receive()
		if err == nil {
			err = c.handle(msg)
		}
		if err != nil {
			return err
		}
	}
}

func (c *session) greeting() syncproto.MsgClientHello {
	hello := syncproto.MsgClientHello{
		Hostname:                 strings.ReplaceAll(c.opts.hostname, "%d", fmt.Sprint(c.number)),
		Info:                     c.opts.info,
		Version:                  c.opts.version,
		SyncerType:               c.opts.syncer,
		SupportsDecoderRestart:   !c.opts.noRestart,
		SupportsModernPolicyKeys: !c.opts.legacy,
		ClientConnID:             rand.Uint64(),
	}
	if c.opts.noRestart || c.opts.noCompression {
		return hello
	}
	if c.opts.zstd {
		hello.SupportedCompressionAlgorithms = append(hello.SupportedCompressionAlgorithms, "zstd")
	}
	hello.SupportedCompressionAlgorithms = append(hello.SupportedCompressionAlgorithms, "snappy")
	return hello
}

func (c *session) checkHello(hello syncproto.MsgServerHello) error {
	want := c.opts.syncer
	if want == "" {
		want = "felix"
	}
	if got := hello.SyncerType; got != want && !(got == "" && want == "felix") {
		return fmt.Errorf("asked for syncer %q but the server answered %q", want, got)
	}
	if !hello.SupportsNodeResourceUpdates {
		return errors.New("the server does not support node resource updates")
	}
	return nil
}

func (c *session) handle(msg any) error {
	switch m := msg.(type) {
	case syncproto.MsgKVs:
		c.sink.kvs(m.KVs)
		c.seenKVs += len(m.KVs)
		if c.opts.untilKVs > 0 && c.seenKVs >= c.opts.untilKVs {
			return errDone
		}
		for _, kv := range m.KVs {
			if c.opts.untilKey != "" && kv.Key == c.opts.untilKey {
				return errDone
			}
		}
		c.stall("snapshot")
		return nil
	case syncproto.MsgSyncStatus:
		c.sink.status(m.SyncStatus)
		if m.SyncStatus != syncproto.StatusInSync {
			return nil
		}
		if c.opts.untilInSync {
			return errDone
		}
		c.stall("sync")
		return nil
	case syncproto.MsgPing:
		if c.opts.noPong {
			return nil
		}
		return c.send(syncproto.MsgPong{PingTimestamp: m.Timestamp})
	case syncproto.MsgDecoderRestart:
		if c.opts.noRestart {
			return errors.New("the server restarts the decoder of a client that cannot")
		}
		if m.CompressionAlgorithm != "" && c.opts.noCompression {
			return fmt.Errorf("the server chose %s for a client that listed nothing", m.CompressionAlgorithm)
		}
		c.sink.restart(m, c.in.n)
		if err := c.restart(m.CompressionAlgorithm); err != nil {
			return err
		}
		if c.opts.noACK {
			return nil
		}
		return c.send(syncproto.MsgACK{})
	case syncproto.MsgServerHello:
		return errors.New("the server sent a second hello")
	default:
		return fmt.Errorf("unexpected message %T", msg)
	}
}

// receive reads the next message within what --timeout, --for, --expect-close and --until-in-sync leave of time.
func (c *session) receive() (any, error) {
	deadline := time.Now().Add(c.opts.timeout)
	end := c.end()
	if !end.IsZero() && (end.Before(deadline) || c.opts.expectClose > 0) {
		deadline = end
	}
	if err := c.conn.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	var env syncproto.Envelope
	if err := c.dec.Decode(&env); err != nil {
		var ne net.Error
		switch {
		case errors.As(err, &ne) && ne.Timeout():
			if end.IsZero() || time.Now().Before(end) {
				return nil, fmt.Errorf("server was silent for %v", c.opts.timeout)
			}
			if c.opts.untilInSync || c.opts.untilKVs > 0 || c.opts.expectClose > 0 {
				return nil, errors.New("gave up: what was waited for did not come in time")
			}
			return nil, errDone
		case isHangUp(err):
			return nil, errClosed
		default:
			return nil, fmt.Errorf("cannot decode the message at raw offset %d: %w", c.in.n, err)
		}
	}
	if env.Message == nil {
		return nil, errors.New("the server sent an empty envelope")
	}
	return env.Message, nil
}

func (c *session) end() time.Time {
	switch {
	case c.opts.expectClose > 0:
		return c.started.Add(c.opts.expectClose)
	case c.opts.duration > 0:
		return c.started.Add(c.opts.duration)
	case c.opts.untilInSync || c.opts.untilKVs > 0:
		return c.started.Add(c.opts.timeout)
	}
	return time.Time{}
}

func isHangUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "connection reset") || strings.Contains(err.Error(), "broken pipe")
}
