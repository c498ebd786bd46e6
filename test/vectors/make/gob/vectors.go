// The vectors: streams that Go wrote or that were put together by hand, each with what Go's decoder makes of it.
package main

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"time"
)

type vector struct {
	Name string `json:"name"`
	// Sent is the type that was encoded, Into the one it is decoded into.
	Sent   string   `json:"sent,omitempty"`
	Into   string   `json:"into"`
	Hex    string   `json:"hex"`
	Values []string `json:"values"`
	Ends   string   `json:"ends"`
	// Unordered streams hold maps of several keys, which Go writes in another order each time.
	Unordered bool `json:"unordered,omitempty"`
}

type maker struct {
	list []vector
	seen map[string]bool
}

func vectors(out io.Writer) error {
	m := &maker{seen: map[string]bool{}}
	m.scalars()
	m.composites()
	m.structs()
	m.interfaces()
	m.opaques()
	m.evolution()
	m.byHand()
	m.typha()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(m.list)
}

// add encodes values of one type as one stream, to be decoded into the same type.
func (m *maker) add(name string, values ...any) {
	m.into(name, nameOf(reflect.TypeOf(values[0])), values...)
}

// into encodes values of one type as one stream, to be decoded into another.
func (m *maker) into(name, into string, values ...any) {
	var stream bytes.Buffer
	enc := gob.NewEncoder(&stream)
	for _, value := range values {
		if err := enc.Encode(value); err != nil {
			panic(fmt.Sprint(name, ": ", err))
		}
	}
	m.record(vector{Name: name, Sent: reflect.TypeOf(values[0]).String(), Into: into,
		Hex: hex.EncodeToString(stream.Bytes()), Unordered: strings.Contains(name, "several keys")})
}

// raw is a stream put together by hand.
func (m *maker) raw(name, into, bytes string) {
	m.record(vector{Name: name, Into: into, Hex: strings.ReplaceAll(bytes, " ", "")})
}

func (m *maker) record(v vector) {
	if m.seen[v.Name] {
		panic("two vectors named " + v.Name)
	}
	m.seen[v.Name] = true
	status, text := judge(typeNamed(v.Into), mustHex(v.Hex), false)
	v.Ends = [...]string{"end", "error", "ambiguous", "panic"}[status]
	v.Values = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(text) == 0 {
		v.Values = []string{}
	}
	m.list = append(m.list, v)
}

func nameOf(typ reflect.Type) string {
	for _, t := range allTypes {
		if t.typ == typ {
			return t.name
		}
	}
	panic("no name for " + typ.String())
}

func (m *maker) scalars() {
	m.add("bool: false", false)
	m.add("bool: true", true)
	for _, n := range []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, -128, -129, 255, 256, 65535, 65536, 1 << 24, 1 << 31,
		-(1 << 31), 1 << 32, 1 << 40, 1 << 48, 1<<52 - 1, 1 << 52, 1<<53 - 1, -(1<<53 - 1), 1 << 53, math.MaxInt64,
		math.MinInt64} {
		m.add(fmt.Sprintf("int64: %d", n), n)
	}
	m.add("int: 42", 42)
	for _, n := range []uint64{0, 1, 127, 128, 255, 256, 65535, 65536, 1<<24 - 1, 1 << 24, 1<<32 - 1, 1 << 32, 1 << 40,
		1 << 48, 1<<53 - 1, 1 << 53, 1 << 56, 1 << 63, math.MaxUint64} {
		m.add(fmt.Sprintf("uint64: %d", n), n)
	}
	m.add("int8: both ends", int8(-128), int8(127))
	m.add("int16: both ends", int16(-32768), int16(32767))
	m.add("int32: both ends", int32(math.MinInt32), int32(math.MaxInt32))
	m.add("uint8: the top", uint8(255))
	m.add("uint16: the top", uint16(65535))
	m.add("uint32: the top", uint32(math.MaxUint32))
	m.add("uint: something", uint(300))
	for _, f := range []float64{0, 1, -1, 17, 0.1, -2.5, 1e300, 5e-324, math.MaxFloat64, math.Pi, math.Inf(1),
		math.Inf(-1), math.NaN(), math.Copysign(0, -1), 256, 65536, 1 << 53} {
		m.add(fmt.Sprintf("float64: %v", f), f)
	}
	m.add("float32: some", float32(0), float32(1.5), float32(math.MaxFloat32), float32(math.Inf(-1)), float32(1e-45))
	m.add("complex128: some", complex(0, 0), complex(1.5, -2), complex(0, 1))
	m.add("complex64: some", complex64(complex(3, 4)))
	for _, s := range []string{"", "a", "hello, world", "ünïcödé", "漢字", "😀", "nul\x00inside", "\ufeffmark"} {
		m.add(fmt.Sprintf("string: %q", s), s)
	}
	m.add("string: 127 bytes", strings.Repeat("x", 127))
	m.add("string: 128 bytes", strings.Repeat("x", 128))
	m.add("string: 300 bytes, not ASCII", strings.Repeat("é", 150))
	m.add("string: 126 characters of 130 bytes", strings.Repeat("x", 122)+"éééé")
	m.add("string: not UTF-8", "a\xffb\xc3", "\xe6\xbc", "\xf0\x9f\x98z", "\xed\xa0\x80")
	m.add("bytes: empty and some", []byte{}, []byte{0, 1, 255})
	m.add("bytes: 1000", bytes.Repeat([]byte{7}, 1000))
}

