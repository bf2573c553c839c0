package diag

// buildCodes holds the rows ...
func buildCodes() []Entry {
	return []Entry{}
}
