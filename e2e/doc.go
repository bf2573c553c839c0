// Package e2e uses the built binaries as a person would: every test runs kerac,
// the runner and the backends as processes and looks at exit codes, streams,
// files and what is left behind.
//
// What must hold, for every command in every test (world.kerac checks it): no
// panic and no Go stack on stderr, results on stdout alone, with --json exactly
// one JSON value there, and an exit code of the table. And for every test
// (newWorld checks it): no process of ours outlives it and the folder for
// temporary files is empty at its end.
//
// Tests build the binaries once, into a temporary folder. The flag -long adds
// campaigns that take minutes: go test ./e2e -long -v.
package e2e