func (m *maker) composites() {
	m.add("slice of ints", []int{}, []int{1, -2, 300}, []int{0, 0})
	m.add("slice of strings", []string{"a", "", "b"})
	m.add("slice of bools", []bool{true, false})
	m.add("slice of floats", []float64{0, 1.5})
	m.add("slice of complex numbers", []complex128{1i, 0})
	m.add("slice of byte slices", [][]byte{{1}, nil, {2, 3}})
	m.add("slice of 200 ints", make([]int, 200))
	m.add("slice of structs", []Point{{1, 2}, {}, {0, 3}})
	m.add("slice of times", []time.Time{{}, time.Unix(1700000000, 5).UTC()})
	m.add("array of ints", [3]int{1, 0, 3})
	m.add("array of arrays of bytes", [2][2]uint8{{1, 2}, {3, 255}})
	m.add("array of strings", [2]string{"", "z"})
	m.add("map of one key", map[string]int{"a": 1})
	m.add("map of several keys", map[string]int{"a": 1, "b": -2, "": 0})
	m.add("map: empty", map[string]int{})
	m.add("map with int keys", map[int]string{-7: "seven"})
	m.add("map of slices", map[string][]string{"k": {"a", "b"}})
	m.add("map of structs", map[string]Point{"p": {1, 2}})
	m.add("map of structs, all zero", map[string]Point{"p": {}})
	m.add("map with struct keys", map[PairKey]string{{"n", 3}: "v"})
	m.add("map with several keys that are structs", map[PairKey]string{{"n", 3}: "v", {"", 0}: "w"})
	m.add("map of interfaces", map[string]any{"k": "v"})
	m.add("map of several keys and interfaces", map[string]any{"k": "v", "n": 1, "nil": nil, "p": Point{1, 2}})
	m.add("map with interface keys", map[any]int{"a": 1})
	m.add("map with several keys that are interfaces", map[any]int{"a": 1, 2: 2, Point{1, 2}: 3})
}

func (m *maker) structs() {
	m.add("struct: two ints", Point{3, 4})
	m.add("struct: one field left out", Point{0, 4})
	m.add("struct: all zero", Point{})
	m.add("struct: three values, one definition", Point{1, 2}, Point{}, Point{3, 4})
	m.add("struct: through a pointer", &Point{5, 6})
	m.add("struct: no fields", Empty{})
	m.add("scalars: all zero", Scalars{})
	m.add("scalars: all set", Scalars{true, -1, -8, -16, -32, -64, 1, 8, 16, 32, 64, 99, 1.5, 2.5, 1 + 2i, 3 + 4i, "s", []byte("b")})
	m.add("scalars: the ends", Scalars{true, math.MinInt64, -128, -32768, math.MinInt32, math.MinInt64, math.MaxUint64, 255,
		65535, math.MaxUint32, math.MaxUint64, math.MaxUint64, math.MaxFloat32, math.MaxFloat64, 0, 0, "", nil})
	m.add("scalars: every other one", Scalars{I: 5, I16: 6, I64: 7, U8: 8, U32: 9, Ptr: 10, F64: 11, C128: 12, B: []byte{13}})
	one := 1
	zero := 0
	m.add("letters: all zero", Letters{})
	m.add("letters: all set", Letters{A: 1, B: "b", C: []string{"c"}, D: map[string]int{"d": 1}, E: Point{1, 2},
		F: []Point{{3, 4}}, G: "g", H: [3]uint{1, 2, 3}, I: &Point{5, 6}, J: &one})
	m.add("letters: a pointer to zero is left out", Letters{J: &zero, I: &Point{}})
	m.add("letters: an empty map is sent, an empty slice is not", Letters{C: []string{}, D: map[string]int{}})
	m.add("outer: all zero", Outer{})
	m.add("outer: all set", Outer{Point{1, 2}, &Point{3, 4}, []Point{{5, 6}}, []*Point{{7, 8}}, map[string]Point{"a": {9, 10}},
		map[string]*Point{"b": {11, 12}}, [2]Point{{13, 14}, {15, 16}}, [][]int{{1}, {}, {2, 3}}})
	m.add("list: one", List{1, nil})
	m.add("list: three", List{1, &List{2, &List{3, nil}}})
	m.add("tree: a leaf", Tree{Name: "leaf"})
	m.add("tree: three levels", Tree{"root", []Tree{{"a", nil}, {"b", []Tree{{"c", nil}, {}}}}})
	m.add("graph: through a map and a pointer", Graph{"a", map[string]*Graph{"b": {Name: "c"}}, &Graph{Name: "d"}})
	m.add("recursive slice", Nested{}, Nested{Nested{}, Nested{Nested{}}})
	m.add("recursive map", NestedMap{"a": NestedMap{"b": NestedMap{}}})
	m.add("maps: all zero", Maps{})
	m.add("maps: all set", Maps{map[string]int{"a": 1}, map[int]string{1: "a"}, map[bool]uint8{true: 255},
		map[PairKey]string{{"k", 1}: "v"}, map[[2]int8]bool{{1, -1}: true}, map[string]map[string]int{"x": {"y": 1}},
		&map[string]int{"p": 1}})
	m.add("maps: all empty", Maps{map[string]int{}, map[int]string{}, map[bool]uint8{}, map[PairKey]string{},
		map[[2]int8]bool{}, map[string]map[string]int{}, &map[string]int{}})
}

