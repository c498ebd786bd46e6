package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"cattail/peers/typha/syncproto"
)

// kvLine is one key/value as the client prints it.
type kvLine struct {
	Key      string  `json:"key"`
	Value    *string `json:"value"`
	Revision string  `json:"revision"`
	V3RV     string  `json:"v3rv"`
	TTL      int64   `json:"ttl"`
	Type     uint8   `json:"type"`
}

// inputLine is one step: one key/value or several, a status, or both. Without a syncer it is for all of them.
type inputLine struct {
	Syncer string   `json:"syncer"`
	KV     *kvLine  `json:"kv"`
	KVs    []kvLine `json:"kvs"`
	Status *uint8   `json:"status"`
}

func (l kvLine) update() syncproto.SerializedUpdate {
	u := syncproto.SerializedUpdate{
		Key: l.Key, Revision: l.Revision, V3ResourceVersion: l.V3RV, TTL: time.Duration(l.TTL), UpdateType: l.Type,
	}
	if l.Value != nil {
		u.Value = []byte(*l.Value)
	}
	return u
}

func applyLines(r io.Reader, stores map[string]*store) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var line inputLine
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return fmt.Errorf("bad line: %w", err)
		}
		if line.KV != nil {
			line.KVs = append(line.KVs, *line.KV)
		}
		var updates []syncproto.SerializedUpdate
		for _, kv := range line.KVs {
			updates = append(updates, kv.update())
		}
		for syncer, data := range stores {
			if line.Syncer == "" || line.Syncer == syncer {
				data.apply(updates, line.Status)
			}
		}
	}
	return scanner.Err()
}

// generated key/values look like workload endpoints: a long key, and JSON that compresses as JSON does.
func generated(spec string) ([]syncproto.SerializedUpdate, error) {
	var count, size int
	if _, err := fmt.Sscanf(spec, "%dx%d", &count, &size); err != nil {
		return nil, fmt.Errorf("--generate %q is not NxB", spec)
	}
	var all []syncproto.SerializedUpdate
	for i := range count {
		value := fmt.Sprintf(`{"state":"active","name":"cali%08x","mac":"ee:ee:ee:ee:ee:ee","ipv4_nets":["10.%d.%d.%d/32"],"labels":{`,
			i*2654435761, i>>16&255, i>>8&255, i&255)
		for n := 0; len(value) < size-40; n++ {
			value += fmt.Sprintf(`"label-%d":"value-%d",`, n, (i*7919+n*104729)%100000)
		}
		value += `"pad":"` + strings.Repeat("x", max(0, size-len(value)-10)) + `"}}`
		all = append(all, syncproto.SerializedUpdate{
			Key:      fmt.Sprintf("/calico/v1/host/node-%04d/workload/k8s/default%%2fpod-%d/endpoint/eth0", i%1000, i),
			Value:    []byte(value),
			Revision: fmt.Sprint(1000 + i), UpdateType: updateNew,
		})
	}
	return all, nil
}
