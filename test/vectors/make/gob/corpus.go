// Random streams that Go's encoder writes, as starting points for the fuzzer.
//
//	out: per stream: u8 number of the type that was encoded, u32 length, stream
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"time"
)

func corpus(seed uint64, count int) error {
	out := bufio.NewWriter(os.Stdout)
	r := rand.New(rand.NewPCG(seed, 1))
	for n := 0; n < count; n++ {
		number := r.IntN(len(allTypes))
		var stream bytes.Buffer
		enc := gob.NewEncoder(&stream)
		values := 1 + r.IntN(3)
		for range values {
			v := reflect.New(allTypes[number].typ).Elem()
			fill(r, v, 4)
			if v.Kind() == reflect.Pointer && v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			if err := enc.EncodeValue(v.Addr()); err != nil {
				return fmt.Errorf("%s: %w", allTypes[number].name, err)
			}
		}
		if stream.Len() > 3000 {
			n--
			continue
		}
		head := []byte{byte(number), 0, 0, 0, 0}
		binary.BigEndian.PutUint32(head[1:], uint32(stream.Len()))
		out.Write(head)
		out.Write(stream.Bytes())
	}
	return out.Flush()
}

// fill sets v to something random; depth bounds how far pointers, slices, maps and interfaces go on.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(randomTime(r)))
		return
	case Blob:
		v.Set(reflect.ValueOf(Blob{randomText(r)}))
		return
	case Packed:
		v.Set(reflect.ValueOf(Packed{randomText(r)}))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(r.Uint64() >> r.IntN(64) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(randomFloat(r))
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(randomFloat(r), randomFloat(r)))
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		}
		for i := range v.Len() {
			fill(r, v.Index(i), depth-1)
			if k := v.Index(i); k.Kind() == reflect.Pointer && k.IsNil() {
				k.Set(reflect.New(k.Type().Elem()))
			}
		}
	case reflect.Map:
		fillMap(r, v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth-1)
		}
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Interface:
		if depth > 0 && r.IntN(4) > 0 {
			choice := reflect.New(interfaceTypes[r.IntN(len(interfaceTypes))]).Elem()
			fill(r, choice, depth-1)
			v.Set(choice)
		}
	}
}

func fillMap(r *rand.Rand, v reflect.Value, depth int) {
	if depth <= 0 || r.IntN(4) == 0 {
		if v.Type().Name() == "" && r.IntN(2) == 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range r.IntN(4) {
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(r, key, 0)
		fill(r, elem, depth-1)
		if elem.Kind() == reflect.Pointer && elem.IsNil() {
			elem.Set(reflect.New(elem.Type().Elem()))
		}
		v.SetMapIndex(key, elem)
	}
}

var interfaceTypes = func() (list []reflect.Type) {
	for _, name := range []string{"bool", "int", "uint8", "uint64", "float32", "complex128", "string", "bytes", "[]int",
		"[]string", "Point", "Letters", "Holder", "Blob", "Packed", "time.Time", "Tree", "[]any"} {
		list = append(list, typeNamed(name))
	}
	return append(list, reflect.TypeFor[Hello](), reflect.TypeFor[Ack](), reflect.TypeFor[Status](),
		reflect.TypeFor[Ping](), reflect.TypeFor[Updates](), reflect.TypeFor[map[string]string]())
}()

func randomFloat(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return float64(r.IntN(200) - 100)
	case 1:
		return r.NormFloat64()
	case 2:
		return math.Float64frombits(r.Uint64())
	}
	return [...]float64{0, 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, 1e-320}[r.IntN(8)]
}

func randomText(r *rand.Rand) string {
	const alphabet = "abcXYZ/-. éß漢字😀"
	letters := []rune(alphabet)
	text := make([]rune, r.IntN(12))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	if r.IntN(20) == 0 {
		return string(text) + "\xff\xc3"
	}
	return string(text)
}

func randomTime(r *rand.Rand) time.Time {
	zones := []*time.Location{time.UTC, time.FixedZone("", 3600), time.FixedZone("", -12600), time.FixedZone("", 90)}
	if r.IntN(4) == 0 {
		return time.Time{}
	}
	return time.Unix(r.Int64N(1<<34)-(1<<33), r.Int64N(1e9)).In(zones[r.IntN(len(zones))])
}
