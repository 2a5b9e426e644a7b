package db

// WithStep makes a test do the steps of a sealer's rounds: take, leaves, tiles, tree, commit, sign, keep, publish.
func (c SealerConfig) WithStep(step func(name string, do func() error) error) SealerConfig {
	c.step = step
	return c
}

// SealBatch is how many messages a round takes at most.
const SealBatch = sealBatch
