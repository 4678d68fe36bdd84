import { describe, expect, it } from 'vitest';
import { cellsAlong, drawCells } from './raster';

const values = [1, Number.NaN, 3, 4];
const map = { rows: 2, cols: 2, at: (row: number, col: number) => values[2 * row + col] as number };
const colors = { paint: (value: number) => 1000 + value, hatch: 7, ground: 8, page: 9, period: 4, thickness: 1 };

function draw(view: Partial<Parameters<typeof drawCells>[2]>, period = 4): number[] {
  const whole = { width: 4, height: 4, left: 0, top: 0, cell: 2, gap: 0, ...view };
  const out = new Uint32Array(whole.width * whole.height);
  drawCells(out, map, whole, { ...colors, period });
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
  it('leaves what is forbidden plain where there are no lines', () => {
    expect(draw({ left: 2, top: 0, width: 2, height: 2 }, 0)).toEqual([8, 8, 8, 8]);
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
