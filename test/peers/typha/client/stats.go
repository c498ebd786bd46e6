package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"cattail/peers/typha/syncproto"
)

// stats counts for all clients of the process.
type stats struct {
	mu        sync.Mutex
	started   time.Time
	opts      options
	connected int
	inSync    int
	messages  int64
	kvCount   int64
	deletions int64
	bytes     int64
	backwards int64
	fresh     int64
	errors    map[string]int
	inSyncMs  []float64
	latencyMs []float64
	states    map[string]int
}

// Fields of a value, as JSON has them: when it was sent (Unix nanoseconds), for latencies, and a number that must never
// fall for one key (with --digest).
var stamp, sequence = []byte(`"sentNanos":`), []byte(`"seq":`)

// No run needs more latencies than this for its percentiles; later ones replace none.
const maxLatencies = 4_000_000

func newStats(o options) *stats {
	return &stats{started: time.Now(), opts: o, errors: map[string]int{}, states: map[string]int{}}
}

// statsSink is one client's view; it adds to the shared counts once per message.
type statsSink struct {
	all      *stats
	started  time.Time
	isInSync bool
	state    map[string][]byte
	last     map[string]int64
	known    map[string]struct{}
	buffer   []float64
}

func (s *stats) newSink() *statsSink {
	sink := &statsSink{all: s, started: time.Now()}
	if s.opts.digest {
		sink.state, sink.last = map[string][]byte{}, map[string]int64{}
	}
	if s.opts.knowKeys {
		sink.known = map[string]struct{}{}
	}
	return sink
}

func (s *statsSink) hello(syncproto.MsgServerHello)             { s.all.add(func(a *stats) { a.connected++ }) }
func (s *statsSink) restart(syncproto.MsgDecoderRestart, int64) {}

func (s *statsSink) status(status uint8) {
	if status != syncproto.StatusInSync || s.isInSync {
		return
	}
	s.isInSync = true
	ms := millis(time.Since(s.started))
	s.all.add(func(a *stats) { a.inSync++; a.inSyncMs = append(a.inSyncMs, ms) })
}

func (s *statsSink) kvs(kvs []syncproto.SerializedUpdate) {
	now := time.Now().UnixNano()
	s.buffer = s.buffer[:0]
	deletions, backwards, fresh := int64(0), int64(0), int64(0)
	for _, kv := range kvs {
		if len(kv.Value) == 0 {
			deletions++
		} else if s.isInSync {
			if sent := number(kv.Value, stamp); sent > 0 {
				s.buffer = append(s.buffer, float64(now-sent)/1e6)
			}
		}
		if s.known != nil && s.isNew(kv) {
			fresh++
		}
		if s.state != nil && s.keep(kv) {
			backwards++
		}
	}
	s.all.add(func(a *stats) {
		a.messages++
		a.kvCount += int64(len(kvs))
		a.deletions += deletions
		a.backwards += backwards
		a.fresh += fresh
		if room := maxLatencies - len(a.latencyMs); room > 0 {
			a.latencyMs = append(a.latencyMs, s.buffer[:min(room, len(s.buffer))]...)
		}
	})
}

// isNew knows every key that was told, as a client must that tells new keys from changed ones and, after a reconnection,
// which are gone.
func (s *statsSink) isNew(kv syncproto.SerializedUpdate) bool {
	if len(kv.Value) == 0 {
		delete(s.known, kv.Key)
		return false
	}
	before := len(s.known)
	s.known[kv.Key] = struct{}{}
	return len(s.known) > before
}

// keep notes the key's state and answers whether its sequence number fell.
func (s *statsSink) keep(kv syncproto.SerializedUpdate) bool {
	if len(kv.Value) == 0 {
		delete(s.state, kv.Key)
		return false
	}
	s.state[kv.Key] = kv.Value
	seq := number(kv.Value, sequence)
	fell := seq >= 0 && seq < s.last[kv.Key]
	if seq >= 0 {
		s.last[kv.Key] = seq
	}
	return fell
}

func (s *statsSink) end(bytesRead int64, err error) {
	digest := ""
	if s.state != nil {
		digest = digestOf(s.state)
	}
	s.all.add(func(a *stats) {
		a.bytes += bytesRead
		if err != nil {
			a.errors[err.Error()]++
		}
		if digest != "" {
			a.states[digest]++
		}
	})
}

func (s *stats) add(change func(*stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// counts is what is said while the clients run: sorting the latencies would hold them up, and be part of what they measure.
func (s *stats) counts() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{"stats": s.counted()}
}

func (s *stats) summary() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.counted()
	all["inSyncMs"], all["latencyMs"] = percentiles(s.inSyncMs), percentiles(s.latencyMs)
	return map[string]any{"stats": all}
}

func (s *stats) counted() map[string]any {
	return map[string]any{
		"clients": s.opts.clients, "connected": s.connected, "inSync": s.inSync, "seconds": time.Since(s.started).Seconds(),
		"messages": s.messages, "kvs": s.kvCount, "deletions": s.deletions, "bytes": s.bytes,
		"backwards": s.backwards, "fresh": s.fresh, "errors": maps.Clone(s.errors), "states": maps.Clone(s.states), "cpuMs": cpuMs(),
	}
}

func percentiles(values []float64) map[string]float64 {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	at := func(p float64) float64 { return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))] }
	return map[string]float64{"count": float64(len(sorted)), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": sorted[len(sorted)-1]}
}

// number reads the digits behind a JSON field name, or answers -1. Parsing the JSON would be most of the client's work.
func number(value, field []byte) int64 {
	_, rest, found := bytes.Cut(value, field)
	if !found {
		return -1
	}
	rest = bytes.TrimPrefix(rest, []byte{'"'}) // a label's value is a string
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// digestOf names a state: the hash of "key\0value\0" in the order of keys.
func digestOf(state map[string][]byte) string {
	keys := make([]string, 0, len(state))
	for key := range state {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	hash := sha256.New()
	for _, key := range keys {
		hash.Write([]byte(key + "\x00"))
		hash.Write(state[key])
		hash.Write([]byte{0})
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// cpuMs is what the whole process has used so far.
func cpuMs() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
