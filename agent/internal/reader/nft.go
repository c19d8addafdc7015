package reader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// table is the packet filter of Kloigos as the kernel has it.
type table struct {
	hook   string
	chains map[string][]string // hashes of the rules of each chain of a unit, in order
	jumps  map[int]int         // by UID: rules that lead to the chain of the unit
	others []string            // rules of the first chain that lead to no unit
	hooks  map[string]string   // by chain: type, hook, priority and policy
}

// networkChains are those that every packet of a unit with a network of its own goes through, beside the unit's own.
var networkChains = []string{"prerouting", "forward", "units_out", "units_in", "input", "units_to_host"}

// path names those chains, each with a checksum of its hook and its rules.
func (t table) path() string {
	all := make([]string, len(networkChains))
	for i, chain := range networkChains {
		all[i] = chain + ":" + missing
		if rules, ok := t.chains[chain]; ok {
			sum := sha256.Sum256([]byte(t.hooks[chain] + "\n" + strings.Join(rules, " ")))
			all[i] = chain + ":" + hex.EncodeToString(sum[:4])
		}
	}
	return strings.Join(all, " ")
}

func (t table) foreign() string {
	if len(t.others) == 0 {
		return none
	}
	return fmt.Sprintf("%d: %s", len(t.others), strings.Join(t.others[:min(len(t.others), 3)], ", "))
}

// listing is what nft says (libnftables-json(5)).
type listing struct {
	Nftables []struct {
		Chain *struct {
			Name, Type, Hook, Policy string
			Prio                     json.Number
		}
		Rule *struct {
			Chain string
			Expr  []any
		}
	}
}

const (
	outputChain = "output"
	unreadable  = "unreadable"
)

func (r *Reader) readTable(ctx context.Context) table {
	out, err := r.run(ctx, "nft", "--json", "list", "table", "inet", "kloigos")
	var failed *exec.ExitError
	if errors.As(err, &failed) && !bytes.Contains(failed.Stderr, []byte("No such file")) || err != nil && failed == nil {
		return table{hook: unreadable}
	}
	if err != nil {
		return table{hook: missing}
	}
	return tableOf(out)
}

// tableOf is the table that nft lists.
func tableOf(out []byte) table {
	t := table{hook: missing, chains: map[string][]string{}, jumps: map[int]int{}, hooks: map[string]string{}}
	var all listing
	if json.Unmarshal(out, &all) != nil {
		t.hook = unreadable
		return t
	}
	for _, one := range all.Nftables {
		switch {
		case one.Chain != nil:
			hook := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", one.Chain.Type, one.Chain.Hook, one.Chain.Prio, one.Chain.Policy))
			if one.Chain.Name == outputChain {
				t.hook = hook
				continue
			}
			t.hooks[one.Chain.Name] = hook
			if t.chains[one.Chain.Name] == nil {
				t.chains[one.Chain.Name] = []string{}
			}
		case one.Rule != nil && one.Rule.Chain == outputChain:
			t.first(one.Rule.Expr)
		case one.Rule != nil:
			t.chains[one.Rule.Chain] = append(t.chains[one.Rule.Chain], ruleHash(one.Rule.Expr))
		}
	}
	return t
}

// first sorts a rule of the first chain: it leads the packets of one UID to the chain of its unit, or is nobody's.
func (t *table) first(expr []any) {
	var jump struct{ Jump struct{ Target string } }
	if len(expr) == 2 {
		text, _ := json.Marshal(expr[1])
		_ = json.Unmarshal(text, &jump)
	}
	uid, err := strconv.Atoi(strings.TrimPrefix(jump.Jump.Target, "unit_"))
	if err == nil && ruleHash(expr) == ruleHash(jumpOf(uid)) {
		t.jumps[uid]++
		return
	}
	t.others = append(t.others, "rule "+ruleHash(expr))
}

func jumpOf(uid int) []any {
	return []any{
		map[string]any{"match": map[string]any{"op": "==", "left": map[string]any{"meta": map[string]any{"key": "skuid"}}, "right": uid}},
		map[string]any{"jump": map[string]any{"target": fmt.Sprintf("unit_%d", uid)}},
	}
}

// ruleHash is the same for the same rule, whatever it has counted.
func ruleHash(expr []any) string {
	for i, e := range expr {
		if m, ok := e.(map[string]any); ok && m["counter"] != nil {
			expr[i] = map[string]any{"counter": nil}
		}
	}
	text, _ := json.Marshal(expr) // came from JSON; keys are sorted
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
