package tile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tzzr/context-manager/internal/seal"
)

// entries is the level of a bundle of leaves.
const entries = -1

// maxLevel is the highest level that a path may name.
const maxLevel = 63

// maxGroups is how many groups of three digits a tile's number has at most: 18 digits are fewer than an int64 holds,
// and more than a tree of 2⁶³ leaves has tiles.
const maxGroups = 6

// place says which tile, or which part of one, a path names.
type place struct {
	level int   // entries, or 0 to maxLevel
	n     int64 // number in the level
	width int   // 1 to seal.TileWidth
}

// path gives the place's path.
func (p place) path() string {
	level, n := "entries", fmt.Sprintf("%03d", p.n%1000)
	if p.level != entries {
		level = strconv.Itoa(p.level)
	}
	for rest := p.n / 1000; rest > 0; rest /= 1000 {
		n = fmt.Sprintf("x%03d/%s", rest%1000, n)
	}
	if p.width == seal.TileWidth {
		return "/tile/" + level + "/" + n
	}
	return "/tile/" + level + "/" + n + ".p/" + strconv.Itoa(p.width)
}

// parsePath reads what path gives, and nothing else: every place has one path.
func parsePath(path string) (place, bool) {
	rest, ok := strings.CutPrefix(path, "/tile/")
	level, rest, found := strings.Cut(rest, "/")
	if !ok || !found {
		return place{}, false
	}
	p := place{level: entries, width: seal.TileWidth}
	if level != "entries" {
		if p.level, ok = number(level, 0, maxLevel); !ok {
			return place{}, false
		}
	}
	if number, width, found := strings.Cut(rest, ".p/"); found {
		if p.width, ok = parseWidth(width); !ok {
			return place{}, false
		}
		rest = number
	}
	groups := strings.Split(rest, "/")
	if len(groups) > maxGroups {
		return place{}, false
	}
	for i, group := range groups {
		if i < len(groups)-1 {
			if group, ok = strings.CutPrefix(group, "x"); !ok {
				return place{}, false
			}
		}
		digits, err := strconv.ParseUint(group, 10, 16)
		if err != nil || len(group) != 3 {
			return place{}, false
		}
		p.n = 1000*p.n + int64(digits)
	}
	return p, p.path() == path
}

func parseWidth(text string) (int, bool) { return number(text, 1, seal.TileWidth-1) }

// number reads a decimal number as it is written, within bounds.
func number(text string, least, most int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= least && n <= most && strconv.Itoa(n) == text
}

// covers says whether a tree of a size has all hashes, or leaves, of a place.
func (p place) covers(size int64) bool {
	hashes := size >> (seal.TileHeight * max(p.level, 0)) // 0 for levels that no tree reaches
	if p.n > hashes/seal.TileWidth {
		return false // before the product below can overflow
	}
	return hashes-p.n*seal.TileWidth >= int64(p.width)
}
