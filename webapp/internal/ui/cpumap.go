package ui

import (
	"slices"
	"strconv"
)

// CPU is one logical CPU of a host and who has it.
type CPU struct {
	Number, Node, Socket, Core int
	Owner                      int    // index in the legend; -1: the system; -2: nobody
	Label                      string // short name of the owner, shown in the cell
	Name                       string // its full name
	Fixed                      bool   // in a map that is edited: stays with its owner
}

// Owners that are no unit.
const (
	OwnerSystem = -1
	OwnerNone   = -2
)

const (
	cellWidth  = 46
	cellHeight = 40
	cellGap    = 4
	nodePad    = 10
	mostAcross = 8
)

// MapSocket is a socket with its NUMA nodes, ready to be drawn.
type MapSocket struct {
	Socket int
	Nodes  []MapNode
}

// MapNode is a NUMA node's part of one socket.
type MapNode struct {
	Node, Width, Height int
	Memory              string
	Cells               []MapCell
}

// MapCell is one CPU's place in its node's drawing.
type MapCell struct {
	X, Y          int
	Class         string
	Number, Label string
	Where         string // core and node
	Place         string // the same with its number
	Title         string // its place and who has it
	Fixed         bool
}

// CPUMap lays CPUs out by socket, node and core; threads of a core are
// neighbours. memory is each node's, already written with its unit.
func CPUMap(cpus []CPU, memory map[int]string) []MapSocket {
	sorted := slices.Clone(cpus)
	slices.SortFunc(sorted, func(a, b CPU) int {
		for _, d := range []int{a.Socket - b.Socket, a.Node - b.Node, a.Core - b.Core, a.Number - b.Number} {
			if d != 0 {
				return d
			}
		}
		return 0
	})
	var sockets []MapSocket
	for _, c := range sorted {
		if len(sockets) == 0 || sockets[len(sockets)-1].Socket != c.Socket {
			sockets = append(sockets, MapSocket{Socket: c.Socket})
		}
		s := &sockets[len(sockets)-1]
		if len(s.Nodes) == 0 || s.Nodes[len(s.Nodes)-1].Node != c.Node {
			s.Nodes = append(s.Nodes, MapNode{Node: c.Node, Memory: memory[c.Node]})
		}
		n := &s.Nodes[len(s.Nodes)-1]
		n.Cells = append(n.Cells, c.cell(len(n.Cells)))
	}
	for i := range sockets {
		for j := range sockets[i].Nodes {
			n := &sockets[i].Nodes[j]
			across := min(len(n.Cells), mostAcross)
			down := (len(n.Cells) + mostAcross - 1) / mostAcross
			n.Width = 2*nodePad + across*(cellWidth+cellGap) - cellGap
			n.Height = 2*nodePad + down*(cellHeight+cellGap) - cellGap
		}
	}
	return sockets
}

func (c CPU) cell(at int) MapCell {
	class, who := "cpu "+OwnerClass(c.Owner), c.Name
	switch c.Owner {
	case OwnerSystem:
		who = "the system"
	case OwnerNone:
		who = "nobody"
	}
	where := "core " + strconv.Itoa(c.Core) + ", node " + strconv.Itoa(c.Node)
	place := "CPU " + strconv.Itoa(c.Number) + ", " + where
	return MapCell{
		X: nodePad + at%mostAcross*(cellWidth+cellGap), Y: nodePad + at/mostAcross*(cellHeight+cellGap),
		Class: class, Number: strconv.Itoa(c.Number), Label: c.Label, Where: where, Place: place, Title: place + ": " + who, Fixed: c.Fixed,
	}
}

// colours is how many unit colours the style sheet has.
const colours = 12

// OwnerClass is the class that colours what belongs to an owner.
func OwnerClass(owner int) string {
	switch owner {
	case OwnerSystem:
		return "own-system"
	case OwnerNone:
		return "own-none"
	default:
		return "own-" + strconv.Itoa(owner%colours)
	}
}
