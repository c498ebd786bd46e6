// Go's side of bench/gob: encodes and decodes the same message on long-lived streams and prints nanoseconds per message.
package main

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"syscall"
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

// perCall says how much processor time a call takes, garbage collection included: the best of many short windows, since
// the machine may be busy with something else.
func perCall(budget time.Duration, work func()) float64 {
	best := math.Inf(1)
	for end := cpuTime() + budget; cpuTime() < end; {
		calls := 0
		start := cpuTime()
		used := time.Duration(0)
		for used < window {
			for range 10 {
				work()
			}
			calls += 10
			used = cpuTime() - start
		}
		best = min(best, float64(used.Nanoseconds())/float64(calls))
	}
	return best
}

const window = 50 * time.Millisecond

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
