package loop

// Schedule is how a nest runs: decided by the scheduler, carried out by the
// lowering, which decides nothing.
type Schedule struct {
	// Order lists the axes from the outermost loop to the innermost.
	Order []int
	// Vector is the axis whose neighbours are the lanes of vectors, or -1, and
	// Lanes how many. For a nest with folds of order Lanes, FoldLanes says instead
	// that the lanes of vectors are lanes of the fold.
	Vector    int
	Lanes     int
	FoldLanes bool
	// Jam is, for each axis, how many of its trips are computed together, so that
	// what they share is loaded once: the register tile. For the vector axis it
	// counts vectors.
	Jam []int
	// Sums is how many of the 64 lanes of a fold are summed at once when the
	// vector runs over outputs.
	Sums int
	// Unroll says that the nest is written out, trip by trip.
	Unroll bool
	// Grain is how many trips of the outermost axis are worth a task of their own;
	// 0: they stay together.
	Grain int64

	Decisions []Decision
}

// Decision is one choice with what it was weighed against.
type Decision struct {
	What   string // what was to be decided: "vector axis", "jam", ...
	Chosen string
	Cost   float64 // cycles for the nest, by the target's model
	Why    string
	Others []Alternative
}

// Alternative is a choice that was not taken.
type Alternative struct {
	Choice string
	Cost   float64
	Why    string // why it is impossible, or empty: it costs more
}
