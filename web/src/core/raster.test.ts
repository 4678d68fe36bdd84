import { describe, expect, it } from 'vitest';
import { FORBIDDEN, type DecodedMap } from './codec';
import { cellsAlong, drawCells } from './raster';

const sums = new Float32Array(2);
const map: DecodedMap = { rows: 2, cols: 2, levels: 1000, codes: Uint16Array.from([1, FORBIDDEN, 3, 4]), rowSums: sums, colSums: sums, largest: 0 };
const table = Uint32Array.from({ length: 65536 }, (_, code) => 1000 + code);
const colors = { table, hatch: 7, ground: 8, page: 9, period: 4, thickness: 1 };

function draw(view: Partial<Parameters<typeof drawCells>[2]>): number[] {
  const whole = { width: 4, height: 4, left: 0, top: 0, cell: 2, gap: 0, ...view };
  const out = new Uint32Array(whole.width * whole.height);
  drawCells(out, map, whole, colors);
  return Array.from(out);
}

describe('drawCells', () => {
  it('makes squares of the table’s colours and hatches what is forbidden', () => {
    expect(draw({})).toEqual([1001, 1001, 8, 8, 1001, 1001, 8, 7, 1003, 1003, 1004, 1004, 1003, 1003, 1004, 1004]);
  });
  it('draws the part that is scrolled to, hatching in its place', () => {
    expect(draw({ left: 1, top: 1, width: 2, height: 2 })).toEqual([1001, 8, 1003, 1004]);
    expect(draw({ left: 2, top: 0, width: 2, height: 2 })).toEqual([8, 8, 8, 7]);
  });
  it('leaves gaps between cells, and the page outside', () => {
    expect(draw({ gap: 1, width: 5, height: 2 })).toEqual([1001, 9, 8, 9, 9, 9, 9, 9, 9, 9]);
  });
});

describe('cellsAlong', () => {
  it('spreads cells of broken size over all pixels', () => {
    expect(Array.from(cellsAlong(8, 0, 2.5, 0, 3))).toEqual([0, 0, 0, 1, 1, 2, 2, 2]);
  });
});
