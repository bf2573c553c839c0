// Package archtest holds the tests that keep the architecture true: the direction
// of imports between the layers, and the size of files. It has no other content.
package archtest
