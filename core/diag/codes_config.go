package diag

// configCodes holds the rows ...
func configCodes() []Entry {
	return []Entry{}
}
