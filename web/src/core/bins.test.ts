import { describe, expect, it } from 'vitest';
import { MapBins } from './bins';
import { FORBIDDEN, type DecodedMap } from './codec';
import { scales } from './golden';
import type { MaskInfo } from './header';

function mapOf(rows: number, cols: number, levels: number, codes: number[]): DecodedMap {
  const sums = (column: boolean) =>
    Float32Array.from({ length: column ? cols : rows }, (_, at) =>
      codes.reduce((sum, code, i) => ((column ? i % cols : Math.floor(i / cols)) === at && code >= 0 ? sum + code / levels : sum), 0),
    );
  const largest = Math.max(...codes) / levels;
  return { rows, cols, levels, codes: Uint16Array.from(codes, (code) => (code < 0 ? FORBIDDEN : code)), rowSums: sums(false), colSums: sums(true), largest };
}

/** Share and times even of a bin, cell by cell, straight from FIGURES: rows by mean, columns by sum. */
function naive(map: DecodedMap, block: number, r: number, c: number): { share: number; even: number } {
  const { rows, cols, levels, codes } = map;
  const inside = (row: number) => [...Array(cols).keys()].filter((col) => codes[row * cols + col] !== FORBIDDEN);
  let [share, even, count] = [0, 0, 0];
  for (let row = r * block; row < Math.min(rows, (r + 1) * block); ++row) {
    const allowed = inside(row);
    const here = allowed.filter((col) => Math.floor(col / block) === c);
    for (const col of here) share += (codes[row * cols + col] as number) / levels;
    if (here.length > 0) even += here.length / allowed.length;
    ++count;
  }
  return { share: Math.min(1, share / count), even: even / count };
}

describe('bins are those of C++ and of a plain sum', () => {
  it.each(scales.maps.flatMap((map) => map.bins.map((bins) => [`${map.name} in ${bins.block}s`, map, bins] as const)))('%s', (_, golden, { block, weight, timesEven }) => {
    const map = mapOf(golden.rows, golden.cols, golden.levels, golden.codes);
    const bins = new MapBins(map, golden.mask);
    const share = bins.drawn(block, 'weight');
    const even = bins.drawn(block, 'times-even');
    expect([share.rows, share.cols]).toEqual([Math.ceil(map.rows / block), Math.ceil(map.cols / block)]);
    let [least, most] = [Infinity, -Infinity];
    for (let i = 0; i < weight.length; ++i) {
      const [r, c] = [Math.floor(i / share.cols), i % share.cols];
      const own = naive(map, block, r, c);
      if (weight[i] === null) {
        expect([own.even, share.at(r, c), even.at(r, c)]).toEqual([0, Number.NaN, Number.NaN]);
        continue;
      }
      expect(share.at(r, c)).toBeCloseTo(own.share, 6);
      expect(even.at(r, c)).toBeCloseTo(own.share / own.even, 5);
      // Half a step for each column of the bin.
      const step = (0.5 * block) / map.levels + 1e-6;
      expect(Math.abs(share.at(r, c) - (weight[i] as number))).toBeLessThan(step);
      expect(Math.abs(even.at(r, c) - (timesEven[i] as number))).toBeLessThan(step / own.even + 1e-4);
      [least, most] = [Math.min(least, even.at(r, c)), Math.max(most, even.at(r, c))];
    }
    expect([even.least, even.most]).toEqual([least, most]);
    expect(Array.from(even.all())).toEqual(Array.from({ length: weight.length }, (_, i) => Math.fround(even.at(Math.floor(i / even.cols), i % even.cols))));
  });
});