func (m *maker) interfaces() {
	for _, v := range []any{true, 1, int8(-8), int16(-16), int32(-32), int64(math.MinInt64), uint(1), uint8(8), uint16(16),
		uint32(32), uint64(math.MaxUint64), uintptr(9), float32(1.5), 2.5, complex64(1i), complex(1, 2), "text", []byte("by"),
		[]bool{true}, []string{"a", "b"}, []int{1, 2}, []int8{1}, []int16{1}, []int32{1}, []int64{1}, []uint{1}, []uint16{1},
		[]uint32{1}, []uint64{1}, []uintptr{1}, []float32{1}, []float64{1}, []complex64{1}, []complex128{1}} {
		m.add(fmt.Sprintf("interface: %T", v), Holder{v}, Holder{v})
	}
	m.add("interface: nil", Holder{})
	m.add("interface: struct, twice", Holder{Point{1, 2}}, Holder{Point{3, 4}})
	m.add("interface: struct with no fields", Holder{Ack{}}, Holder{Ack{}})
	m.add("interface in an interface in an interface", Holder{Holder{Holder{Point{1, 2}}}}, Holder{Holder{Point{5, 6}}})
	m.add("interface: a time", Holder{time.Unix(1700000000, 123456789).UTC()})
	m.add("interface: encodes itself", Holder{Blob{"blob"}}, Holder{Packed{"packed"}})
	m.add("interface: a tree", Holder{Tree{"t", []Tree{{"u", nil}}}})
	m.add("interface: a map", Holder{map[string]string{"k": "v"}})
	m.add("interface: letters, with types of its own", Holder{Letters{C: []string{"c"}, F: []Point{{1, 2}}, G: Tree{Name: "t"}}})
	m.add("slice of interfaces", []any{"a", 1, nil, Point{1, 2}, []any{Tree{Name: "x"}, Ack{}}})
	m.add("slice of interfaces, each of a new type", []any{Point{1, 2}, Tree{Name: "t"}, Status{1}, Hello{Hostname: "h"}, Blob{"b"}})
	m.add("holders: everywhere", Holders{"n", []any{Point{1, 2}, Tree{}}, map[string]any{"k": Status{2}}, Ping{time.Unix(1, 2).UTC()}})
	m.add("holders: all zero", Holders{})
	ping := time.Date(2024, 1, 2, 3, 4, 5, 678000000, time.UTC)
	m.add("conversation: a client's", Envelope{Hello{"node-1", "felix", true, []Compression{"snappy"}, 0x1122334400000001}},
		Envelope{Ack{}}, Envelope{Ack{}}, Envelope{Ping{ping}})
	m.add("conversation: a server's", Envelope{Status{1}}, Envelope{Updates{[]Update{
		{"/a", []byte("va"), "12", "12", time.Second, 1}, {Key: "/b", Type: 3}, {"/c", nil, "", "", -1, 2},
		{Key: "/d", Revision: 42}, {Key: "/e", Revision: Point{1, 2}}}}}, Envelope{Status{2}}, Envelope{Updates{}})
	m.add("conversation: nothing", Envelope{})
	var text, point, null any = "text", Point{1, 2}, nil
	m.into("interface at the top", "any", &text, &point)
	m.into("interface at the top, nil", "any", &null)
	m.add("updates without an envelope", Updates{[]Update{{Key: "k", Revision: "r"}}})
}

