package draw

import (
	"cmp"
	"slices"
)

// Measures, in SVG user units.
const (
	nodeFont     = 15.0
	labelFont    = 12.0
	nodePadding  = 18.0
	labelPadding = 8.0
	passWidth    = 6.0
	loopReach    = 34.0
	columnGap    = 22.0
	nodeHeight   = 40.0
	rowGap       = 34.0 // between the middle of a label and the border of a class
	margin       = 28.0
	labelMax     = 32 // bytes of a label; the rest is in its tooltip
)

// sweeps is how often the order within the rows is improved; the crossings
// settle within a few.
const sweeps = 24

// order arranges the vertices of every row so that few lines cross.
func (s *sketch) order() {
	best := s.cloneRows()
	fewest := s.crossings()
	for i := range sweeps {
		if fewest == 0 {
			break
		}
		s.sweep(i%2 == 0)
		if n := s.crossings(); n < fewest {
			best, fewest = s.cloneRows(), n
		}
	}
	s.rows = best
}

func (s *sketch) cloneRows() [][]int {
	rows := make([][]int, len(s.rows))
	for i := range rows {
		rows[i] = slices.Clone(s.rows[i])
	}
	return rows
}

// sweep sorts each row by the mean position of the neighbours in the row before it.
func (s *sketch) sweep(downwards bool) {
	place := s.places()
	for i := range s.rows {
		row := s.rows[i]
		neighbours := func(v int) []int { return s.vertices[v].up }
		if !downwards {
			row = s.rows[len(s.rows)-1-i]
			neighbours = func(v int) []int { return s.vertices[v].down }
		}
		mean := map[int]float64{}
		for at, v := range row {
			mean[v] = float64(at)
			if ns := neighbours(v); len(ns) > 0 {
				sum := 0
				for _, n := range ns {
					sum += place[n]
				}
				mean[v] = float64(sum) / float64(len(ns))
			}
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		for at, v := range row {
			place[v] = at
		}
	}
}

// places returns the index of every vertex within its row.
func (s *sketch) places() []int {
	place := make([]int, len(s.vertices))
	for _, row := range s.rows {
		for at, v := range row {
			place[v] = at
		}
	}
	return place
}

// crossings counts the pairs of lines that cross between neighbouring rows. It
// counts inversions with a Fenwick tree: n log n for n lines.
func (s *sketch) crossings() int {
	place := s.places()
	total := 0
	for r := 0; r+1 < len(s.rows); r++ {
		var ends []int
		for _, v := range s.rows[r] {
			below := slices.Clone(s.vertices[v].down)
			slices.SortFunc(below, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
			for _, w := range below {
				ends = append(ends, place[w])
			}
		}
		total += inversions(ends, len(s.rows[r+1]))
	}
	return total
}

func inversions(values []int, bound int) int {
	tree := make([]int, bound+1)
	count := 0
	for seen, v := range values {
		notGreater := 0
		for i := v + 1; i > 0; i -= i & -i {
			notGreater += tree[i]
		}
		count += seen - notGreater
		for i := v + 1; i <= bound; i += i & -i {
			tree[i]++
		}
	}
	return count
}

// place assigns x. Every vertex wants to stand at the mean of its neighbours; the
// nearest positions that keep the order and the distances of a row are found
// exactly, by pooling.
func (s *sketch) place() {
	for _, row := range s.rows {
		x := 0.0
		for _, v := range row {
			x += s.vertices[v].left
			s.vertices[v].x = x
			x += s.vertices[v].right + columnGap
		}
	}
	const rounds = 24
	for round := range rounds {
		for i := range s.rows {
			row := s.rows[i]
			if round%2 == 1 {
				row = s.rows[len(s.rows)-1-i]
			}
			s.settle(row, round%2 == 0, round == rounds-1)
		}
	}
	leftmost := 0.0
	for i, v := range s.vertices {
		if i == 0 || v.x-v.left < leftmost {
			leftmost = v.x - v.left
		}
	}
	for i := range s.vertices {
		s.vertices[i].x -= leftmost
	}
}

func (s *sketch) settle(row []int, fromAbove, both bool) {
	wish := make([]float64, len(row))
	weight := make([]float64, len(row))
	offset := make([]float64, len(row)) // least distance from the first of the row
	for i, v := range row {
		vx := &s.vertices[v]
		if i > 0 {
			before := &s.vertices[row[i-1]]
			offset[i] = offset[i-1] + before.right + columnGap + vx.left
		}
		neighbours := vx.down
		if fromAbove {
			neighbours = vx.up
		}
		if both {
			neighbours = slices.Concat(vx.up, vx.down)
		}
		wish[i], weight[i] = vx.x, 0.1
		if len(neighbours) > 0 {
			sum := 0.0
			for _, n := range neighbours {
				sum += s.vertices[n].x
			}
			wish[i], weight[i] = sum/float64(len(neighbours)), float64(len(neighbours))
		}
		if vx.node < 0 {
			weight[i] *= 4 // straight lines before centred classes
		}
		wish[i] -= offset[i]
	}
	for i, x := range pool(wish, weight) {
		s.vertices[row[i]].x = x + offset[i]
	}
}

// pool returns the non-decreasing sequence nearest to wish, by weighted squares
// (the pool-adjacent-violators algorithm for isotonic regression).
func pool(wish, weight []float64) []float64 {
	type block struct {
		mean, weight float64
		size         int
	}
	var blocks []block
	for i := range wish {
		blocks = append(blocks, block{wish[i], weight[i], 1})
		for n := len(blocks); n > 1 && blocks[n-2].mean > blocks[n-1].mean; n = len(blocks) {
			a, b := blocks[n-2], blocks[n-1]
			sum := a.weight + b.weight
			blocks = append(blocks[:n-2], block{(a.mean*a.weight + b.mean*b.weight) / sum, sum, a.size + b.size})
		}
	}
	out := make([]float64, 0, len(wish))
	for _, b := range blocks {
		for range b.size {
			out = append(out, b.mean)
		}
	}
	return out
}

// rowY returns the middle of a row.
func rowY(row int) float64 {
	return nodeHeight/2 + float64(row)*(nodeHeight/2+rowGap)
}

// textWidth estimates how wide a text is drawn; sans-serif letters average a
// little more than half their size.
func textWidth(text string, font float64) float64 { return float64(len(text)) * font * 0.6 }

// shorten cuts a label that would spread the drawing.
func shorten(label string) string {
	if len(label) <= labelMax {
		return label
	}
	return label[:labelMax-1] + "…"
}
