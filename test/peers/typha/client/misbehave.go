package main

import (
	"crypto/rand"
	"fmt"
	"time"

	"cattail/peers/typha/syncproto"
)

// open sends the hello, or what the flags want in its place.
func (c *session) open() error {
	switch {
	case c.opts.noHello:
		return nil
	case c.opts.garbage > 0:
		return c.sendGarbage(c.opts.garbage)
	case c.opts.badType:
		return c.misbehave("42")
	case c.opts.nilMessage:
		return c.misbehave("nil")
	case c.opts.firstMessage != "":
		return c.misbehave(c.opts.firstMessage)
	}
	if err := c.send(c.greeting()); err != nil {
		return fmt.Errorf("cannot send the hello: %w", err)
	}
	return nil
}

// misbehave sends a message that does not belong where it is sent.
func (c *session) misbehave(what string) error {
	switch what {
	case "":
		return nil
	case "hello":
		return c.send(c.greeting())
	case "ack":
		return c.send(syncproto.MsgACK{})
	case "pong":
		return c.send(syncproto.MsgPong{PingTimestamp: time.Now()})
	case "kvs":
		return c.send(syncproto.MsgKVs{KVs: []syncproto.SerializedUpdate{{Key: "/calico/v1/x", Value: []byte("x"), UpdateType: 1}}})
	case "42":
		return c.send(42)
	case "nil":
		return c.send(nil)
	case "garbage":
		return c.sendGarbage(100)
	}
	return fmt.Errorf("there is no message %q to send", what)
}

func (c *session) sendGarbage(n int) error {
	junk := make([]byte, n)
	if _, err := rand.Read(junk); err != nil {
		return err
	}
	if n > 0 {
		junk[0] = 0x80 // a length of 128 bytes, which nobody takes; another might be a long message that is still to come
	}
	_, err := c.conn.Write(junk)
	return err
}

// stall stops reading, once, until a line on standard input says to read on, or for as long as the client may live.
func (c *session) stall(at string) {
	if c.opts.stallAt != at || c.stalled {
		return
	}
	c.stalled = true
	var over <-chan time.Time
	if end := c.end(); !end.IsZero() {
		over = time.After(time.Until(end))
	}
	select {
	case <-c.told.readOn:
	case <-c.told.stop:
	case <-over:
	}
}
