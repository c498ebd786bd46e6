package main

import (
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"

	"cattail/peers/typha/syncproto"
)

// transport is one connection's two gob streams. The decoder is replaced at every restart; the encoder never is.
type transport struct {
	conn net.Conn
	in   *countingReader
	enc  *gob.Encoder
	dec  *gob.Decoder
}

func newTransport(conn net.Conn, r io.Reader, w io.Writer, readDelay time.Duration) *transport {
	in := &countingReader{r: r, delay: readDelay}
	return &transport{conn: conn, in: in, enc: gob.NewEncoder(w), dec: gob.NewDecoder(in)}
}

func (t *transport) send(msg any) error {
	if err := t.conn.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	return t.enc.Encode(syncproto.Envelope{Message: msg})
}

// restart begins a new stream directly on the socket: what the old decoder had read ahead is lost, which is why the
// server may send nothing before the acknowledgement.
func (t *transport) restart(algorithm string) error {
	switch algorithm {
	case "":
		t.dec = gob.NewDecoder(t.in)
	case "snappy":
		t.dec = gob.NewDecoder(snappy.NewReader(t.in))
	case "zstd":
		r, err := zstd.NewReader(t.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		t.dec = gob.NewDecoder(r)
	default:
		return fmt.Errorf("server chose unknown compression %q", algorithm)
	}
	return nil
}

// countingReader counts bytes and, for a slow client, waits before each read.
type countingReader struct {
	r     io.Reader
	n     int64
	delay time.Duration
}

func (c *countingReader) Read(p []byte) (int, error) {
	if c.delay > 0 {
		time.Sleep(c.delay)
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
