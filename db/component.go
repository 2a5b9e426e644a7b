package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tzzr/context-manager/db/dbgen"
	"github.com/tzzr/context-manager/internal/chain"
	"github.com/tzzr/context-manager/internal/component"
	"github.com/tzzr/context-manager/internal/fault"
)

// tables of core, by the kind of the components they hold.
var tables = map[component.Kind]string{
	component.Player: "players", component.Hashtag: "hashtags", component.Flag: "flags", component.Item: "items", component.Location: "locations",
}

// UpsertComponents creates components, or changes those that are there by namespace and key: all of them or none.
// It gives them as they are then, in the order of the drafts.
//
// Faults: BAD_USER_INPUT names the field; CONFLICT if a stated hash is not the component's, or another's; FORBIDDEN if a
// player would change anything but their own component.
func (d *DB) UpsertComponents(ctx context.Context, drafts []component.Draft) ([]component.Component, error) {
	switch {
	case len(drafts) == 0:
		return nil, fault.Input("components", "is empty")
	case len(drafts) > component.MaxDrafts:
		return nil, fault.Input("components", "has %d entries; at most %d are allowed", len(drafts), component.MaxDrafts)
	}
	for i := range drafts {
		if err := drafts[i].Validate(fmt.Sprintf("components[%d]", i)); err != nil {
			return nil, err
		}
	}
	if err := d.checkOwn(ctx, drafts); err != nil {
		return nil, err
	}
	hashes, err := d.upsertInOrder(ctx, drafts)
	for try := 1; try < upsertTries && taken(err); try++ {
		hashes, err = d.upsertInOrder(ctx, drafts)
	}
	if err != nil {
		return nil, err
	}
	found, err := d.ComponentsByHash(ctx, hashes)
	if err != nil {
		return nil, err
	}
	out := make([]component.Component, len(hashes))
	for i, h := range hashes {
		out[i] = found[h]
	}
	return out, nil
}

// checkOwn sees to it that a player changes only what describes themself: under the key that it has or, as long as nothing
// does, under the one that their hash is made of.
func (d *DB) checkOwn(ctx context.Context, drafts []component.Draft) error {
	if d.viewer == nil {
		return nil
	}
	known, err := d.ComponentsByHash(ctx, []chain.Hash{*d.viewer})
	if err != nil {
		return err
	}
	for i := range drafts {
		c := &drafts[i]
		own := component.DefaultHash(c.Namespace, c.Key) == *d.viewer
		if is, there := known[*d.viewer]; there {
			own = *is.Namespace == c.Namespace && *is.Key == c.Key
		}
		if kind, _ := c.Namespace.Kind(); !own || kind != component.Player || c.Hash != nil && *c.Hash != *d.viewer {
			return &fault.Error{Code: fault.Forbidden, Field: fmt.Sprintf("components[%d]", i), Message: "is not the player of the token; others are for administrators"}
		}
	}
	return nil
}

// upsertTries bounds how often components are written again. Of two callers that add the same component at once, one may
// meet the other's hash before its key, and is told that the hash is taken; the next time it finds both.
const upsertTries = 3

// taken says that a hash was found to be in use.
func taken(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23505"
}

func (d *DB) upsertInOrder(ctx context.Context, drafts []component.Draft) ([]chain.Hash, error) {
	hashes, err := d.unchanged(ctx, drafts)
	if err != nil || !slices.Contains(hashes, chain.Hash{}) {
		return hashes, err
	}
	err = d.inTx(ctx, func(_ pgx.Tx, q *dbgen.Queries) error {
		for _, i := range inKeyOrder(drafts) {
			if hashes[i] != (chain.Hash{}) {
				continue
			}
			hash, err := upsertComponent(ctx, q, &drafts[i])
			if err != nil {
				return fieldError(err, fmt.Sprintf("components[%d].hash", i))
			}
			hashes[i] = hash
		}
		return nil
	})
	return hashes, err
}

// unchanged gives the hashes of those that are there, under the hash that their key makes, and of which nothing is stated: so
// whoever only names components writes none, and locks none. It is zero for the others.
func (d *DB) unchanged(ctx context.Context, drafts []component.Draft) ([]chain.Hash, error) {
	hashes := make([]chain.Hash, len(drafts))
	var named []chain.Hash
	places := map[chain.Hash][]int{}
	for i := range drafts {
		if c := &drafts[i]; c.Hash == nil && c.Name == nil && c.Description == nil && c.Data == nil && c.Preferences == nil {
			hash := component.DefaultHash(c.Namespace, c.Key)
			named, places[hash] = append(named, hash), append(places[hash], i)
		}
	}
	if len(named) == 0 {
		return hashes, nil
	}
	found, err := componentsSeen(ctx, d.queries(), nil, hashTexts(named))
	if err != nil {
		return nil, mapError(err)
	}
	for _, c := range found {
		for _, i := range places[c.Hash] {
			if *c.Namespace == drafts[i].Namespace && *c.Key == drafts[i].Key { // and not another's, who states this hash
				hashes[i] = c.Hash
			}
		}
	}
	return hashes, nil
}

