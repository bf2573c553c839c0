// Package sdk is what a backend vendor imports: Serve turns typed Go code into
// a plugin process that a Kera host starts.
//
// What Serve guarantees, so that vendor code need not think of it: nothing
// printed to stdout (by Go or by C) reaches the handshake; the process ends
// when its host dies, even by SIGKILL; a cancelled call is answered within a
// second; a panic in vendor code becomes an INTERNAL status, with the stack on
// stderr, and the process lives on; large graphs and artifacts stream.
package sdk
