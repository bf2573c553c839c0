package diag

import "slices"

// Nearest returns the candidate most like word, for "did you mean", or "" if
// none is within limit edits. Of equally near ones the first in byte order wins,
// whatever the order of candidates.
func Nearest(word string, candidates []string, limit int) string {
	best, at := limit+1, ""
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(word, c); d < best {
			best, at = d, c
		}
	}
	return at
}

// distance is Levenshtein's; names longer than 64 bytes are far from all.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
