package diag

// typesCodes holds the rows ...
func typesCodes() []Entry {
	return []Entry{}
}
