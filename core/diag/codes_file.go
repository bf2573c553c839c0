package diag

// fileCodes holds the rows ...
func fileCodes() []Entry {
	return []Entry{}
}
