module github.com/tzzr/context-manager

go 1.26
