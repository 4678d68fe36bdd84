/** The part of an axis that is a picture: its last rows * cols positions, line by line. */
import type { AxisInfo } from './header';

export interface Grid {
  rows: number;
  cols: number;
  /** The axis's index of the first cell; what comes before is no part of the picture. */
  begin: number;
}

export function gridOf(axis: AxisInfo): Grid | null {
  if (!axis.grid) return null;
  const [rows, cols] = axis.grid;
  return { rows, cols, begin: axis.labels.length - rows * cols };
}

/** The cell under a point of the picture, both from 0 to 1. */
export function cellAt(grid: Grid, x: number, y: number): number {
  const place = (share: number, count: number) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  return grid.begin + place(y, grid.rows) * grid.cols + place(x, grid.cols);
}

/** Row and column of a position, null where it is no cell. */
export function placeOf(grid: Grid, index: number): { row: number; col: number } | null {
  const cell = index - grid.begin;
  if (cell < 0 || cell >= grid.rows * grid.cols) return null;
  return { row: Math.floor(cell / grid.cols), col: cell % grid.cols };
}

/** Where arrow keys lead: over the picture as it lies; its first line is left upwards. */
export function stepOver(grid: Grid, now: number, dx: number, dy: number): number {
  const place = placeOf(grid, now);
  if (!place) {
    if (dy > 0) return grid.begin;
    return Math.max(0, Math.min(grid.begin, now + dx + (dy < 0 ? -1 : 0)));
  }
  if (dy < 0 && place.row === 0 && grid.begin > 0) return grid.begin - 1;
  const row = Math.max(0, Math.min(grid.rows - 1, place.row + dy));
  const col = Math.max(0, Math.min(grid.cols - 1, place.col + dx));
  return grid.begin + row * grid.cols + col;
}

/** What of a line lies beside the picture. The rest of its exact sum is on it: many weights that are too small for a step add up. */
export function massBeside(grid: Grid, line: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < grid.begin; ++i) sum += line[i] || 0;
  return sum;
}

export function largestOn(grid: Grid, line: ArrayLike<number>): number {
  let most = 0;
  for (let i = grid.begin; i < line.length; ++i) most = Math.max(most, line[i] || 0);
  return most;
}
