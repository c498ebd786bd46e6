// The Go types that vectors, fuzz cases and the speed comparison are made of, by name. test/kit/gob-types.ts holds the
// same list as schemas; the order is the protocol between the two, so new types go to the end.
package main

import (
	"encoding/gob"
	"errors"
	"reflect"
	"time"
)

type Point struct{ X, Y int }

// PointMore is Point as a later program might have it: other order, more fields.
type PointMore struct {
	Name string
	Y, X int
	Tags map[string][]string
	Any  any
	At   time.Time
}

type Scalars struct {
	Bool bool
	I    int
	I8   int8
	I16  int16
	I32  int32
	I64  int64
	U    uint
	U8   uint8
	U16  uint16
	U32  uint32
	U64  uint64
	Ptr  uintptr
	F32  float32
	F64  float64
	C64  complex64
	C128 complex128
	S    string
	B    []byte
}

// Letters has fields of every kind under one-letter names, as generated streams do.
type Letters struct {
	A int
	B string
	C []string
	D map[string]int
	E Point
	F []Point
	G any
	H [3]uint
	I *Point
	J *int
}

// LettersToo has other types under the same names.
type LettersToo struct {
	A uint8
	B []byte
	C [2]int8
	D map[int]string
	E *Letters
	F map[string]Point
	G bool
	H float32
	I []any
	J time.Time
}

type Outer struct {
	P  Point
	PP *Point
	S  []Point
	SP []*Point
	M  map[string]Point
	MP map[string]*Point
	A  [2]Point
	N  [][]int
}

type List struct {
	Value int
	Next  *List
}

type Tree struct {
	Name     string
	Children []Tree
}

type Graph struct {
	Name  string
	Edges map[string]*Graph
	Twin  *Graph
}

type Nested []Nested
type NestedMap map[string]NestedMap

type Empty struct{}

type Holder struct{ V any }
type Holders struct {
	Name string
	V    []any
	M    map[string]any
	Last any
}

type Event struct {
	Name string
	At   time.Time
	Old  *time.Time
	All  []time.Time
}

// Blob encodes itself as a GobEncoder. It refuses bytes that start with ff, so that refusals are compared too.
type Blob struct{ data string }

func (b Blob) GobEncode() ([]byte, error) { return []byte(b.data), nil }
func (b *Blob) GobDecode(data []byte) error {
	if len(data) > 0 && data[0] == 0xff {
		return errors.New("ff")
	}
	b.data = string(data)
	return nil
}

// Packed encodes itself as a BinaryMarshaler.
type Packed struct{ data string }

func (p Packed) MarshalBinary() ([]byte, error) { return []byte(p.data), nil }
func (p *Packed) UnmarshalBinary(data []byte) error {
	p.data = string(data)
	return nil
}

type Opaques struct {
	B  Blob
	P  Packed
	BP *Blob
	L  []Blob
	M  map[string]Packed
	T  time.Time
}

type PairKey struct {
	Name string
	N    int
}

type Maps struct {
	SI map[string]int
	IS map[int]string
	BU map[bool]uint8
	KS map[PairKey]string
	AB map[[2]int8]bool
	MM map[string]map[string]int
	PM *map[string]int
}

// The messages of a real protocol: an envelope with an interface, updates with an interface inside.
type Envelope struct{ Message any }
type Hello struct {
	Hostname     string
	SyncerType   string
	Restart      bool
	Compressions []Compression
	ConnID       uint64
}
type Compression string
type Ack struct{}
type Status struct{ Status uint8 }
type Ping struct{ Timestamp time.Time }
type Updates struct{ KVs []Update }
type Update struct {
	Key             string
	Value           []byte
	Revision        any
	ResourceVersion string
	TTL             time.Duration
	Type            uint8
}

var registered = map[reflect.Type]string{}

func register(name string, value any) {
	gob.RegisterName(name, value)
	registered[reflect.TypeOf(value)] = name
}

func init() {
	register("example.com/msg.Hello", Hello{})
	register("example.com/msg.Ack", Ack{})
	register("example.com/msg.Status", Status{})
	register("example.com/msg.Ping", Ping{})
	register("example.com/msg.Updates", Updates{})
	register("Point", Point{})
	register("Letters", Letters{})
	register("Holder", Holder{})
	register("Blob", Blob{})
	register("Packed", Packed{})
	register("time.Time", time.Time{})
	register("Tree", Tree{})
	register("strings", map[string]string{})
	register("anys", []any{})
	for _, basic := range []any{
		false, "", int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0),
		uintptr(0), float32(0), float64(0), complex64(0), complex128(0), []byte(nil), []bool(nil), []string(nil),
		[]int(nil), []int8(nil), []int16(nil), []int32(nil), []int64(nil), []uint(nil), []uint16(nil), []uint32(nil),
		[]uint64(nil), []uintptr(nil), []float32(nil), []float64(nil), []complex64(nil), []complex128(nil),
	} {
		registered[reflect.TypeOf(basic)] = reflect.TypeOf(basic).String()
	}
}

type named struct {
	name string
	typ  reflect.Type
}

func of[T any](name string) named { return named{name, reflect.TypeFor[T]()} }

var allTypes = []named{
	of[bool]("bool"), of[int]("int"), of[int8]("int8"), of[int16]("int16"), of[int32]("int32"), of[int64]("int64"),
	of[uint]("uint"), of[uint8]("uint8"), of[uint16]("uint16"), of[uint32]("uint32"), of[uint64]("uint64"),
	of[float32]("float32"), of[float64]("float64"), of[complex64]("complex64"), of[complex128]("complex128"),
	of[string]("string"), of[[]byte]("bytes"),
	of[[]int]("[]int"), of[[]string]("[]string"), of[[]bool]("[]bool"), of[[]float64]("[]float64"),
	of[[][]byte]("[][]byte"), of[[3]int]("[3]int"), of[[2][2]uint8]("[2][2]uint8"), of[[]any]("[]any"),
	of[map[string]int]("map[string]int"), of[map[int]string]("map[int]string"),
	of[map[string][]string]("map[string][]string"), of[map[string]Point]("map[string]Point"),
	of[map[PairKey]string]("map[PairKey]string"), of[map[string]any]("map[string]any"),
	of[Point]("Point"), of[PointMore]("PointMore"), of[Scalars]("Scalars"), of[Letters]("Letters"),
	of[LettersToo]("LettersToo"), of[Outer]("Outer"), of[List]("List"), of[Tree]("Tree"), of[Graph]("Graph"),
	of[Nested]("Nested"), of[NestedMap]("NestedMap"), of[Empty]("Empty"), of[Holder]("Holder"), of[Holders]("Holders"),
	of[Event]("Event"), of[Opaques]("Opaques"), of[Maps]("Maps"), of[Envelope]("Envelope"), of[Updates]("Updates"),
	of[time.Time]("time.Time"), of[Blob]("Blob"), of[Packed]("Packed"), of[*Point]("*Point"), of[[]Point]("[]Point"),
	of[[]time.Time]("[]time.Time"), of[[]complex128]("[]complex128"), of[[2]string]("[2]string"),
	of[map[any]int]("map[any]int"), of[any]("any"),
}

func typeNamed(name string) reflect.Type {
	for _, t := range allTypes {
		if t.name == name {
			return t.typ
		}
	}
	panic("no type " + name)
}
