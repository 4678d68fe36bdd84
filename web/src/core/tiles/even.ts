/** What even attention gives to the bins of a tile, in closed form, and a tile's codes as times even. */
import type { MaskInfo } from '../header';
import { keyCounter, keyRange, type KeyCounter } from '../mask';
import { MASKED, evenShift, shifted } from './code';
import type { Tile } from './tile';

/** Of one map: counts allowed columns, without those that are drawn apart. */
export class EvenAttention {
  private readonly counter: KeyCounter;
  private readonly apart: readonly number[];
  /** Sums of 1 / allowed before each row. */
  private readonly inverse: Float64Array;

  constructor(
    private readonly mask: MaskInfo,
    readonly rows: number,
    readonly cols: number,
    apart: readonly number[] = [],
  ) {
    this.counter = keyCounter(mask, cols);
    this.apart = apart;
    this.inverse = new Float64Array(rows + 1);
    for (let row = 0; row < rows; ++row) {
      const all = this.allowed(row);
      this.inverse[row + 1] = (this.inverse[row] as number) + (all > 0 ? 1 / all : 0);
    }
  }

  /** How many columns a row may see, those drawn apart among them. */
  allowed(row: number): number {
    return this.counter(row, 0, this.cols);
  }

  /** Allowed columns of [begin, end) that are not drawn apart. */
  within(row: number, begin: number, end: number): number {
    let count = this.counter(row, begin, end);
    for (const col of this.apart) if (col >= begin && col < end) count -= this.counter(row, col, col + 1);
    return count;
  }

  /** Rows [row, rowEnd) by mean, columns [col, colEnd) by sum; and how many cells are allowed. */
  bin(row: number, rowEnd: number, col: number, colEnd: number): { share: number; cells: number } {
    if (!this.mask.keyGroups && this.seenAlike(row, rowEnd, col, colEnd)) {
      const count = this.within(row, col, colEnd);
      const share = (((this.inverse[rowEnd] as number) - (this.inverse[row] as number)) * count) / (rowEnd - row);
      return { share, cells: count * (rowEnd - row) };
    }
    let share = 0;
    let cells = 0;
    for (let i = row; i < rowEnd; ++i) {
      const count = this.within(i, col, colEnd);
      if (count === 0) continue;
      cells += count;
      share += count / this.allowed(i);
    }
    return { share: share / (rowEnd - row), cells };
  }

  /** What even attention gives to a cell where all rows see all of these columns; -1 where they do not. */
  perCell(row: number, rowEnd: number, col: number, colEnd: number): number {
    const bare = !this.mask.keyGroups && !this.mask.hiddenKeys && !this.apart.some((each) => each >= col && each < colEnd);
    const [begin, end] = keyRange(this.mask, row, this.cols);
    const [lastBegin, lastEnd] = keyRange(this.mask, rowEnd - 1, this.cols);
    if (!bare || Math.max(begin, lastBegin) > col || Math.min(end, lastEnd) < colEnd) return -1;
    return ((this.inverse[rowEnd] as number) - (this.inverse[row] as number)) / (rowEnd - row);
  }

  /** Whether all rows see the same columns of the bin: all of them or none, as far as the mask's range goes. */
  private seenAlike(row: number, rowEnd: number, col: number, colEnd: number): boolean {
    const [begin, end] = keyRange(this.mask, row, this.cols);
    const [lastBegin, lastEnd] = keyRange(this.mask, rowEnd - 1, this.cols);
    const none = lastEnd <= col && end <= col;
    const all = begin <= col && lastBegin <= col && end >= colEnd && lastEnd >= colEnd;
    return none || all;
  }
}

/**
 * The codes of weight / even of every bin. A tile has the mean of a bin's allowed cells, or the largest of them; even attention gives
 * such a cell the bin's even share over its allowed cells.
 */
export function evenCodes(tile: Tile, even: EvenAttention): Uint16Array {
  const size = 2 ** tile.level;
  const codes = new Uint16Array(tile.codes.length);
  const lastCol = Math.min(even.cols, tile.col + tile.width * size);
  for (let y = 0; y < tile.height; ++y) {
    const row = tile.row + y * size;
    const rowEnd = Math.min(even.rows, row + size);
    const whole = even.perCell(row, rowEnd, tile.col, lastCol);
    let shift = evenShift(whole);
    for (let x = 0; x < tile.width; ++x) {
      const at = y * tile.width + x;
      const code = tile.codes[at] as number;
      if (code >= MASKED) {
        codes[at] = code;
        continue;
      }
      if (whole < 0) {
        const col = tile.col + x * size;
        const own = even.bin(row, rowEnd, col, Math.min(even.cols, col + size));
        if (own.cells === 0) {
          codes[at] = MASKED;
          continue;
        }
        shift = evenShift((own.share * (rowEnd - row)) / own.cells);
      }
      codes[at] = shifted(code, shift);
    }
  }
  return codes;
}
