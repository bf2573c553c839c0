package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Report is bench.json.
type Report struct {
	Chip     string   `json:"chip"`
	CoreType string   `json:"core_type"` // as OpenBLAS reports it, empty without it
	Section  []string `json:"section_features"`
	Rounds   int      `json:"rounds"`
	Rows     []Row    `json:"rows"`
}

// Row is one measurement. Times are medians over the rounds of one call, in
// nanoseconds; what was not measured is null.
type Row struct {
	Op      string   `json:"op"`
	Size    int      `json:"size"`
	NS      *float64 `json:"ns"`
	Peer    string   `json:"peer"`
	PeerNS  *float64 `json:"peer_ns"`
	Ratio   *float64 `json:"ratio"`  // peer / Kera, median of the rounds
	Spread  *float64 `json:"spread"` // interquartile range of the ratio / its median
	MinNS   *float64 `json:"min_ns"`
	PeerMin *float64 `json:"peer_min_ns"`
	// Difference is the largest difference of the outputs over the largest output: the
	// peers sum in other orders.
	Difference *float64 `json:"difference"`
	Chip       string   `json:"chip"`
	CoreType   string   `json:"core_type,omitempty"` // of an OpenBLAS peer
	Flags      string   `json:"flags"`
	NotChecked string   `json:"not_checked,omitempty"`
}

// print writes the table people read.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "chip      %s\ncore type %s\nsection   %v\n", r.Chip, r.CoreType, r.Section)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "op\tsize\tkera ns\tpeer ns\tratio\tspread\tpeer")
	for _, x := range r.Rows {
		note := ""
		if x.NotChecked != "" {
			note = " (" + x.NotChecked + ")"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s%s\n", x.Op, x.Size, num(x.NS, "%.0f", 1), num(x.PeerNS, "%.0f", 1),
			num(x.Ratio, "%.2fx", 1), num(x.Spread, "%.0f%%", 100), x.Peer, note)
	}
	t.Flush()
}

func num(v *float64, format string, scale float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v*scale)
}
