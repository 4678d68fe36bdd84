import { describe, expect, it } from 'vitest';
import { cellAt, gridOf, largestOn, massBeside, placeOf, stepOver, type Grid } from './grid';
import type { AxisInfo } from './header';

const axis = (labels: number, grid?: [number, number]): AxisInfo => ({
  name: 'patches',
  labels: Array.from({ length: labels }, (_, i) => String(i)),
  names: [],
  special: [],
  read: [],
  ...(grid ? { grid } : {}),
});
const grid: Grid = { rows: 2, cols: 3, begin: 2 };

describe('the grid of an axis', () => {
  it('is its last positions', () => {
    expect(gridOf(axis(8, [2, 3]))).toEqual(grid);
    expect(gridOf(axis(8))).toBeNull();
  });
  it('has a cell under every point', () => {
    expect(cellAt(grid, 0, 0)).toBe(2);
    expect(cellAt(grid, 0.99, 0.49)).toBe(4);
    expect(cellAt(grid, 0.34, 0.5)).toBe(6);
    expect(cellAt(grid, 1, 1)).toBe(7); // the edge belongs to the last cell
    expect(cellAt(grid, -0.1, 2)).toBe(5);
  });
  it('knows where a position lies', () => {
    expect(placeOf(grid, 6)).toEqual({ row: 1, col: 1 });
    expect(placeOf(grid, 1)).toBeNull();
    expect(placeOf(grid, 8)).toBeNull();
  });
  it('is walked as it lies', () => {
    expect(stepOver(grid, 3, 0, 1)).toBe(6);
    expect(stepOver(grid, 3, -10, 0)).toBe(2);
    expect(stepOver(grid, 4, 1, 0)).toBe(4); // no step around the edge
    expect(stepOver(grid, 6, 0, 10)).toBe(6);
  });
  it('is left upwards and entered downwards', () => {
    expect(stepOver(grid, 3, 0, -1)).toBe(1);
    expect(stepOver(grid, 1, 0, 1)).toBe(2);
    expect(stepOver(grid, 0, 1, 0)).toBe(1);
    expect(stepOver(grid, 1, 1, 0)).toBe(2);
    expect(stepOver({ ...grid, begin: 0 }, 1, 0, -1)).toBe(1);
  });
  it('has a share of a line', () => {
    const line = [0.25, 0.125, 0.125, Number.NaN, 0.25, 0, 0.125, 0];
    expect(massBeside(grid, line)).toBeCloseTo(0.375, 12);
    expect(largestOn(grid, line)).toBe(0.25);
  });
});
