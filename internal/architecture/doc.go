// Package architecture holds no code, only the test that the packages depend on each other as they should:
// inward, with the transport, the database and the models at the edge.
package architecture
