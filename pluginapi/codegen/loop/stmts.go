package loop

func (a Affine) uses(dst []Value) []Value {
	for _, t := range a.Terms {
		dst = append(dst, t.Val)
	}
	return dst
}

func (s *Const) Defs(dst []Value) []Value { return append(dst, s.Out) }
func (s *Const) Uses(dst []Value) []Value { return dst }
func (s *Const) Blocks() []*Block         { return nil }

func (s *Op) Defs(dst []Value) []Value { return append(dst, s.Out) }
func (s *Op) Uses(dst []Value) []Value { return append(dst, s.Args...) }
func (s *Op) Blocks() []*Block         { return nil }

func (s *Index) Defs(dst []Value) []Value { return append(dst, s.Out) }
func (s *Index) Uses(dst []Value) []Value { return s.At.uses(dst) }
func (s *Index) Blocks() []*Block         { return nil }

func (s *Clamp) Defs(dst []Value) []Value { return append(dst, s.Out) }
func (s *Clamp) Uses(dst []Value) []Value { return append(dst, s.In) }
func (s *Clamp) Blocks() []*Block         { return nil }

func (s *Load) Defs(dst []Value) []Value { return append(dst, s.Out) }
func (s *Load) Uses(dst []Value) []Value { return s.At.uses(dst) }
func (s *Load) Blocks() []*Block         { return nil }

func (s *Store) Defs(dst []Value) []Value { return dst }
func (s *Store) Uses(dst []Value) []Value { return append(s.At.uses(dst), s.Val) }
func (s *Store) Blocks() []*Block         { return nil }

// Defs of a For are the results of its folds; its axes belong to its body.
func (s *For) Defs(dst []Value) []Value {
	for _, f := range s.Folds {
		dst = append(dst, f.Out)
	}
	return dst
}
func (s *For) Uses(dst []Value) []Value { return dst }
func (s *For) Blocks() []*Block         { return []*Block{s.Body} }

func (s *Loop) Defs(dst []Value) []Value {
	for _, c := range s.Carry {
		dst = append(dst, c.Out)
	}
	return append(dst, s.Trips)
}

func (s *Loop) Uses(dst []Value) []Value {
	for _, c := range s.Carry {
		dst = append(dst, c.Init)
	}
	if s.Bound != NoValue {
		dst = append(dst, s.Bound)
	}
	return dst
}

func (s *Loop) Blocks() []*Block {
	if s.Cond == nil {
		return []*Block{s.Body}
	}
	return []*Block{s.Cond, s.Body}
}

func (s *Switch) Defs(dst []Value) []Value { return append(dst, s.Out...) }
func (s *Switch) Uses(dst []Value) []Value { return append(dst, s.Sel) }
func (s *Switch) Blocks() []*Block         { return s.Arms }
