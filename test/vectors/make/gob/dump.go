// One text for each value, the same as test/kit/gob-dump.ts writes: what Go and we decoded is compared by it.
package main

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// dumper writes values; ambiguous is set where a map has keys that JavaScript cannot tell apart (NaN, bad UTF-8).
type dumper struct {
	out       []byte
	ambiguous bool
}

func (d *dumper) value(v reflect.Value) {
	if v.Kind() == reflect.Struct && d.opaque(v.Interface()) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		d.out = strconv.AppendBool(d.out, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.out = strconv.AppendInt(d.out, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		d.out = strconv.AppendUint(d.out, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		d.float(v.Float())
	case reflect.Complex64, reflect.Complex128:
		d.float(real(v.Complex()))
		d.float(imag(v.Complex()))
	case reflect.String:
		d.text(v.String())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			d.hex("0x", string(v.Bytes()))
			return
		}
		d.list(v)
	case reflect.Array:
		d.list(v)
	case reflect.Map:
		d.mapping(v)
	case reflect.Struct:
		d.out = append(d.out, '{')
		for i := range v.NumField() {
			d.out = append(d.out, v.Type().Field(i).Name...)
			d.out = append(d.out, ':')
			d.value(v.Field(i))
			d.out = append(d.out, ' ')
		}
		d.out = append(d.out, '}')
	case reflect.Pointer, reflect.Interface:
		d.reference(v)
	default:
		panic("no dump for " + v.Type().String())
	}
}

func (d *dumper) opaque(value any) bool {
	switch x := value.(type) {
	case time.Time:
		d.time(x)
	case Blob:
		d.hex("blob:", x.data)
	case Packed:
		d.hex("packed:", x.data)
	default:
		return false
	}
	return true
}

func (d *dumper) reference(v reflect.Value) {
	if v.IsNil() {
		d.out = append(d.out, "nil"...)
		return
	}
	if v.Kind() == reflect.Pointer {
		d.value(v.Elem())
		return
	}
	d.out = append(d.out, registered[v.Elem().Type()]...)
	d.out = append(d.out, '(')
	d.value(v.Elem())
	d.out = append(d.out, ')')
}

func (d *dumper) list(v reflect.Value) {
	d.out = append(d.out, '[')
	for i := range v.Len() {
		d.value(v.Index(i))
		d.out = append(d.out, ' ')
	}
	d.out = append(d.out, ']')
}

func (d *dumper) mapping(v reflect.Value) {
	type entry struct{ key, elem []byte }
	var entries []entry
	for it := v.MapRange(); it.Next(); {
		key, elem := dumper{}, dumper{}
		key.value(it.Key())
		elem.value(it.Value())
		d.ambiguous = d.ambiguous || key.ambiguous || elem.ambiguous
		entries = append(entries, entry{key.out, elem.out})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	d.out = append(d.out, "map{"...)
	for i, e := range entries {
		if i > 0 && bytes.Equal(e.key, entries[i-1].key) {
			d.ambiguous = true
		}
		d.out = append(append(append(append(d.out, e.key...), '='), e.elem...), ' ')
	}
	d.out = append(d.out, '}')
}

func (d *dumper) float(f float64) {
	if f != f {
		d.out = append(d.out, "NaN;"...)
		return
	}
	d.out = append(strconv.AppendUint(append(d.out, 'f'), math.Float64bits(f), 16), ';')
}

func (d *dumper) hex(prefix, data string) { d.out = fmt.Appendf(append(d.out, prefix...), "%x", data) }

func (d *dumper) time(t time.Time) {
	zone := "utc"
	if t.Location() != time.UTC {
		_, offset := t.Zone()
		zone = strconv.Itoa(offset)
	}
	d.out = fmt.Appendf(d.out, "time(%d.%09d %s)", t.Unix(), t.Nanosecond(), zone)
}

// text writes a string as a browser's TextDecoder shows it: each maximal piece of broken UTF-8 is one U+FFFD.
func (d *dumper) text(s string) {
	d.out = append(d.out, '"')
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			size = brokenPrefix(s)
		}
		d.out = utf8.AppendRune(d.out, r)
		s = s[size:]
	}
	d.out = append(d.out, '"')
}

// brokenPrefix says how many bytes at the start of s are the beginning of a character that then goes wrong.
func brokenPrefix(s string) int {
	low, high, need := byte(0x80), byte(0xbf), 0
	switch b := s[0]; {
	case b >= 0xc2 && b <= 0xdf:
		need = 1
	case b >= 0xe0 && b <= 0xef:
		need = 2
		if b == 0xe0 {
			low = 0xa0
		} else if b == 0xed {
			high = 0x9f
		}
	case b >= 0xf0 && b <= 0xf4:
		need = 3
		if b == 0xf0 {
			low = 0x90
		} else if b == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for ; n <= need && n < len(s) && s[n] >= low && s[n] <= high; n++ {
		low, high = 0x80, 0xbf
	}
	return n
}

func dump(v reflect.Value) string {
	var d dumper
	d.value(v)
	return string(d.out)
}
