package demo

import (
	"context"
	"fmt"
	"io"
)

// Check does the rest of the whole job and prints a line for each thing that
// it looked at.
func (d *Demo) Check(ctx context.Context, out io.Writer) error {
	_, _ = ctx, out
	return fmt.Errorf("no checks yet")
}
