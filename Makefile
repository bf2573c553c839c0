# What a person types. `make demo` and `make test` need Go and nothing else that
# they do not install themselves, or name in one line.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

GO      ?= go
# The same source gives the same bytes in any folder: paths are trimmed, and the
# state of the checkout is not stamped. Only `kerac version` names the commit.
VERSION := $(shell git describe --tags --always --dirty --abbrev=12 2>/dev/null || echo unknown)
FLAGS   := -trimpath -buildvcs=false
LDFLAGS := -s -w -buildid=
export CGO_ENABLED := 0
export GOFLAGS := -buildvcs=false
# Tools are pinned in tools/go.mod, apart from the product's own dependencies.
TOOL    := $(GO) tool -modfile=tools/go.mod
# Backends: one main package each. The faulty one is for tests only.
PLUGINS := $(filter-out faulty,$(notdir $(patsubst %/main.go,%,$(wildcard plugins/*/main.go))))

.PHONY: build test test-fusing kegcheck lint demo bench bench-compile fuzz campaign clean deps-test go-present

go-present:
	@command -v $(GO) >/dev/null || { echo "Go is missing: type 'apt-get install golang' or unpack the release named in go.mod" >&2; exit 1; }

build: go-present
	@mkdir -p bin
	$(GO) build $(FLAGS) -ldflags '$(LDFLAGS) -X main.version=$(VERSION)' -o bin/kerac ./cmd/kerac
	$(GO) build $(FLAGS) -ldflags '$(LDFLAGS)' -o bin/kera-runner ./cmd/kera-runner
	@for p in $(PLUGINS); do \
	  echo "$(GO) build $(FLAGS) -o bin/kera-backend-$$p ./plugins/$$p"; \
	  $(GO) build $(FLAGS) -ldflags '$(LDFLAGS)' -o bin/kera-backend-$$p ./plugins/$$p; \
	done

# objdump checks the instruction encoders, python3 runs the independent verifier.
deps-test:
	@need=(); \
	command -v objdump >/dev/null || need+=(binutils); \
	command -v python3 >/dev/null || need+=(python3); \
	if (( $${#need[@]} )); then \
	  if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null; then \
	    echo "installing $${need[*]}" >&2; apt-get update -qq >&2; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${need[@]}" >&2; \
	  else echo "missing: type 'sudo apt-get install $${need[*]}'" >&2; exit 1; fi; \
	fi

test: build deps-test
	$(GO) vet ./...
	$(GO) test ./...
	@$(MAKE) --no-print-directory test-fusing
	@$(MAKE) --no-print-directory kegcheck

# Every digest of the example artefacts, and of the golden ones, is recomputed by
# a verifier that shares no line with the product.
kegcheck: build deps-test
	@mkdir -p out/check
	@for e in digits var pid; do \
	  bin/kerac build -q examples/$$e/$$e.kera -o out/check/$$e.keg --config examples/kera.yaml; \
	done
	python3 tools/kegcheck.py out/check/*.keg $$(find core -name '*.keg' | sort)

# Go may fuse x*y + z where the processor can: the reference must give the same
# bits when it is compiled for one that does.
test-fusing: go-present
	@if grep -qw fma /proc/cpuinfo 2>/dev/null && grep -qw avx2 /proc/cpuinfo && grep -qw bmi2 /proc/cpuinfo; then \
	  echo "GOAMD64=v3 $(GO) test ./core/numeric ./core/interp ./midend"; GOAMD64=v3 $(GO) test ./core/numeric ./core/interp ./midend; \
	else echo "not checked: the reference compiled with fused multiply-adds (the processor has none)"; fi

lint: go-present
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [[ -z $$bad ]] || { echo "not gofmt: $$bad" >&2; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) buf lint

demo: build
	@$(GO) run $(FLAGS) ./examples/demo

bench-compile: build
	$(GO) run ./bench/compile

bench: build
	$(GO) run ./bench -o bench.json

# Ten minutes on each target; FUZZTIME=30s for a quick look.
FUZZTIME ?= 10m
fuzz: go-present
	@grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do \
	  grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go | sed 's/func //' | while read -r f; do \
	    echo "$$dir $$f"; $(GO) test $$dir -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME); \
	  done; \
	done

# Random source programs on every target: make campaign N=5000 SEED=1.
N    ?= 1000
SEED ?= 1
campaign: go-present
	KERA_CAMPAIGN=$(N) KERA_SEED=$(SEED) $(GO) test . -run '^TestCampaign$$' -count=1 -v -timeout 0

clean:
	rm -rf bin out bench.json
