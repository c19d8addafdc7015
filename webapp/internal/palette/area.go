package palette

import (
	"kloigos/webapp/internal/page"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
}
