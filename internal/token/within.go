package token

import "context"

// piece is how many bytes are counted between two looks at a context: some 30 ms.
const piece = 16 << 10

// Within gives a counter that ends with a context, at the next place where a long text can be cut without counting otherwise. A text
// that has no such place, such as one without blanks, is counted to its end.
//
// Faults: those of the counter; or the error of ctx.
func (c Counter) Within(ctx context.Context) Counter {
	return func(text string) (total int, err error) {
		for begin := true; begin || text != ""; begin = false {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			end := cut(text, piece)
			n, err := c(text[:end])
			if err != nil {
				return 0, err
			}
			total, text = total+n, text[end:]
		}
		return total, nil
	}
}

// UpTo counts as Within does, in shorter pieces, and no further once there are more tokens than most: then it gives a number that
// is more than most, and less than the text has.
//
// Faults: those of Within.
func (c Counter) UpTo(ctx context.Context, text string, most int) (total int, err error) {
	for text != "" && total <= most {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		end := cut(text, piece/8)
		n, err := c(text[:end])
		if err != nil {
			return 0, err
		}
		total, text = total+n, text[end:]
	}
	return total, nil
}

// cut gives where a text may be cut, at least so many bytes in: before a blank between two characters of ASCII that are seen. All
// encodings split there before anything else, whatever else is in the text: a blank stands first in a token, or among blanks.
func cut(text string, least int) int {
	for i := max(least, 1); i+1 < len(text); i++ {
		if text[i] == ' ' && isSeen(text[i-1]) && isSeen(text[i+1]) {
			return i
		}
	}
	return len(text)
}

func isSeen(b byte) bool { return '!' <= b && b <= '~' }
