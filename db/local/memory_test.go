package local

import "testing"

func TestMemorySettings(t *testing.T) {
	for _, test := range []struct {
		bytes  uint64
		shared string
		cached string
	}{
		{0, "512MB", "1024MB"},
		{256 << 20, "128MB", "256MB"},
		{4 << 30, "1024MB", "2048MB"},
		{24 << 30, "6144MB", "12288MB"},
		{1 << 40, "8192MB", "524288MB"},
		{1<<64 - 1, "8192MB", "1048576MB"},
	} {
		got := memorySettings(test.bytes)
		if got["shared_buffers"] != test.shared || got["effective_cache_size"] != test.cached {
			t.Errorf("of %d bytes: %v, want %s and %s", test.bytes, got, test.shared, test.cached)
		}
	}
	if memory() < 64<<20 {
		t.Errorf("this machine has %d bytes", memory())
	}
}
