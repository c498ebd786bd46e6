// Go's side of bench/gob: encodes and decodes the same message on long-lived streams and prints nanoseconds per message.
package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

const benchUpdates, benchValueBytes = 100, 700

func benchMessage() Envelope {
	kvs := make([]Update, benchUpdates)
	for i := range kvs {
		value := bytes.Repeat([]byte("0123456789"), benchValueBytes/10)
		kvs[i] = Update{
			Key:             fmt.Sprintf("/calico/v1/host/node-%05d/workload/kubernetes/default%%2fpod-%05d/endpoint/eth0", i, i),
			Value:           value,
			Revision:        fmt.Sprint(1000000 + i),
			ResourceVersion: fmt.Sprint(1000000 + i),
			Type:            1,
		}
	}
	return Envelope{Updates{kvs}}
}

func bench(milliseconds int) error {
	message := benchMessage()
	var stream bytes.Buffer
	enc := gob.NewEncoder(&stream)
	if err := enc.Encode(message); err != nil {
		return err
	}
	first := bytes.Clone(stream.Bytes())
	stream.Reset()
	if err := enc.Encode(message); err != nil {
		return err
	}
	later := bytes.Clone(stream.Bytes())

	budget := time.Duration(milliseconds) * time.Millisecond
	encodeNs := perCall(budget, func() {
		stream.Reset()
		if err := enc.Encode(message); err != nil {
			panic(err)
		}
	})
	source := &repeated{rest: first, again: later}
	dec := gob.NewDecoder(source)
	decodeNs := perCall(budget, func() {
		var got Envelope
		if err := dec.Decode(&got); err != nil {
			panic(err)
		}
	})
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"encodeNs": encodeNs, "decodeNs": decodeNs, "messageBytes": float64(len(later)),
	})
}

func perCall(budget time.Duration, work func()) float64 {
	for range 20 {
		work()
	}
	calls := 0
	start := time.Now()
	for time.Since(start) < budget {
		for range 10 {
			work()
		}
		calls += 10
	}
	return float64(time.Since(start).Nanoseconds()) / float64(calls)
}

// repeated is a stream whose first message carries the definitions and which then goes on for ever.
type repeated struct{ rest, again []byte }

func (s *repeated) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		s.rest = s.again
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *repeated) ReadByte() (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(s, one[:])
	return one[0], err
}
