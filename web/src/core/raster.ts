/** Drawing a part of a map into pixels, without a GPU. */
import { FORBIDDEN, type DecodedMap } from './codec';

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
  /** One pixel per code. */
  table: Uint32Array;
  /** Lines and ground of forbidden cells. */
  hatch: number;
  ground: number;
  /** Between cells and outside of the map. */
  page: number;
  /** Pixels from one hatching line to the next, and how thick they are. */
  period: number;
  thickness: number;
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
export function drawCells(out: Uint32Array, map: DecodedMap, view: RasterView, colors: RasterColors): void {
  const { width, height } = view;
  const columns = cellsAlong(width, view.left, view.cell, view.gap, map.cols);
  const rows = cellsAlong(height, view.top, view.cell, view.gap, map.rows);
  const slant = Math.floor(view.left) + Math.floor(view.top);
  for (let y = 0; y < height; ++y) {
    const row = rows[y] as number;
    const line = y * width;
    if (row < 0) {
      out.fill(colors.page, line, line + width);
      continue;
    }
    const begin = row * map.cols;
    for (let x = 0; x < width; ++x) {
      const column = columns[x] as number;
      const code = column < 0 ? -1 : (map.codes[begin + column] as number);
      if (code < 0) out[line + x] = colors.page;
      else if (code === FORBIDDEN) {
        out[line + x] = (x + y + slant) % colors.period < colors.thickness ? colors.hatch : colors.ground;
      } else out[line + x] = colors.table[code] as number;
    }
  }
}
