/** Drawing a part of a map into pixels, without a GPU. */

/** Cells, or bins of them, line by line. */
export interface Cells {
  rows: number;
  cols: number;
  /** NaN where the mask forbids. */
  at(row: number, col: number): number;
}

export interface RasterView {
  width: number;
  height: number;
  /** Pixels of the whole map that lie left of and above this part. */
  left: number;
  top: number;
  /** Pixels per cell; need not be whole. */
  cell: number;
  /** Pixels between cells. */
  gap: number;
}

export interface RasterColors {
  /** The pixel of a value. */
  paint(value: number): number;
  /** Ground of forbidden cells, and lines over it. */
  ground: number;
  hatch: number;
  /** Pixels from one hatching line to the next, 0 for none, and how thick they are. */
  period: number;
  thickness: number;
  /** Between cells and outside of the map. */
  page: number;
}

/** For every pixel of a line the row or column that it shows, -1 between cells and outside. */
export function cellsAlong(length: number, offset: number, cell: number, gap: number, count: number): Int32Array {
  return Int32Array.from({ length }, (_, pixel) => {
    const index = Math.floor((pixel + offset) / cell);
    const last = Math.floor((pixel + offset + gap) / cell) !== index;
    return index >= count || (gap > 0 && last) ? -1 : index;
  });
}

/** Fills `out`, width * height pixels. */
export function drawCells(out: Uint32Array, cells: Cells, view: RasterView, colors: RasterColors): void {
  const { width, height } = view;
  const columns = cellsAlong(width, view.left, view.cell, view.gap, cells.cols);
  const rows = cellsAlong(height, view.top, view.cell, view.gap, cells.rows);
  const slant = Math.floor(view.left) + Math.floor(view.top);
  const { period, thickness } = colors;
  const line = new Uint32Array(width);
  const forbidden = new Uint8Array(width);
  let painted = -1; // the row that `line` shows
  for (let y = 0; y < height; ++y) {
    const row = rows[y] as number;
    if (row < 0) {
      out.fill(colors.page, y * width, (y + 1) * width);
      continue;
    }
    if (row !== painted) {
      paintLine(line, forbidden, cells, row, columns, colors);
      painted = row;
    }
    out.set(line, y * width);
    if (period === 0) continue;
    for (let x = 0; x < width; ++x) {
      if (forbidden[x] && (x + y + slant) % period < thickness) out[y * width + x] = colors.hatch;
    }
  }
}

function paintLine(line: Uint32Array, forbidden: Uint8Array, cells: Cells, row: number, columns: Int32Array, colors: RasterColors): void {
  for (let x = 0; x < line.length; ++x) {
    const column = columns[x] as number;
    if (x > 0 && columns[x - 1] === column) {
      line[x] = line[x - 1] as number;
      forbidden[x] = forbidden[x - 1] as number;
      continue;
    }
    const value = column < 0 ? 0 : cells.at(row, column);
    forbidden[x] = Number.isNaN(value) ? 1 : 0;
    line[x] = column < 0 ? colors.page : forbidden[x] ? colors.ground : colors.paint(value);
  }
}
