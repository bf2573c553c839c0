package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/kera-lang/kera/core/diag"
	"github.com/kera-lang/kera/pluginapi/host"
)

// defaultConfig is read from the current folder when --config is not given.
const defaultConfig = "kera.yaml"

// config is kera.yaml. Viper folds the case of keys, so every name that a person
// chooses (plugins, targets, options) is a value in a list, never a key.
type config struct {
	file    string         // "" when there is none
	Plugins []pluginConfig `mapstructure:"plugins"`
	Targets []targetConfig `mapstructure:"targets"`
	Cache   cacheConfig    `mapstructure:"cache"`
}

// pluginConfig names a plugin; without a path it is looked for.
type pluginConfig struct {
	Name string `mapstructure:"name"`
	Path string `mapstructure:"path"`
}

// targetConfig is a target to build, with the options for its backend as
// "Name=value" texts.
type targetConfig struct {
	Name    string   `mapstructure:"name"`
	Options []string `mapstructure:"options"`
}

type cacheConfig struct {
	Dir      string `mapstructure:"dir"`
	MaxBytes int64  `mapstructure:"max_bytes"`
	Off      bool   `mapstructure:"off"`
}

// loadConfig reads the file named by --config, or kera.yaml if it is there.
func loadConfig(path string) (*config, error) {
	named := path != ""
	if !named {
		path = defaultConfig
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return &config{}, nil
		}
	}
	v := viper.New()
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	if err := v.ReadInConfig(); err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, mistake("K0700", "%s: the configuration cannot be read", path).Notef("%v", err)
	}
	c := &config{file: path}
	if err := checkKeys(path, v.AllSettings()); err != nil {
		return nil, err
	}
	hook := mapstructure.DecodeHookFuncType(bareName)
	if err := v.Unmarshal(c, viper.DecodeHook(hook), func(dc *mapstructure.DecoderConfig) {
		dc.ErrorUnused = true
		dc.WeaklyTypedInput = false
	}); err != nil {
		return nil, unmarshalMistake(path, err)
	}
	return c, c.validate()
}

// bareName lets a plugin or target be written as just its name.
func bareName(from, to reflect.Type, data any) (any, error) {
	if from.Kind() == reflect.String && (to == reflect.TypeFor[pluginConfig]() || to == reflect.TypeFor[targetConfig]()) {
		return map[string]any{"name": data}, nil
	}
	return data, nil
}

var configKeys = []string{"plugins", "targets", "cache"}

func checkKeys(path string, all map[string]any) error {
	unknown := []string{}
	for k := range all {
		if !slices.Contains(configKeys, k) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	d := mistake("K0701", "%s: unknown key %q", path, unknown[0])
	if near := nearest(unknown[0], configKeys); near != "" {
		return d.Notef("did you mean %q?", near)
	}
	return d.Notef("known keys: %s", strings.Join(configKeys, ", "))
}

// unmarshalMistake turns mapstructure's report into one of ours.
func unmarshalMistake(path string, err error) error {
	text := err.Error()
	if i := strings.Index(text, "has invalid keys: "); i >= 0 {
		key, _, _ := strings.Cut(text[i+len("has invalid keys: "):], "\n")
		return mistake("K0701", "%s: unknown key %q", path, key).Notef("%s", firstLine(text))
	}
	return mistake("K0702", "%s: a value has the wrong form", path).Notef("%s", text)
}

func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "'") || strings.HasPrefix(line, "*") {
			return strings.TrimPrefix(line, "* ")
		}
	}
	return s
}

func (c *config) validate() error {
	seen := map[string]bool{}
	for _, p := range c.Plugins {
		if !host.ValidName(p.Name) {
			return mistake("K0702", "%s: %q is no name for a plugin", c.file, p.Name).
				Notef("a name has lower-case letters, digits and dashes; the path may be anything")
		}
		if seen[p.Name] {
			return mistake("K0702", "%s: the plugin %s is listed twice", c.file, p.Name)
		}
		seen[p.Name] = true
	}
	if c.Cache.MaxBytes < 0 {
		return mistake("K0702", "%s: cache: max_bytes is %d", c.file, c.Cache.MaxBytes)
	}
	for _, t := range c.Targets {
		if t.Name == "" {
			return mistake("K0702", "%s: a target has no name", c.file)
		}
		if _, err := optionMap(t.Options); err != nil {
			return mistake("K0702", "%s: target %s: %v", c.file, t.Name, err)
		}
	}
	return nil
}

// optionMap splits "Name=value" texts.
func optionMap(list []string) (map[string]string, error) {
	m := map[string]string{}
	for _, s := range list {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("option %q is not Name=value", s)
		}
		if _, twice := m[k]; twice {
			return nil, fmt.Errorf("option %s is given twice", k)
		}
		m[k] = v
	}
	return m, nil
}

// path resolves a path of the file relative to the file's own folder.
func (c *config) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(c.file), p)
}

// nearest is what a mistyped name most likely meant, or "".
func nearest(s string, candidates []string) string {
	return diag.Nearest(s, candidates, len(s)/3+1)
}
