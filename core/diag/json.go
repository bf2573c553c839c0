package diag

import "encoding/json"

type jsonSpan struct {
	File     string   `json:"file"`
	Start    int      `json:"start"`
	End      int      `json:"end"`
	From     Position `json:"from"`
	To       Position `json:"to"`
	Message  string   `json:"message,omitempty"`
	EditText *string  `json:"text,omitempty"`
}

type jsonFix struct {
	Message string      `json:"message"`
	Edits   []*jsonSpan `json:"edits"`
}

type jsonDiagnostic struct {
	Severity Severity    `json:"severity"`
	Code     Code        `json:"code"`
	Message  string      `json:"message"`
	Primary  *jsonSpan   `json:"primary,omitempty"`
	Labels   []*jsonSpan `json:"labels,omitempty"`
	Notes    []string    `json:"notes,omitempty"`
	Fix      *jsonFix    `json:"fix,omitempty"`
}

func toJSON(s Span, message string) *jsonSpan {
	if !s.IsValid() {
		return nil
	}
	return &jsonSpan{File: s.File.Name, Start: s.Start, End: s.End, Message: message,
		From: s.File.Position(s.Start), To: s.File.Position(s.End)}
}

// MarshalJSON gives the stable machine form: byte offsets and positions both.
func (d *Diagnostic) MarshalJSON() ([]byte, error) {
	j := jsonDiagnostic{Severity: d.Severity, Code: d.Code, Message: d.Message,
		Primary: toJSON(d.Primary, d.PrimaryLabel), Notes: d.Notes}
	for _, l := range d.Labels {
		if s := toJSON(l.Span, l.Message); s != nil {
			j.Labels = append(j.Labels, s)
		}
	}
	if d.Fix != nil {
		f := &jsonFix{Message: d.Fix.Message, Edits: []*jsonSpan{}}
		for _, e := range d.Fix.Edits {
			if s := toJSON(e.Span, ""); s != nil {
				s.EditText = &e.Text
				f.Edits = append(f.Edits, s)
			}
		}
		j.Fix = f
	}
	return json.Marshal(j)
}
