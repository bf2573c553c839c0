package diag

// resolverCodes holds the rows ...
func resolverCodes() []Entry {
	return []Entry{}
}
