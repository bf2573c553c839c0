// Package syntax turns the bytes of a source file into a lossless tree.
//
//	bytes -> Lex -> tokens -> parser -> events -> builder -> green tree -> red nodes -> typed views
//
// The lexer (lexer.go) cuts the source into tokens and trivia whose texts
// concatenate to the source, always. The parser (parser.go, parse_*.go) is
// recursive descent for declarations and statements and Pratt for expressions;
// it never fails and builds nothing: it emits Start, Token, Finish and Error
// events (event.go), so that trees of any kind can be made from them. The green
// tree (green.go) is immutable and position free: a node knows its kind, its
// children and its width, equal subtrees are one object. The red tree (tree.go)
// puts positions and parents on top, and the views (ast_*.go) put names on the
// children. After the design of Roslyn's red-green trees and rust-analyzer's
// event parser.
//
// What must hold, for every input whatsoever: tokens concatenate to the source;
// the tree's text is the source; no panic; time linear in the input; the depth
// of the tree is bounded (maxNesting, maxHeight), so later walks may recurse.
package syntax
