# The commands for people are `run`, `test`, `generate` and `clean`; each does all the set-up it needs, and skips
# what is done. Settings of the server (ADDR, DATABASE_URL, DATA_DIR, ...) come from the environment; see README.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL:

build := .build
server := $(build)/context-manager
console := web/console
npm_done := $(console)/node_modules/.installed
console_done := web/dist/index.html
console_sources := $(shell find $(console) graph/schema -type f -not -path '*/node_modules/*' -not -path '*/e2e/*' \
	-not -path '$(console)/src/api/schema.graphql' -not -name '*.d.ts' -not -name '*.test.ts*' 2>/dev/null) README.md

# Exact versions, as in docs; run from Go's module cache.
sqlc := go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1
staticcheck := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
gqlgen := go run github.com/99designs/gqlgen
generated := graph db/dbgen

.PHONY: help
help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

.PHONY: run
run: export DEMO ?= 1
run: setup-run build ## set up, build and serve on http://127.0.0.1:8080 with the sample log
	@exec $(server)

.PHONY: test
test: setup-test build vet generated test-go test-console test-browser ## set up and check everything
	@echo "make test: everything passed"

.PHONY: generate
generate: ## write the generated Go anew, after a change of the schema or the queries
	$(sqlc) generate -f db/sqlc.yaml
	$(gqlgen) generate

.PHONY: clean
clean: ## remove what was built; the data directory stays
	rm -rf $(build) $(console)/node_modules
	find web/dist -mindepth 1 -not -name .gitkeep -delete

# Set-up. A server that is given a database needs no Postgres here.
.PHONY: setup-run setup-test
setup-run:
	@.ci/setup.sh tools $(if $(DATABASE_URL),,postgres)
setup-test:
	@.ci/setup.sh tools postgres compiler python browser faults

$(npm_done): $(console)/package-lock.json
	@echo "set-up: npm packages of the console"
	@cd $(console) && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

$(console_done): $(npm_done) $(console_sources)
	@echo "build: the console"
	@cd $(console) && npm run --silent build -- --logLevel warn
	@touch $@

.PHONY: build
build: $(console_done) ## build the server with its console
	@echo "build: the server"
	@go build -o $(server) .

# Checks.
.PHONY: vet
vet:
	go vet ./...
	$(staticcheck) ./...

# Generated code is committed; it must be what the generators write.
.PHONY: generated
generated:
	@rm -rf $(build)/generated && mkdir -p $(build)/generated && cp -a --parents $(generated) $(build)/generated
	@$(MAKE) generate
	@for dir in $(generated); do diff -r $(build)/generated/$$dir $$dir || \
		{ echo "$$dir: not what the generators write; the difference is above, commit it" >&2; exit 1; }; done

# One Postgres for the tests of all packages, one package at a time: on a slow machine two would run into limits of time.
.PHONY: test-go
test-go:
	@go build -o $(build)/with-postgres ./db/dbtest/with-postgres
	$(build)/with-postgres go test -race -p 1 -timeout 60m ./...

.PHONY: test-console
test-console: $(npm_done)
	cd $(console) && npm run --silent check && npm run --silent lint && npm run --silent test

.PHONY: test-browser
test-browser: build
	cd $(console) && CONTEXT_MANAGER_BIN=$(abspath $(server)) \
		CHROMIUM=$$(command -v chromium chromium-browser google-chrome | head -n 1) npm run --silent test:browser
