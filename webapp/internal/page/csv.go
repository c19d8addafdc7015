package page

import "encoding/csv"

// Row writes rows of a file for table programs, in which no text is taken for a formula.
func Row(out *csv.Writer) func(cells ...string) error {
	return func(cells ...string) error {
		for i, cell := range cells {
			cells[i] = harmless(cell)
		}
		return out.Write(cells)
	}
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(cell string) string {
	if cell == "" {
		return cell
	}
	switch cell[0] {
	case '=', '+', '-', '@', '\t', '\r':
		return "'" + cell
	default:
		return cell
	}
}
