// Package syncproto holds the types of the protocol. gob matches fields by name and kind, so the field names are the
// protocol; the names of the types, and of this package, only show up as text inside type definitions.
package syncproto

import (
	"encoding/gob"
	"time"
)

// Envelope wraps every message in both directions.
type Envelope struct {
	Message any
}

// MsgClientHello opens the conversation.
type MsgClientHello struct {
	Hostname                       string
	Info                           string
	Version                        string
	SyncerType                     string
	SupportsDecoderRestart         bool
	SupportedCompressionAlgorithms []string
	SupportsModernPolicyKeys       bool
	ClientConnID                   uint64
}

// MsgServerHello answers it.
type MsgServerHello struct {
	Version                     string
	SyncerType                  string
	SupportsNodeResourceUpdates bool
	ServerConnID                uint64
}

// MsgDecoderRestart says that a new stream follows once the client has acknowledged.
type MsgDecoderRestart struct {
	Message              string
	CompressionAlgorithm string
}

// MsgACK acknowledges a restart.
type MsgACK struct{}

// MsgSyncStatus: 0 waiting, 1 resync in progress, 2 in sync.
type MsgSyncStatus struct {
	SyncStatus uint8
}

// MsgPing must be answered with a MsgPong.
type MsgPing struct {
	Timestamp time.Time
}

// MsgPong answers a ping. Real clients leave PongTimestamp unset.
type MsgPong struct {
	PingTimestamp time.Time
	PongTimestamp time.Time
}

// MsgKVs carries key/value updates.
type MsgKVs struct {
	KVs []SerializedUpdate
}

// SerializedUpdate is one of them. No value means that the key is gone.
type SerializedUpdate struct {
	Key               string
	Value             []byte
	Revision          any
	V3ResourceVersion string
	TTL               time.Duration
	UpdateType        uint8
}

const (
	StatusInSync = 2
	namePrefix   = "github.com/projectcalico/typha/pkg/syncproto."
)

func init() {
	gob.RegisterName(namePrefix+"MsgClientHello", MsgClientHello{})
	gob.RegisterName(namePrefix+"MsgServerHello", MsgServerHello{})
	gob.RegisterName(namePrefix+"MsgDecoderRestart", MsgDecoderRestart{})
	gob.RegisterName(namePrefix+"MsgACK", MsgACK{})
	gob.RegisterName(namePrefix+"MsgSyncStatus", MsgSyncStatus{})
	gob.RegisterName(namePrefix+"MsgPing", MsgPing{})
	gob.RegisterName(namePrefix+"MsgPong", MsgPong{})
	gob.RegisterName(namePrefix+"MsgKVs", MsgKVs{})
}
