package main

import (
	"slices"
	"strconv"
	"strings"
)

// assignment is NAME=VALUE from the command line.
type assignment struct{ name, value string }

// assignments parses repeated NAME=VALUE flags, refusing a name given twice.
func assignments(flag string, list []string) ([]assignment, error) {
	what := "PATH"
	if flag == "bind" {
		what = "VALUE"
	}
	out := []assignment{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" || value == "" {
			return nil, usagef("--%s %s: write NAME=%s", flag, s, what)
		}
		if slices.ContainsFunc(out, func(a assignment) bool { return a.name == name }) {
			return nil, usagef("--%s %s: %s is given twice", flag, s, name)
		}
		out = append(out, assignment{name, value})
	}
	return out, nil
}

// bindings parses --bind n=1024,k=3 flags.
func bindings(list []string) (map[string]int64, error) {
	var split []string
	for _, s := range list {
		split = append(split, strings.Split(s, ",")...)
	}
	as, err := assignments("bind", split)
	if err != nil {
		return nil, err
	}
	m := map[string]int64{}
	for _, a := range as {
		n, err := strconv.ParseInt(strings.ReplaceAll(a.value, "_", ""), 10, 64)
		if err != nil || n < 0 {
			return nil, usagef("--bind %s=%s: a dimension is a number from 0", a.name, a.value)
		}
		m[a.name] = n
	}
	return m, nil
}
