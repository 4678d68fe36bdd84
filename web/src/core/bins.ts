/** A map as it is drawn: cell by cell, or in bins of so many positions a side, rows by mean and columns by sum (fovea/atlas/merged_map.cc). */
import { FORBIDDEN, type DecodedMap } from './codec';
import { endsOf, type MapValue } from './drawing';
import type { MaskInfo } from './header';
import { keyCounter, keyRange } from './mask';

interface Rows {
  mask: MaskInfo;
  /** How many columns each row may see. */
  allowed: Float64Array;
  /** What a cell too small for a step counts in a bin, so that bins keep the exact sum of the row: an even part of what is left of it, but less than half a step. */
  dust: Float64Array;
}

export class DrawnMap {
  readonly rows: number;
  readonly cols: number;
  /** The least and the largest value. */
  readonly least: number;
  readonly most: number;
  private readonly values: Float32Array | null;

  /** Times even is share over even attention's share of a bin; both sum over columns, so that even attention is 1 at any size. */
  constructor(
    private readonly map: DecodedMap,
    private readonly rowsOf: Rows,
    readonly block: number,
    readonly of: MapValue,
  ) {
    this.rows = Math.ceil(map.rows / block);
    this.cols = Math.ceil(map.cols / block);
    this.values = block > 1 ? binned(map, rowsOf, block, of) : null;
    [this.least, this.most] = this.values ? endsOf(this.values) : this.endsOfCells();
  }

  /** NaN: the mask forbids all of it. */
  at(row: number, col: number): number {
    if (this.values) return this.values[row * this.cols + col] as number;
    const code = this.map.codes[row * this.map.cols + col] as number;
    if (code === FORBIDDEN) return Number.NaN;
    const weight = code / this.map.levels;
    return this.of === 'times-even' ? weight * (this.rowsOf.allowed[row] as number) : weight;
  }

  /** All values, line by line. */
  all(): Float32Array {
    return this.values ?? Float32Array.from({ length: this.rows * this.cols }, (_, i) => this.at(Math.floor(i / this.cols), i % this.cols));
  }

  /** The positions of a bin. */
  positions(row: number, col: number): { rows: [number, number]; cols: [number, number] } {
    const span = (bin: number, size: number): [number, number] => [bin * this.block, Math.min(size, (bin + 1) * this.block)];
    return { rows: span(row, this.map.rows), cols: span(col, this.map.cols) };
  }

  /** The cell of a bin with the largest weight. */
  strongest(row: number, col: number): [number, number] {
    const { rows, cols } = this.positions(row, col);
    let best: [number, number] = [rows[0], cols[0]];
    let most = -1;
    for (let i = rows[0]; i < rows[1]; ++i) {
      for (let j = cols[0]; j < cols[1]; ++j) {
        const code = this.map.codes[i * this.map.cols + j] as number;
        if (code !== FORBIDDEN && code > most) [best, most] = [[i, j], code];
      }
    }
    return best;
  }

  private endsOfCells(): [number, number] {
    let least = Infinity;
    let most = -Infinity;
    for (let row = 0; row < this.rows; ++row) {
      const [low, high] = endsOfRow(this.map, this.rowsOf.mask, row);
      if (low > high) continue;
      const times = this.of === 'times-even' ? (this.rowsOf.allowed[row] as number) : 1;
      least = Math.min(least, (low / this.map.levels) * times);
      most = Math.max(most, (high / this.map.levels) * times);
    }
    return least <= most ? [least, most] : [0, 0];
  }
}

/** Draws one map in bins of different sizes; the last few are kept. */
export class MapBins {
  private readonly rows: Rows;
  private readonly kept: DrawnMap[] = [];

  constructor(
    private readonly map: DecodedMap,
    mask: MaskInfo,
  ) {
    this.rows = rowsOf(map, mask);
  }

  drawn(block: number, of: MapValue): DrawnMap {
    const at = this.kept.findIndex((each) => each.block === block && each.of === of);
    const [found] = at >= 0 ? this.kept.splice(at, 1) : [new DrawnMap(this.map, this.rows, block, of)];
    this.kept.push(found as DrawnMap);
    if (this.kept.length > 3) this.kept.shift();
    return found as DrawnMap;
  }

