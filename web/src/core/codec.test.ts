import { describe, expect, it } from 'vitest';
import { decodeMap, FORBIDDEN, fromBase64, inflate, lineOf, mergeMaps, thumbnailShape, thumbnailShare, type DecodedMap } from './codec';
import { golden } from './golden';

const shape = { rows: 2, cols: 2, levels: 1000 };
const open = { offset: 0, behind: null, ahead: null };

function small(codes: number[]): DecodedMap {
  const sums = new Float32Array(2);
  return { ...shape, codes: Uint16Array.from(codes), rowSums: sums, colSums: sums, largest: 0 };
}

describe('maps that C++ packed', () => {
  it.each(golden.maps.map((map) => [`${map.name}, ${map.levels} levels`, map] as const))('%s', async (_, map) => {
    const decoded = decodeMap(await inflate(fromBase64(map.packed)), map, map.mask);
    expect(Array.from(decoded.codes, (code) => (code === FORBIDDEN ? -1 : code))).toEqual(map.codes);
    expect(Array.from(decoded.rowSums)).toEqual(map.rowSums);
    expect(Array.from(decoded.colSums)).toEqual(map.colSums);
    expect(decoded.largest).toBe(Math.max(...map.codes) / map.levels);
  });

  it.each(golden.maps.map((map) => [map.name, map] as const))('%s: thumbnails have a block for each byte', (_, map) => {
    const [rows, cols] = thumbnailShape(map.rows, map.cols, 32);
    expect(rows * cols).toBe(map.thumbnail.length);
    // Shares of a line of blocks sum to the mean of what its rows sum to.
    const shares = map.thumbnail.map(thumbnailShare);
    const block = Math.max(1, Math.ceil(map.rows / 32));
    for (let line = 0; line < rows; ++line) {
      const sums = map.rowSums.slice(line * block, (line + 1) * block);
      const sum = shares.slice(line * cols, (line + 1) * cols).reduce((all, share) => all + (share || 0), 0);
      expect(sum).toBeCloseTo(sums.reduce((all, each) => all + each, 0) / sums.length, 3);
    }
  });
});

describe('decodeMap', () => {
  it('refuses bytes that do not fit the shape', () => {
    expect(() => decodeMap(new Uint8Array(4 + 16 - 1), shape, open)).toThrow('damaged');
    expect(() => decodeMap(new Uint8Array(4 + 16 + 1), shape, open)).toThrow('damaged');
    expect(decodeMap(new Uint8Array(4 + 16), shape, open).codes).toEqual(new Uint16Array(4));
  });
});

describe('lineOf', () => {
  const map = small([100, FORBIDDEN, 250, 750]);
  it('gives a row, and a column with NaN where nothing is allowed', () => {
    expect(Array.from(lineOf(map, 1, false))).toEqual([0.25, 0.75]);
    expect(Array.from(lineOf(map, 1, true))).toEqual([Number.NaN, 0.75]);
  });
});

describe('mergeMaps', () => {
  const maps = [small([100, FORBIDDEN, 200, 800]), small([300, FORBIDDEN, 600, 400])];
  it('takes the mean or the maximum of each cell and keeps what is forbidden', () => {
    expect(Array.from(mergeMaps(maps, 'mean').codes)).toEqual([200, FORBIDDEN, 400, 600]);
    const most = mergeMaps(maps, 'max');
    expect(Array.from(most.codes)).toEqual([300, FORBIDDEN, 600, 800]);
    expect(most.largest).toBe(0.8);
    expect(most.rowSums[1]).toBeCloseTo(1.4, 6);
    expect(most.colSums[1]).toBeCloseTo(0.8, 6);
  });
});
