package host_test

import (
	"context"
	"testing"

	"github.com/kera-lang/kera/pluginapi/host"
)

// BenchmarkStart measures a plugin from fork to the answer of GetInfo, with the
// executable in the page cache, and its end.
func BenchmarkStart(b *testing.B) {
	s := spec(b, "ok")
	for b.Loop() {
		p, err := host.Start(context.Background(), s)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.Close()
		b.StartTimer()
	}
}

// BenchmarkWarmCompile measures the protocol alone: a trivial job in a warm
// plugin.
func BenchmarkWarmCompile(b *testing.B) {
	p, err := host.Start(context.Background(), spec(b, "ok"))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		if _, err := p.Compile(context.Background(), host.CompileRequest{Job: job(nil)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClose measures how long ending a plugin takes.
func BenchmarkClose(b *testing.B) {
	s := spec(b, "ok")
	for b.Loop() {
		b.StopTimer()
		p, err := host.Start(context.Background(), s)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		p.Close()
	}
}
