package main

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"cattail/peers/typha/syncproto"
)

// crumb is one step of the chain that clients follow: the changes of this step and the status after it. A client holds
// the crumb it has sent and waits for the next.
type crumb struct {
	number uint64
	deltas []syncproto.SerializedUpdate
	status uint8
	// more is closed when next is set.
	more chan struct{}
	next *crumb
}

// store is the current state and the end of the chain.
type store struct {
	mu     sync.Mutex
	state  map[string]syncproto.SerializedUpdate
	latest *crumb
}

func newStore() *store {
	return &store{state: map[string]syncproto.SerializedUpdate{}, latest: &crumb{more: make(chan struct{})}}
}

// apply records a batch and wakes everyone who waits.
func (s *store) apply(updates []syncproto.SerializedUpdate, status *uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, update := range updates {
		if len(update.Value) == 0 && update.UpdateType == updateDeleted {
			delete(s.state, update.Key)
		} else {
			s.state[update.Key] = update
		}
	}
	next := &crumb{number: s.latest.number + 1, deltas: updates, status: s.latest.status, more: make(chan struct{})}
	if status != nil {
		next.status = *status
	}
	s.latest.next = next
	close(s.latest.more)
	s.latest = next
}

// snapshot answers all key/values in the order of keys, as new, and the crumb they belong to.
func (s *store) snapshot() ([]syncproto.SerializedUpdate, *crumb) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.state))
	at := s.latest
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b syncproto.SerializedUpdate) int { return strings.Compare(a.Key, b.Key) })
	for i := range all {
		all[i].UpdateType = updateNew
	}
	return all, at
}
