package db

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/fault"
	"github.com/tzzr/context-manager/internal/seal"
	"github.com/tzzr/context-manager/internal/sealfile"
)

// sealLock is the key of the advisory lock that the one sequencer of a database holds.
const sealLock = 0x636d7365616c // "cmseal"

// Pace of a sealer. A message is sealed within about two rounds of its commit.
const (
	sealInterval   = 100 * time.Millisecond // between rounds
	idleInterval   = 250 * time.Millisecond // the same after some time in which nothing came
	idleAfter      = 20                     // rounds
	followInterval = 500 * time.Millisecond // between looks at what another server seals
	refuseInterval = time.Second            // between looks at a tree that is refused
	retryShortest  = 100 * time.Millisecond // before the database is asked again
	retryLongest   = 2 * time.Second
	hitch          = 5 * time.Second // for which sealing may fail before the server is not ready
	sealBatch      = 20_000          // leaves a round
	turnLimit      = time.Minute     // for a round, which else waits for a database that is not there any more
	lookLimit      = 5 * time.Second // for its first question, which is answered at once
)

// SealCondition says whether a server seals.
type SealCondition string

// The conditions.
const (
	Sealing SealCondition = "sealing" // or standing by, while another server of the same database does
	Refused SealCondition = "refused" // the tree does not extend what was signed or, as a witness says, cosigned before
	Failing SealCondition = "failing" // this server cannot seal, though the tree is whole
)

// SealerConfig says under which key a sealer signs, what it keeps outside of the database, and whom it asks to cosign.
type SealerConfig struct {
	Key        string    // file of the signing key; made if missing
	Checkpoint string    // file of the last checkpoint
	Origin     string    // names the log when its key is made; empty for a name that no other log has
	Witnesses  []Witness // asked for cosignatures

	// Lag, if not nil, is told of messages that were sealed: how many, and how long at most they had been committed.
	Lag func(messages int64, lag time.Duration)

	// step, if not nil, is called for each step of a round in the step's place; tests make steps fail by it.
	step func(name string, do func() error) error
	// now, if not nil, is used for time.Now.
	now func() time.Time
	// witnessPace, if not 0, is used for witnessInterval.
	witnessPace time.Duration
}

// SealState is the seal as one server sees it.
type SealState struct {
	Condition SealCondition
	Problem   string // what is wrong, in words; empty while nothing is
	Origin    string
	PublicKey string
	Leading   bool             // it is this server that seals
	Newest    seal.Head        // of the newest checkpoint that it knows
	Waiting   int64            // messages that it saw waiting, when it last looked
	Outside   sealfile.Outside // the checkpoint that it keeps outside of the database, when it last looked
	Witnesses []WitnessState
}

// Sealer takes committed messages into the tree, and signs it, as long as it is the one of its database that may; and
// else follows the one that does. It begins with StartSealer.
type Sealer struct {
	store  *DB
	config SealerConfig
	end    context.CancelFunc
	wait   sync.WaitGroup
	accept chan *acceptance
	done   chan struct{} // closed when the goroutine that runs has ended
	asked  []*witnessLoop

	cosigners map[string]note.Verifier // the keys of those that are asked, by their names; never written again

	mu        sync.Mutex   // held to write what follows; the goroutine that runs is the only one that does
	key       sealfile.Key // without a signer while it is lost
	policy    seal.Policy
	state     SealState        // without its witnesses
	unsound   string           // a row of a cosignature that verifies with no key, in words
	missed    string           // messages that could not be taken into the tree, in words
	newest    *seal.Checkpoint // nil: not known
	refused   *refusal         // nil while the tree is not refused
	failing   time.Time        // since when; zero while it is not
	growth    growth
	told      bool            // that messages wait for too long
	published seal.Checkpoint // the largest that it held the tree against and wrote to the file or found there; zero at first

	// Owned by the goroutine that runs.
	careful   bool        // a place that is in the tree already was to be taken again
	answering *acceptance // accepted, and to be told what came of it
}

// errAnew says that what a connection's work was based on has changed.
var errAnew = errors.New("the log's key has changed")

// StartSealer starts to seal, on a connection of its own, until Stop or Close. A store has one sealer. That it cannot
// seal, or must not, is told by its State, and not here.
//
// Faults: as sealfile.LoadKey; UNAVAILABLE.
func (d *DB) StartSealer(ctx context.Context, config SealerConfig) (*Sealer, error) {
	s := &Sealer{store: d, config: config, accept: make(chan *acceptance), done: make(chan struct{}), cosigners: map[string]note.Verifier{}}
	for _, w := range config.Witnesses {
		if w.Key != nil {
			s.cosigners[w.Name] = w.Key
		}
	}
	s.state.Condition = Sealing
	if err := s.takeKey(WithStartPatience(ctx)); err != nil {
		return nil, err
	}
	if !d.sealer.CompareAndSwap(nil, s) {
		return nil, fault.New(fault.Internal, "the store has a sealer already")
	}
	if s.config.now == nil {
		s.config.now = time.Now
	}
	if s.config.witnessPace == 0 {
		s.config.witnessPace = witnessInterval
	}
	for _, w := range config.Witnesses {
		s.asked = append(s.asked, newWitnessLoop(s, w))
	}
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	s.wait.Go(func() { s.run(run) })
	for _, loop := range s.asked {
		s.wait.Go(func() { loop.run(run) })
	}
	return s, nil
}

// Sealer gives the sealer that was started, nil if none was.
func (d *DB) Sealer() *Sealer { return d.sealer.Load() }

// Stop ends sealing. What is not in the tree by then waits for the next sealer.
func (s *Sealer) Stop() {
	s.end()
	s.wait.Wait()
}

