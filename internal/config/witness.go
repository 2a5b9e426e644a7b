package config

import "github.com/tzzr/context-manager/internal/witness"

// Witness says what a witness is and where it listens. It needs no database and no data directory.
type Witness struct {
	Addr  string   `name:"addr" env:"WITNESS_ADDR" default:"127.0.0.1:8081" placeholder:"HOST:PORT" help:"Where to listen."`
	State string   `name:"state" env:"WITNESS_STATE" required:"" placeholder:"FILE" help:"What it has cosigned; made at the first start. Keep it where the logs' administrators cannot touch it, and never put an older copy back."`
	Key   string   `name:"key" env:"WITNESS_KEY" required:"" placeholder:"FILE" help:"Its secret key; made at the first start."`
	Name  string   `name:"name" env:"WITNESS_NAME" placeholder:"NAME" help:"Its name in cosignatures, such as witness.example.org/1; needed at the first start."`
	Logs  []string `name:"log" env:"WITNESS_LOGS" sep:"," required:"" placeholder:"KEY" help:"The public key of a log, from its server's /log.pub; may be given several times."`
}

// Files gives what the witness itself needs to know.
func (w Witness) Files() witness.Config {
	return witness.Config{StateFile: w.State, KeyFile: w.Key, Name: w.Name, Logs: w.Logs}
}
