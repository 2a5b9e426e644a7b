package db

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/tzzr/context-manager/internal/fault"
)

// Scratch makes an empty database for a while, beside the one at address, which stays as it is. It gives the new
// one's address, and a function that drops it with whatever is connected to it.
func Scratch(ctx context.Context, address string) (scratch string, drop func(context.Context) error, err error) {
	target, err := url.Parse(address)
	if err != nil || target.Scheme != "postgres" && target.Scheme != "postgresql" {
		return "", nil, fault.New(fault.BadUserInput, "DATABASE_URL is not of the form postgres://…")
	}
	name := "cm_eval_" + strings.ToLower(rand.Text())
	if err := execute(ctx, address, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return "", nil, fault.Wrap(err, fault.Unavailable, "cannot make a scratch database")
	}
	target.Path = "/" + name
	return target.String(), func(ctx context.Context) error {
		return execute(ctx, address, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	}, nil
}

// execute runs one statement on a connection of its own: these are not allowed in transactions.
func execute(ctx context.Context, address, sql string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	return err
}