// State tells how the seal stands.
func (s *Sealer) State() SealState {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Problem = cmp.Or(state.Problem, s.unsound, s.missed)
	if state.Problem == "" && s.late() {
		state.Problem = tooLate
	}
	for _, w := range s.asked {
		shown := w.state
		if w.finding != nil { // also while it is not asked
			shown.Problem = w.finding.reason
		}
		state.Witnesses = append(state.Witnesses, shown)
	}
	return state
}

// refusal gives why the tree is refused, nil while it is not.
func (s *Sealer) refusal() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// refusal says why a tree is not signed.
type refusal struct {
	reason     string
	checkpoint string // the text of the one that the tree does not extend
	broken     bool   // the tree is damaged: no word makes it whole
	foreign    string // the public key in the database that this server does not have, if that is why
	unseen     bool   // what it rests on is neither in the database nor in the file
}

func (r *refusal) Error() string { return r.reason }

// failure says why this server cannot seal.
type failure struct{ reason string }

func (f *failure) Error() string { return f.reason }

// report makes known what a turn came to, and answers who waits for it.
func (s *Sealer) report(ctx context.Context, err error) {
	condition, problem := Sealing, ""
	r, isRefusal := errors.AsType[*refusal](err)
	switch {
	case isRefusal:
		condition, problem = Refused, r.reason
	case err != nil:
		condition, problem = Failing, problemOf(err)
	}
	s.mu.Lock()
	changed := s.state.Condition != condition || s.state.Problem != problem
	s.state.Condition, s.state.Problem, s.refused = condition, problem, r
	switch {
	case condition != Failing:
		s.failing = time.Time{}
	case s.failing.IsZero():
		s.failing = s.config.now()
	}
	s.mu.Unlock()
	s.answer()
	if !changed {
		return
	}
	switch condition {
	case Refused:
		s.store.log.ErrorContext(ctx, "the tree is refused: nothing is signed, and it needs an administrator's word", "reason", problem)
	case Failing:
		s.store.log.WarnContext(ctx, "the log is not sealed", "reason", problem, "cause", err)
	default:
		s.store.log.InfoContext(ctx, "the log is sealed", "origin", s.State().Origin)
	}
}

// problemOf gives an error in words that may be shown.
func problemOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.reason
	}
	return mapError(err).Error()
}

// run seals or follows until ctx ends, with one connection after another.
func (s *Sealer) run(ctx context.Context) {
	defer close(s.done)
	retry := retryShortest
	for ctx.Err() == nil {
		worked, err := s.connected(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !errors.Is(err, errAnew) {
			s.report(ctx, err)
		}
		if worked {
			retry = retryShortest
		}
		s.pause(ctx, retry)
		retry = min(2*retry, retryLongest)
	}
}

// connected seals or follows on one connection, until that ends or this server must not seal. worked says that it was
// good for something.
func (s *Sealer) connected(ctx context.Context) (worked bool, err error) {
	// A commit is on disk before it is signed, and few plans come into question.
	config, lasting := s.store.sessionConfig(map[string]string{
		"application_name": "context-manager sealer", "synchronous_commit": "on", "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	})
	ctx, end := s.store.pool.untilReplaced(ctx)
	defer end()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	q := dbgen.New(conn)
	var lock sequencerLock = sessionLock{q}
	if !lasting {
		lock = &transactionLock{config: config}
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing) // which gives a lock of the session back
		lock.close(closing)
		s.lead(false)
	}()
	for ; ctx.Err() == nil; worked = true {
		locked, err := lock.try(ctx)
		if err != nil {
			return worked, err
		}
		if locked {
			s.lead(true)
			return s.seal(ctx, conn, lock)
		}
		turn, cancel := context.WithTimeout(ctx, turnLimit)
		err = s.follow(turn, q)
		cancel()
		if passes(err) {
			return worked, err
		}
		s.report(ctx, err)
		s.pause(ctx, followInterval)
	}
	return worked, nil
}

// seal does turns while it holds the lock.
func (s *Sealer) seal(ctx context.Context, conn *pgx.Conn, lock sequencerLock) (worked bool, err error) {
	l := &leader{Sealer: s, conn: conn, q: dbgen.New(conn), sawAll: time.Now()}
	for idle := 0; ctx.Err() == nil; {
		if err := lock.held(ctx); err != nil {
			return worked, err
		}
		turn, cancel := context.WithTimeout(ctx, turnLimit)
		more, err := l.turn(turn)
		cancel()
		if passes(err) {
			return worked, err
		}
		s.report(ctx, err)
		worked = true
		idle++
		pause := sealInterval
		switch {
		case err != nil:
			l.tree, pause = nil, refuseInterval
		case more:
			idle, pause = 0, 0
		case l.took:
			idle = 0
			forget(conn) // up to 20,000 leaves
		case idle > idleAfter:
			pause = idleInterval
		}
		s.pause(ctx, pause)
	}
	return worked, nil
}

// passes tells whether an error ends a connection: any does that does not say that the tree is refused.
func passes(err error) bool {
	_, refused := errors.AsType[*refusal](err)
	return err != nil && !refused
}

// pause waits, and does what an administrator says meanwhile.
func (s *Sealer) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case a := <-s.accept:
		a.err = s.succeed(ctx, a.reason)
		s.answering = a
		if a.err != nil {
			s.answer()
		}
	}
}

func (s *Sealer) lead(leading bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Leading = leading
}

// answer tells who waits for it what came of an administrator's word.
func (s *Sealer) answer() {
	if s.answering != nil {
		close(s.answering.done)
		s.answering = nil
	}
}

// set keeps what State tells.
func (s *Sealer) set(change func(*SealState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// step does one step of a round.
func (s *Sealer) step(name string, do func() error) error {
	if s.config.step != nil {
		return s.config.step(name, do)
	}
	return do()
}