// inKeyOrder gives the order in which rows are locked, the same for every caller, so that none wait for each other.
func inKeyOrder(drafts []component.Draft) []int {
	order := make([]int, len(drafts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(drafts[a].Namespace, drafts[b].Namespace), cmp.Compare(drafts[a].Key, drafts[b].Key))
	})
	return order
}

func upsertComponent(ctx context.Context, q *dbgen.Queries, c *component.Draft) (chain.Hash, error) {
	kind, _ := c.Namespace.Kind()
	hash := component.DefaultHash(c.Namespace, c.Key)
	if c.Hash != nil {
		hash = *c.Hash
	}
	return q.UpsertComponent(ctx, dbgen.UpsertComponentParams{
		KindTable: tables[kind], Namespace: string(c.Namespace), Key: c.Key, Hash: hash.String(), Stated: c.Hash != nil,
		Name: c.Name, Description: c.Description, Data: (*string)(c.Data), Preferences: c.Preferences,
	})
}

// fieldError names the field of a hash that is another component's.
func fieldError(err error, field string) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "23505" || pg.Code == codeNotHead) {
		return &fault.Error{Code: fault.Conflict, Field: field, Message: "names another component, or the component has another hash", Cause: err}
	}
	return err
}

// ComponentsByHash gives those of the components that rows describe.
func (d *DB) ComponentsByHash(ctx context.Context, hashes []chain.Hash) (map[chain.Hash]component.Component, error) {
	found, err := componentsSeen(ctx, d.readByKey(), d.viewer, hashTexts(hashes))
	out := make(map[chain.Hash]component.Component, len(found))
	for _, c := range found {
		out[c.Hash] = c
	}
	return out, mapError(err)
}

// componentsSeen reads components as a viewer sees them. Who sees all asks for less, which is planned sooner.
func componentsSeen(ctx context.Context, q *dbgen.Queries, viewer *chain.Hash, hashes []string) ([]component.Component, error) {
	if viewer == nil {
		rows, err := q.AllComponentsByHash(ctx, hashes)
		return componentsOf(rows), err
	}
	rows, err := q.ComponentsByHash(ctx, viewer.String(), hashes)
	return componentsOf(rows), err
}

func componentsOf[R dbgen.ComponentsByHashRow | dbgen.CoreAllComponent | dbgen.CoreComponent](rows []R) []component.Component {
	out := make([]component.Component, len(rows))
	for i, row := range rows {
		r := dbgen.CoreComponent(row)
		out[i] = componentOf(dbgen.SearchComponentsRow{
			Hash: r.Hash, Namespace: r.Namespace, Key: r.Key, Name: r.Name, Description: r.Description, Data: r.Data, Preferences: r.Preferences,
		})
	}
	return out
}

func componentOf(r dbgen.SearchComponentsRow) component.Component {
	namespace := component.Namespace(r.Namespace)
	kind, _ := namespace.Kind()
	return component.Component{
		Kind: kind, Hash: r.Hash, Namespace: &namespace, Key: &r.Key, Name: r.Name, Description: r.Description,
		Data: r.Data, Preferences: r.Preferences,
	}
}

// ComponentKey is where a component stands in a list: by rank, then namespace and key.
type ComponentKey struct {
	Rank      int32
	Namespace string
	Key       string
}

// Components gives a page of components, by how well they match the search, then by namespace and key. Nil
// namespaces and a nil search do not narrow.
func (d *DB) Components(ctx context.Context, namespaces []component.Namespace, search *string, p Page[ComponentKey]) (Rows[component.Component, ComponentKey], error) {
	args := dbgen.SearchComponentsParams{Viewer: d.viewerText(), Search: search, Namespaces: words(namespaces), RowCount: p.more()}
	if p.After != nil {
		args.AfterRank, args.AfterNamespace, args.AfterKey = &p.After.Rank, p.After.Namespace, p.After.Key
	}
	found, err := d.read().SearchComponents(ctx, args)
	return rowsOf(p, found, func(r dbgen.SearchComponentsRow) Item[component.Component, ComponentKey] {
		return Item[component.Component, ComponentKey]{componentOf(r), ComponentKey{r.Rank, r.Namespace, r.Key}}
	}), mapError(err)
}

// CountComponents counts what Components lists.
func (d *DB) CountComponents(ctx context.Context, namespaces []component.Namespace, search *string) (int64, error) {
	n, err := d.read().CountComponents(ctx, words(namespaces), search, d.viewerText())
	return n, mapError(err)
}
