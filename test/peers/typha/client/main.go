// Command client speaks the Typha protocol with Go's own encoding/gob, golang/snappy and crypto/tls, as Calico's
// components do. It prints every event as a JSON line, or counts for many connections; and it can misbehave on purpose.
package main

import (
	"bufio"
	"errors"
	"os"
	"sync"
	"time"
)

func main() {
	o := parseOptions()
	d, err := newDialer(o)
	if err != nil {
		fatal(err)
	}
	out := newLines(os.Stdout)
	all := newStats(o)
	told := listen(o)

	var wait sync.WaitGroup
	failures := make([]error, o.clients)
	for i := range o.clients {
		if o.connectPerSecond > 0 && i > 0 {
			time.Sleep(time.Duration(float64(time.Second) / o.connectPerSecond))
		}
		wait.Go(func() { failures[i] = runOne(d, o, i, out, all, told) })
	}
	ended, said := make(chan struct{}), make(chan struct{})
	go func() {
		report(o, out, all, ended)
		close(said)
	}()
	wait.Wait()
	close(ended)
	<-said // the summary is the last word
	if o.stats {
		out.print(all.summary())
	}
	if err := errors.Join(failures...); err != nil && !o.stats {
		fatal(err)
	}
}

func runOne(d *dialer, o options, number int, out *lines, all *stats, told orders) error {
	counts := all.newSink()
	var s sink = counts
	if !o.stats {
		s = &printer{out: out, number: number, several: o.clients > 1}
	}
	started := time.Now()
	n, err := runSession(d, o, number, s, told)
	err = verdict(o, err, told.stop)
	if o.expectClose > 0 && err == nil && !o.stats {
		out.print(map[string]any{"closed": map[string]any{"afterMs": millis(time.Since(started))}})
	}
	counts.end(n, err)
	return err
}

// verdict turns how a session ended into whether that is what was asked for.
func verdict(o options, err error, stop <-chan struct{}) error {
	select {
	case <-stop:
		return nil
	default:
	}
	if o.expectClose > 0 {
		if errors.Is(err, errClosed) || isHangUp(err) {
			return nil
		}
		return err
	}
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

// report prints the counts while the clients run, and says once when all of them are in sync.
func report(o options, out *lines, all *stats, ended <-chan struct{}) {
	if !o.stats {
		return
	}
	every := o.statsEvery
	if every == 0 {
		every = 20 * time.Millisecond
	}
	announced := false
	ticks := time.Tick(every)
	for {
		select {
		case <-ended:
			return
		case <-ticks:
		}
		if o.statsEvery > 0 {
			out.print(all.counts())
		}
		all.mu.Lock()
		isAllInSync := all.inSync == o.clients
		all.mu.Unlock()
		if isAllInSync && !announced {
			announced = true
			out.print(map[string]any{"allInSync": o.clients})
		}
	}
}

// orders come on standard input, where it is read: any line lets stalled clients read on, its end stops them all.
type orders struct {
	readOn, stop <-chan struct{}
}

func listen(o options) orders {
	readOn, stop := make(chan struct{}), make(chan struct{})
	if o.untilStdinCloses {
		go func() {
			lines := bufio.NewScanner(os.Stdin)
			if lines.Scan() {
				close(readOn)
			}
			for lines.Scan() {
			}
			close(stop)
		}()
	}
	return orders{readOn, stop}
}
