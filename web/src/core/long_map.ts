/** One long map: its tiles as codes of what is drawn, its sinks, and what may be read from tiles that are there. */
import type { MapAt } from './api';
import type { ValueName } from './address';
import type { MaskInfo } from './header';
import { isCausal, maskOfLayer, type Run, type Site } from './run';
import { MASKED, PENDING, TOP_CODE, decode16, encode16, evenShift, shifted, wideShift, PER_OCTAVE } from './tiles/code';
import { EvenAttention } from './tiles/even';
import type { Tile } from './tiles/tile';

/** A column is a sink where its mean weight over the rows that may see it is so large and half of the rows may see it. */
const SINK_MEAN = 0.1;

export interface Sink {
  col: number;
  /** Of all weight. */
  share: number;
  /** What every row gives it. */
  line: Float32Array;
}

export class LongMap {
  sinks: Sink[] = [];
  readonly mask: MaskInfo;
  readonly causal: boolean;
  private plain: EvenAttention;
  private even: EvenAttention;
  private drawn = new WeakMap<Tile, Map<string, Uint16Array>>();

  constructor(
    readonly run: Run,
    readonly site: Site,
    readonly at: MapAt,
  ) {
    this.mask = maskOfLayer(site, at.layer);
    this.causal = isCausal(this.mask);
    this.plain = this.even = new EvenAttention(this.mask, site.rows, site.cols);
  }

  /** How many columns the row may see. */
  allowed(row: number): number {
    return this.plain.allowed(row);
  }

  /** Looks whether the site's sinks, special columns or the first one are sinks of this map; true if something is drawn apart now. */
  async findSinks(): Promise<boolean> {
    const { rows, cols, special, sinks } = this.site;
    if (Math.max(rows, cols) <= 64) return false;
    const found: Sink[] = [];
    for (const col of [...new Set([...sinks, ...special, 0])].slice(0, 6)) {
      const line = await this.run.line(this.at, col, true);
      let sum = 0;
      let seen = 0;
      for (let row = 0; row < rows; ++row) {
        sum += line[row] || 0;
        if (this.plain.within(row, col, col + 1) > 0) ++seen;
      }
      if (seen >= rows / 2 && sum >= SINK_MEAN * seen) found.push({ col, share: sum / rows, line });
    }
    if (found.length === 0) return false;
    found.sort((a, b) => a.col - b.col);
    this.sinks = found;
    this.even = new EvenAttention(this.mask, rows, cols, found.map(({ col }) => col));
    this.drawn = new WeakMap();
    return true;
  }

  /** The codes that are looked up: of shares on the axis of weights, everything else on the wide one. */
  codes(tile: Tile, of: ValueName): Uint16Array {
    let kinds = this.drawn.get(tile);
    if (!kinds) this.drawn.set(tile, (kinds = new Map()));
    let codes = kinds.get(of);
    if (!codes) kinds.set(of, (codes = this.make(tile, of)));
    return codes;
  }

  private make(tile: Tile, of: ValueName): Uint16Array {
    if (of === 'score') return tile.codes;
    if (of === 'value-weighted') {
      const shift = wideShift(tile.top);
      return tile.codes.map((code) => shifted(code, shift));
    }
    const size = 2 ** tile.level;
    const { rows, cols } = this.site;
    const codes = new Uint16Array(tile.codes.length);
    const colEnd = Math.min(cols, tile.col + tile.width * size);
    const apart = this.sinks.some(({ col }) => col >= tile.col && col < colEnd);
    for (let y = 0; y < tile.height; ++y) {
      const row = tile.row + y * size;
      const rowEnd = Math.min(rows, row + size);
      const whole = apart ? -1 : this.even.perCell(row, rowEnd, tile.col, colEnd);
      // Where all rows see all columns a share is the mean times the width; the last bin may be narrower.
      const bare = of === 'times-even' ? evenShift(whole) : tile.pooling === 'max' ? 0 : tile.level * PER_OCTAVE;
      for (let x = 0; x < tile.width; ++x) {
        const at = y * tile.width + x;
        const code = tile.codes[at] as number;
        const col = tile.col + x * size;
        const simple = whole >= 0 && (of === 'times-even' || col + size <= cols);
        codes[at] = code > TOP_CODE ? code : simple ? shifted(code, bare) : this.binCode(tile, code, row, rowEnd, col, Math.min(cols, col + size), of);
      }
    }
    return codes;
  }

  private binCode(tile: Tile, code: number, row: number, rowEnd: number, col: number, colEnd: number, of: ValueName): number {
    const { share, cells } = this.even.bin(row, rowEnd, col, colEnd);
    if (cells === 0) return this.plain.bin(row, rowEnd, col, colEnd).cells > 0 ? 0 : MASKED;
    const own = tile.pooling === 'max' ? code : this.without(code, row, rowEnd, col, colEnd, cells);
    if (of === 'times-even') return shifted(own, evenShift((share * (rowEnd - row)) / cells));
    return tile.pooling === 'max' ? own : shifted(own, Math.log2(cells / (rowEnd - row)) * PER_OCTAVE);
  }

  /** The mean of a bin's cells without those of sinks. */
  private without(code: number, row: number, rowEnd: number, col: number, colEnd: number, cells: number): number {
    let taken = 0;
    for (const sink of this.sinks) {
      if (sink.col < col || sink.col >= colEnd) continue;
      for (let i = row; i < rowEnd; ++i) taken += sink.line[i] || 0;
    }
    if (taken === 0) return code;
    const all = this.plain.bin(row, rowEnd, col, colEnd).cells;
    // What the code itself cannot tell from nothing is nothing.
    const left = decode16(code) * all - taken;
    return left > 3e-4 * taken ? encode16(left / cells) : 0;
  }

  /** Share of rows by mean and columns by sum, and times even, of a bin of a tile of means. */
  bin(tile: Tile, row: number, col: number): { share: number; times: number; rowEnd: number; colEnd: number } | null {
    const size = 2 ** tile.level;
    const at = Math.floor((row - tile.row) / size) * tile.width + Math.floor((col - tile.col) / size);
    const code = tile.codes[at] ?? PENDING;
    if (code > TOP_CODE) return null;
    const rowEnd = Math.min(this.site.rows, row + size);
    const colEnd = Math.min(this.site.cols, col + size);
    const { share: even, cells } = this.even.bin(row, rowEnd, col, colEnd);
    if (cells === 0) return { share: decode16(code), times: Number.NaN, rowEnd, colEnd };
    const share = (decode16(this.without(code, row, rowEnd, col, colEnd, cells)) * cells) / (rowEnd - row);
    return { share, times: share / even, rowEnd, colEnd };
  }
}
