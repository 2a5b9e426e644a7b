module github.com/tzzr/context-manager

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