func (m *maker) opaques() {
	at := time.Date(2024, 2, 29, 23, 59, 59, 999999999, time.UTC)
	m.add("time: UTC", at)
	m.add("time: zero", time.Time{})
	m.add("time: epoch", time.Unix(0, 0).UTC())
	m.add("time: before the epoch", time.Unix(-1, 999999999).UTC())
	m.add("time: before year 1", time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC))
	m.add("time: far away", time.Date(292277, 1, 1, 0, 0, 0, 1, time.UTC))
	m.add("time: one hour east", at.In(time.FixedZone("", 3600)))
	m.add("time: three and a half hours west", at.In(time.FixedZone("", -12600)))
	m.add("time: offset with seconds", at.In(time.FixedZone("", 1172)))
	m.add("time: negative offset with seconds", at.In(time.FixedZone("", -4772)))
	m.add("time: a zone at zero", at.In(time.FixedZone("", 0)))
	m.add("event: all zero", Event{})
	m.add("event: all set", Event{"e", at, &at, []time.Time{at, {}}})
	m.add("blob at the top", Blob{"x"})
	m.add("packed at the top", Packed{"y"})
	m.add("opaques: all zero", Opaques{})
	m.add("opaques: all set", Opaques{Blob{"b"}, Packed{"p"}, &Blob{"q"}, []Blob{{"l"}, {}}, map[string]Packed{"k": {"m"}}, at})
}

func (m *maker) evolution() {
	more := PointMore{"n", 2, 1, map[string][]string{"t": {"u"}}, Point{7, 8}, time.Unix(9, 0).UTC()}
	m.into("fields that we lack are skipped", "Point", more, more)
	m.into("fields that the sender lacks stay zero", "PointMore", Point{1, 2})
	m.into("no field in common", "Event", Point{1, 2})
	m.into("anything goes into a struct with no fields", "Empty", more)
	m.into("a struct with no fields goes into any", "Point", Empty{})
	m.into("same names, other types", "LettersToo", Letters{A: 1})
	m.into("int into uint", "uint", 5)
	m.into("uint into int", "int", uint(5))
	m.into("int64 into int8, fits", "int8", int64(-128))
	m.into("int64 into int8, too large", "int8", int64(128))
	m.into("uint64 into uint8, too large", "uint8", uint64(256))
	m.into("uint64 into uint16, too large", "uint16", uint64(65536))
	m.into("uint64 into uint32, too large", "uint32", uint64(1<<32))
	m.into("int64 into int32, too small", "int32", int64(math.MinInt32)-1)
	m.into("int64 into int16, too small", "int16", int64(-32769))
	m.into("float64 into float32, too large", "float32", 1e39)
	m.into("float64 into float32, rounded", "float32", 0.1)
	m.into("float64 into float32, infinite", "float32", math.Inf(1))
	m.into("complex128 into complex64, too large", "complex64", complex(0, 1e39))
	m.into("string into bytes", "bytes", "x")
	m.into("slice into array", "[3]int", []int{1, 2, 3})
	m.into("array of another length", "[3]int", [2]int{1, 2})
	m.into("struct into int", "int", Point{1, 2})
	m.into("int into struct", "Point", 1)
	m.into("time into struct", "Point", time.Unix(1, 0))
	m.into("GobEncoder into BinaryMarshaler", "Packed", Blob{"x"})
	m.into("BinaryMarshaler into GobEncoder", "Blob", Packed{"x"})
	m.into("blob that its type refuses", "Blob", Blob{"\xff"})
	m.into("slice of narrower ints", "[]int", []int8{1, -1})
	m.into("struct into interface holder", "Holder", Point{1, 2})
	m.into("tree into a tree with other children", "Graph", Tree{Name: "t"})
	m.into("unknown interface with a type of its own is skipped", "Point", struct {
		X int
		A any
		Y int
	}{1, Tree{"t", []Tree{{}}}, 2})
	m.into("unknown fields of every kind are skipped", "Point", struct {
		X int
		L Letters
		O Outer
		E Event
		M Maps
		S Scalars
		Q Opaques
		T Tree
		Y int
	}{X: 1, L: Letters{A: 1, B: "b", F: []Point{{1, 2}}, H: [3]uint{1, 2, 3}}, O: Outer{N: [][]int{{1}}},
		E: Event{Name: "e", All: []time.Time{{}}}, M: Maps{SI: map[string]int{"a": 1}}, S: Scalars{I: 3, C64: 1i},
		Q: Opaques{B: Blob{"b"}}, T: Tree{"t", []Tree{{"u", nil}}}, Y: 2})
}
