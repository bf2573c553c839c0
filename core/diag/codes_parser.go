package diag

// parserCodes holds the rows K0100..K0199.
func parserCodes() []Entry {
	return []Entry{}
}
