package diag

// Codes of the lexer.
const (
	BadCharacter      Code = "K0001"
	InvalidUTF8       Code = "K0002"
	UnclosedComment   Code = "K0003"
	UnclosedString    Code = "K0004"
	BadEscape         Code = "K0005"
	BadNumber         Code = "K0006"
	BadSuffix         Code = "K0007"
	ConfusableControl Code = "K0008"
)

// lexerCodes holds the rows K0000..K0099.
func lexerCodes() []Entry {
	return []Entry{
		{BadCharacter, "this character is not part of Kera",
			"Outside of strings and comments only the characters of the grammar may stand. Names are\nASCII letters, digits and `_`, and do not start with a digit.",
			"fn f(x: i64) -> i64 { x $ 2 }\n", "fn f(x: i64) -> i64 { x * 2 }\n"},
		{InvalidUTF8, "the file is not valid UTF-8",
			"Source files are UTF-8. The bytes at this place form no character. Save the file as UTF-8.",
			"// caf\xe9\n", "// café\n"},
		{UnclosedComment, "this block comment is never closed",
			"`/*` opens a block comment; block comments nest, so each needs its own `*/`.",
			"/* one /* two */\nfn f() -> i64 { 1 }\n", "/* one /* two */ */\nfn f() -> i64 { 1 }\n"},
		{UnclosedString, "this string is never closed",
			"A string ends with `\"` on the line it started on. Write a line break as `\\n`.",
			"const W: f32[2] = embed(\"w.npy)\n", "const W: f32[2] = embed(\"w.npy\")\n"},
		{BadEscape, "unknown escape in a string",
			"Known escapes: `\\n` `\\r` `\\t` `\\\\` `\\\"` `\\0` and `\\u{HEX}` with one to six hex digits naming\na Unicode scalar value.",
			"test \"a\\q\" { assert true }\n", "test \"a\\\\q\" { assert true }\n"},
		{BadNumber, "malformed number",
			"Numbers are decimal (`1_000`, `1.5`, `2e-3`), hexadecimal (`0xff`, `0x1p-3`), octal (`0o17`) or\nbinary (`0b101`). An underscore stands between digits, a point is followed by a digit and an\nexponent has digits. A hexadecimal number with a point needs its `p` exponent.",
			"fn f() -> f64 { 1e }\n", "fn f() -> f64 { 1e3 }\n"},
		{BadSuffix, "unknown suffix of a number",
			"A number may end in the name of its type: `i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64`. A\nnumber with a point or exponent, or with a binary or octal prefix, takes only what fits it.",
			"fn f() -> i64 { 12q }\n", "fn f() -> i64 { 12i64 }\n"},
		{ConfusableControl, "a character that changes the reading direction",
			"Unicode's bidirectional control characters make source read differently from what it says. They\nare refused everywhere, in comments and strings too; write `\\u{202E}` in a string that needs one.",
			"// a\u202eb\n", "// ab\n"},
	}
}
