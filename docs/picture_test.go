package docs_test

import (
	"encoding/xml"
	"os"
	"testing"
)

// textWidth is how wide a character of a text is on average, as a part of the size of its font. DejaVu Sans is one of the
// widest fonts that a browser takes for system-ui, with about 0.55.
const textWidth = 0.58

// The texts of the README's first picture stay within their boxes, and cross none from outside.
func TestTextsOfThePictureStayInTheirBoxes(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("shape.svg")
	if err != nil {
		t.Fatal(err)
	}
	type box struct {
		X      float64 `xml:"x,attr"`
		Y      float64 `xml:"y,attr"`
		Width  float64 `xml:"width,attr"`
		Height float64 `xml:"height,attr"`
	}
	var picture struct {
		Boxes []box `xml:"rect"`
		Texts []struct {
			X     float64 `xml:"x,attr"`
			Y     float64 `xml:"y,attr"`
			Class string  `xml:"class,attr"`
			Text  string  `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(file, &picture); err != nil {
		t.Fatal(err)
	}
	if len(picture.Boxes) < 8 || len(picture.Texts) < 15 {
		t.Fatalf("%d boxes and %d texts: this test would show nothing", len(picture.Boxes), len(picture.Texts))
	}
	for _, text := range picture.Texts {
		size := 14.0
		if text.Class == "s" {
			size = 12
		}
		end := text.X + float64(len([]rune(text.Text)))*size*textWidth
		for _, b := range picture.Boxes {
			if text.Y-size < b.Y || text.Y > b.Y+b.Height { // above or below of it
				continue
			}
			begins, ends := text.X >= b.X && text.X <= b.X+b.Width, end >= b.X && end <= b.X+b.Width
			if begins != ends {
				t.Errorf("%q from %.0f to %.0f crosses the edge of the box from %.0f to %.0f", text.Text, text.X, end, b.X, b.X+b.Width)
			}
		}
	}
}
