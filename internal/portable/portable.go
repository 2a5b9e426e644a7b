// Package portable reckons logarithms and exponentials to the same digits on every processor. Those of package math are
// assembly on some, and on others Go fuses a product with the sum it goes into, which rounds once instead of twice: two
// servers of one log would give other scores. Here each product is rounded by a conversion, as the language has it.
//
// It never does anything else: what is only sums, quotients and square roots is the same everywhere.
package portable

import "math"

const (
	ln2High = 6.93147180369123816490e-01 // ln 2 in two parts, of which the first has few digits
	ln2Low  = 1.90821492927058770002e-10
)

// Log gives ln x of a finite x > 0, by FreeBSD's e_log.c: x = 2^k·(1+f), √½ ≤ 1+f < √2, and with s = f/(2+f)
//
//	ln(1+f) = f − f²/2 + s·(f²/2 + R),  R = L1·s² + L2·s⁴ + … + L7·s¹⁴
//
// The error is less than one unit in the last place.
func Log(x float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction += fraction
		exponent--
	}
	f, k := fraction-1, float64(exponent)
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	odd := float64(s2 * (l1 + float64(s4*(l3+float64(s4*(l5+float64(s4*l7)))))))
	even := float64(s4 * (l2 + float64(s4*(l4+float64(s4*l6)))))
	half := float64(float64(0.5*f) * f)
	return float64(k*ln2High) - ((half - (float64(s*(half+(odd+even))) + float64(k*ln2Low))) - f)
}

// Exp gives e^x for x ≤ 0, by FreeBSD's e_exp.c: x = k·ln 2 + r, |r| ≤ ln 2 / 2, and
//
//	e^r = 1 + r + r·c/(2−c),  c = r − r²·(P1 + P2·r² + … + P5·r⁸)
//
// The error is less than one unit in the last place. What is too small for a number is 0.
func Exp(x float64) float64 {
	const (
		p1    = 1.66666666666666657415e-01
		p2    = -2.77777777770155933842e-03
		p3    = 6.61375632143793436117e-05
		p4    = -1.65339022054652515390e-06
		p5    = 4.13813679705723846039e-08
		least = -745.13321910194122 // below, e^x is nearer to 0 than to the smallest number
	)
	if x < least {
		return 0
	}
	k := math.Trunc(float64(x*math.Log2E) - 0.5)
	high, low := x-float64(k*ln2High), float64(k*ln2Low)
	r := high - low
	r2 := float64(r * r)
	c := r - float64(r2*(p1+float64(r2*(p2+float64(r2*(p3+float64(r2*(p4+float64(r2*p5)))))))))
	return math.Ldexp(1-((low-float64(r*c)/(2-c))-high), int(k))
}
