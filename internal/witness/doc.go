// Package witness is both sides of C2SP's tlog-witness: the client with which a log has its checkpoints cosigned, and
// the server, a process of its own with a key and a small state file, which cosigns a checkpoint only if it extends
// the last one that it has cosigned under the same name. So a log that a witness has seen cannot be rolled back,
// rewritten or forked without the witness knowing, whoever owns the log's database and key.
//
// It never sees what the log says, only sizes and roots.
package witness