  /** How many columns a row may see. */
  allowed(row: number): number {
    return this.rows.allowed[row] as number;
  }

  /** A row or column in what is drawn of its cells. */
  line(weights: Float32Array, index: number, column: boolean, of: MapValue): Float32Array {
    if (of === 'weight') return weights;
    return weights.map((weight, other) => weight * this.allowed(column ? other : index));
  }
}

/** The least and the largest code of a row. */
function endsOfRow({ cols, codes }: DecodedMap, mask: MaskInfo, row: number): [number, number] {
  const [first, last] = keyRange(mask, row, cols);
  let least = FORBIDDEN;
  let most = -1;
  for (let i = row * cols + first; i < row * cols + last; ++i) {
    const code = codes[i] as number;
    if (code === FORBIDDEN) continue;
    if (code < least) least = code;
    if (code > most) most = code;
  }
  return [least, most];
}

function rowsOf(map: DecodedMap, mask: MaskInfo): Rows {
  const counter = keyCounter(mask, map.cols);
  const allowed = Float64Array.from({ length: map.rows }, (_, row) => counter(row, 0, map.cols));
  const dust = Float64Array.from({ length: map.rows }, (_, row) => {
    let sum = 0;
    let zeros = 0;
    const [first, last] = keyRange(mask, row, map.cols);
    for (let i = row * map.cols + first; i < row * map.cols + last; ++i) {
      const code = map.codes[i] as number;
      if (code === 0) ++zeros;
      else if (code !== FORBIDDEN) sum += code;
    }
    const left = (map.rowSums[row] as number) - sum / map.levels;
    return zeros > 0 ? Math.min(Math.max(left / zeros, 0), 0.5 / map.levels) : 0;
  });
  return { mask, allowed, dust };
}

function binned(map: DecodedMap, { mask, dust }: Rows, block: number, of: MapValue): Float32Array {
  const { rows, cols, levels, codes } = map;
  const across = Math.ceil(cols / block);
  const down = Math.ceil(rows / block);
  const even = evenShares(mask, rows, cols, block, block);
  const values = new Float32Array(down * across);
  const sums = new Float64Array(across);
  for (let r = 0; r < down; ++r) {
    const last = Math.min(rows, (r + 1) * block);
    sums.fill(0);
    for (let row = r * block; row < last; ++row) {
      const none = (dust[row] as number) * levels;
      const [begin, seen] = keyRange(mask, row, cols);
      let i = row * cols + begin;
      for (let c = Math.floor(begin / block); c * block < seen; ++c) {
        const end = row * cols + Math.min(seen, (c + 1) * block);
        let sum = 0;
        for (; i < end; ++i) {
          const code = codes[i] as number;
          if (code !== FORBIDDEN) sum += code === 0 ? none : code;
        }
        sums[c] = (sums[c] as number) + sum;
      }
    }
    for (let c = 0; c < across; ++c) {
      // Steps are rounded, so that they may sum to a little more than 1.
      const share = Math.min(1, (sums[c] as number) / levels / (last - r * block));
      const expected = even[r * across + c] as number;
      values[r * across + c] = expected === 0 ? Number.NaN : of === 'times-even' ? share / expected : share;
    }
  }
  return values;
}

/** What even attention gives to each bin: the mean over its rows of the share of their allowed columns that lie in it. */
export function evenShares(mask: MaskInfo, rows: number, cols: number, rowBlock: number, colBlock: number): Float64Array {
  const counter = keyCounter(mask, cols);
  const across = Math.ceil(cols / colBlock);
  const down = Math.ceil(rows / rowBlock);
  const even = new Float64Array(down * across);
  for (let row = 0; row < rows; ++row) {
    const all = counter(row, 0, cols);
    if (all === 0) continue;
    const r = Math.floor(row / rowBlock);
    const share = 1 / all / (Math.min(rows, (r + 1) * rowBlock) - r * rowBlock);
    const [first, last] = keyRange(mask, row, cols);
    for (let c = Math.floor(first / colBlock); c * colBlock < last; ++c) {
      even[r * across + c] = (even[r * across + c] as number) + share * counter(row, c * colBlock, Math.min(cols, (c + 1) * colBlock));
    }
  }
  return even;
}
