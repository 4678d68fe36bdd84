import { describe, expect, it } from 'vitest';
import type { MaskInfo } from '../header';
import { keyFilter, keyRange } from '../mask';
import { MASKED, decodeEven, encode16 } from './code';
import { EvenAttention, evenCodes } from './even';
import { emptyTile } from './tile';

const MASKS: [string, MaskInfo][] = [
  ['all', { offset: 0, behind: null, ahead: null }],
  ['causal', { offset: 0, behind: null, ahead: 0 }],
  ['sliding', { offset: 2, behind: 5, ahead: 0 }],
  ['padded', { offset: 0, behind: null, ahead: null, hiddenKeys: [4, 20] }],
  ['windows', { offset: 0, behind: null, ahead: null, queryGroups: groups(41), keyGroups: groups(41) }],
];

function groups(count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.floor(i / 6));
}

function sees(mask: MaskInfo, row: number, col: number, cols: number): boolean {
  const [begin, end] = keyRange(mask, row, cols);
  const filter = keyFilter(mask);
  return col >= begin && col < end && (!filter || filter(row, col));
}

describe.each(MASKS)('even attention, %s', (_, mask) => {
  const size = 41;
  for (const level of [0, 1, 2, 3]) {
    it(`is counted as cell by cell at level ${level}, and an even map is 1 everywhere`, () => {
      const apart = level === 2 ? [0] : [];
      const even = new EvenAttention(mask, size, size, apart);
      const block = 2 ** level;
      const bins = Math.ceil(size / block);
      const tile = emptyTile(level, 0, 0, bins, bins);
      const wanted: (number | null)[] = [];
      for (let r = 0; r < bins; ++r) {
        for (let c = 0; c < bins; ++c) {
          const rows = Math.min(size, (r + 1) * block) - r * block;
          let share = 0;
          let cells = 0;
          let sum = 0;
          for (let i = r * block; i < r * block + rows; ++i) {
            let all = 0;
            for (let j = 0; j < size; ++j) if (sees(mask, i, j, size)) ++all;
            for (let j = c * block; j < Math.min(size, (c + 1) * block); ++j) {
              if (!sees(mask, i, j, size) || apart.includes(j)) continue;
              ++cells;
              share += 1 / all / rows;
              sum += 1 / all;
            }
          }
          const got = even.bin(r * block, r * block + rows, c * block, Math.min(size, (c + 1) * block));
          expect(got.cells).toBe(cells);
          expect(got.share).toBeCloseTo(share, 10);
          tile.codes[r * bins + c] = cells > 0 ? encode16(sum / cells) : MASKED;
          wanted.push(cells > 0 ? 1 : null);
        }
      }
      evenCodes(tile, even).forEach((code, at) => {
        if (wanted[at] === null) expect(code).toBe(MASKED);
        else expect(decodeEven(code)).toBeCloseTo(1, 2);
      });
    });
  }
});
