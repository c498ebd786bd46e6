// The messages of Calico's Typha and recorded streams of them. The streams, in typha.json, were written by Go encoders
// of several ages and by hand; the definitions in "preamble" come first where a name starts with preamble-.
package main

import (
	_ "embed"
	"encoding/json"
	"slices"
	"time"
)

type MsgClientHello struct {
	Hostname, Info, Version, SyncerType string
	SupportsDecoderRestart              bool
	SupportedCompressionAlgorithms      []Compression
	SupportsModernPolicyKeys            bool
	ClientConnID                        uint64
}
type MsgServerHello struct {
	Version, SyncerType         string
	SupportsNodeResourceUpdates bool
	ServerConnID                uint64
}
type MsgDecoderRestart struct {
	Message              string
	CompressionAlgorithm Compression
}
type MsgACK struct{}
type MsgSyncStatus struct{ SyncStatus uint8 }
type MsgPing struct{ Timestamp time.Time }
type MsgPong struct{ PingTimestamp, PongTimestamp time.Time }
type MsgKVs struct{ KVs []SerializedUpdate }
type SerializedUpdate struct {
	Key               string
	Value             []byte
	Revision          any
	V3ResourceVersion string
	TTL               time.Duration
	UpdateType        uint8
}

func init() {
	const prefix = "github.com/projectcalico/typha/pkg/syncproto."
	register(prefix+"MsgClientHello", MsgClientHello{})
	register(prefix+"MsgServerHello", MsgServerHello{})
	register(prefix+"MsgDecoderRestart", MsgDecoderRestart{})
	register(prefix+"MsgACK", MsgACK{})
	register(prefix+"MsgSyncStatus", MsgSyncStatus{})
	register(prefix+"MsgPing", MsgPing{})
	register(prefix+"MsgPong", MsgPong{})
	register(prefix+"MsgKVs", MsgKVs{})
}

//go:embed typha.json
var typhaStreams []byte

func (m *maker) typha() {
	var streams map[string]struct{ Hex string }
	if err := json.Unmarshal(typhaStreams, &streams); err != nil {
		panic(err)
	}
	names := make([]string, 0, len(streams))
	for name := range streams {
		names = append(names, name)
	}
	slices.Sort(names)
	preamble := streams["preamble"].Hex
	for _, name := range names {
		stream := streams[name].Hex
		if name == "preamble-status" || name == "preamble-kvs" {
			stream = preamble + stream
		}
		m.raw("typha: "+name, "Envelope", stream)
	}
	m.raw("typha: preamble, then messages without definitions", "Envelope",
		preamble+streams["preamble-status"].Hex+streams["preamble-kvs"].Hex+streams["preamble-status"].Hex)
}