describe('an even map is 1 everywhere', () => {
  const masks: [string, MaskInfo][] = [
    ['open', { offset: 0, behind: null, ahead: null }],
    ['causal', { offset: 0, behind: null, ahead: 0 }],
    ['sliding', { offset: 1, behind: 7, ahead: 2 }],
    ['padded', { offset: 0, behind: null, ahead: null, hiddenKeys: [0, 7, 8, 30] }],
    ['grouped', { offset: 0, behind: null, ahead: null, queryGroups: Array.from({ length: 31 }, (_, i) => i % 3), keyGroups: Array.from({ length: 31 }, (_, i) => i % 3) }],
  ];
  it.each(masks)('%s', (_, mask) => {
    const size = 31;
    const seen = new MapBins(mapOf(size, size, 1, Array<number>(size * size).fill(0)), mask);
    const filled = mapOf(size, size, 60000, Array<number>(size * size).fill(-1));
    for (let row = 0; row < size; ++row) {
      for (let col = 0; col < size; ++col) {
        const p = row + mask.offset;
        const inRange = (mask.behind === null || col >= p - mask.behind) && (mask.ahead === null || col <= p + mask.ahead);
        const inGroup = !mask.keyGroups || mask.keyGroups[col] === mask.queryGroups?.[row];
        if (inRange && inGroup && !mask.hiddenKeys?.includes(col)) filled.codes[row * size + col] = Math.round(60000 / seen.allowed(row));
      }
    }
    filled.rowSums.fill(1);
    for (const block of [1, 2, 3, 8, 31, 40]) {
      const drawn = new MapBins(filled, mask).drawn(block, 'times-even');
      for (const value of drawn.all()) if (!Number.isNaN(value)) expect(Math.abs(value - 1)).toBeLessThan(1e-3);
      expect(drawn.most).toBeGreaterThan(0.99);
    }
  });
});

describe('what is too small for a step', () => {
  // Ten columns, one with 0.9; the rest of the row sums to 0.1 of which no cell has half a step of 1 / 10.
  const map = mapOf(1, 10, 10, [9, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  map.rowSums[0] = 1;
  const bins = new MapBins(map, { offset: 0, behind: null, ahead: null });
  it('is zero as a cell, and in bins what is left of the exact sum, evenly', () => {
    expect(bins.drawn(1, 'weight').at(0, 3)).toBe(0);
    expect(bins.drawn(5, 'weight').at(0, 1)).toBeCloseTo(0.5 / 9, 6);
    expect(bins.drawn(5, 'weight').all().reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
  });
  it('is less than half a step', () => {
    const odd = new MapBins({ ...map, rowSums: Float32Array.of(2) }, { offset: 0, behind: null, ahead: null });
    expect(odd.drawn(3, 'weight').at(0, 1)).toBeCloseTo(0.15, 6);
    const none = new MapBins({ ...map, rowSums: Float32Array.of(0.8) }, { offset: 0, behind: null, ahead: null });
    expect(none.drawn(3, 'weight').at(0, 1)).toBe(0);
  });
});

describe('strongest and positions', () => {
  const map = mapOf(3, 3, 10, [1, -1, -1, 2, 5, -1, 0, 3, 9]);
  const drawn = new MapBins(map, { offset: 0, behind: null, ahead: 0 }).drawn(2, 'weight');
  it('find a bin’s cells', () => {
    expect(drawn.positions(1, 0)).toEqual({ rows: [2, 3], cols: [0, 2] });
    expect(drawn.strongest(0, 0)).toEqual([1, 1]);
    expect(drawn.strongest(1, 1)).toEqual([2, 2]);
    expect(drawn.strongest(0, 1)).toEqual([0, 2]); // nothing is allowed there: its corner
  });
});

describe('line', () => {
  it('counts a row from its own even share, a column from that of each row', () => {
    const bins = new MapBins(mapOf(3, 3, 10, [10, -1, -1, 5, 5, -1, 2, 3, 5]), { offset: 0, behind: null, ahead: 0 });
    expect(Array.from(bins.line(Float32Array.of(0.5, 0.5, Number.NaN), 1, false, 'times-even'))).toEqual([1, 1, Number.NaN]);
    expect(Array.from(bins.line(Float32Array.of(1, 0.5, 0.25), 0, true, 'times-even'))).toEqual([1, 1, 0.75]);
    expect(Array.from(bins.line(Float32Array.of(0.5), 0, false, 'weight'))).toEqual([0.5]);
  });
});
