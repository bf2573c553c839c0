package host_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kera-lang/kera/pluginapi/cache"
	"github.com/kera-lang/kera/pluginapi/host"
)

// TestCompileCached: a second build starts no process; a damaged entry is a
// miss; a result with warnings is not kept.
func TestCompileCached(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	compile := func(mode string, options map[string]string) (*host.CompileResult, error) {
		store, err := cache.Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := spec(t, mode)
		s.Cache = store
		p := host.New(s)
		defer p.Close()
		return p.Compile(context.Background(), host.CompileRequest{Job: job(options)})
	}
	first, err := compile("ok", nil)
	if err != nil || first.Cached {
		t.Fatalf("first: %+v, %v", first, err)
	}
	// In this mode the plugin cannot start, so only the cache can answer.
	second, err := compile("garbage", nil)
	if err != nil || !second.Cached || second.Key != first.Key || !bytes.Equal(second.Section.Artifact, first.Section.Artifact) {
		t.Fatalf("second: %+v, %v", second, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "content", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("content %v, %v", files, err)
	}
	if err := os.Truncate(files[0], 20); err != nil {
		t.Fatal(err)
	}
	if r, err := compile("ok", nil); err != nil || r.Cached {
		t.Errorf("damaged entry: %+v, %v", r, err)
	}
	if r, err := compile("ok", nil); err != nil || !r.Cached {
		t.Errorf("repaired entry: %+v, %v", r, err)
	}
	for range 2 {
		if r, err := compile("ok", map[string]string{"mode": "warning"}); err != nil || r.Cached {
			t.Errorf("with warnings: %+v, %v", r, err)
		}
	}
}
