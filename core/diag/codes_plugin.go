package diag

// pluginCodes holds the rows ...
func pluginCodes() []Entry {
	return []Entry{}
}
