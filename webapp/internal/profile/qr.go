package profile

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quiet is how wide the empty frame of a QR code is (ISO/IEC 18004).
const quiet = 4

// code is a QR code as a path of squares of 1, with its frame.
type code struct {
	Path string
	Size int
}

// qrOf draws a text as a QR code. Black runs of a row are one part of the path.
func qrOf(text string) (code, error) {
	drawn, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return code{}, fmt.Errorf("draw a QR code: %w", err)
	}
	n := drawn.Bounds().Dx()
	var path strings.Builder
	for y := range n {
		for x := 0; x < n; {
			from := x
			for x < n && drawn.At(x, y) == color.Black {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
				continue
			}
			x++
		}
	}
	return code{path.String(), n + 2*quiet}, nil
}
