package main

import (
	"crypto/rand"
	"fmt"
	"time"
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
		return c.send(MsgACK{})
	case "pong":
		return c.send(MsgPong{PingTimestamp: time.Now()})
	case "kvs":
		return c.send(MsgKVs{KVs: []SerializedUpdate{{Key: "/calico/v1/x", Value: []byte("x"), UpdateType: 1}}})
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
	_, err := c.conn.Write(junk)
	return err
}

// stall stops reading, once, for --stall-for or for as long as the client may live.
func (c *session) stall(at string) error {
	if c.opts.stallAt != at || c.stalled {
		return nil
	}
	c.stalled = true
	wait := c.opts.stallFor
	end := c.end()
	if wait == 0 {
		wait = 24 * time.Hour
		if !end.IsZero() {
			wait = time.Until(end)
		}
	}
	time.Sleep(wait)
	return nil
}
