/** Reading maps as fovea/render/page_codec.cc packs them; docs/html-page.md describes it. */
import type { MaskInfo } from './header';
import { keyFilter, keyRange } from './mask';

/** Stands in a map where the mask forbids: no small number, but no number. */
export const FORBIDDEN = 65534;
const ESCAPE = 255;

/** One map in whole steps: weight = code / levels. */
export interface DecodedMap {
  rows: number;
  cols: number;
  levels: number;
  /** rows * cols codes, FORBIDDEN where there is none. */
  codes: Uint16Array;
  rowSums: Float32Array;
  colSums: Float32Array;
  largest: number;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function floats(bytes: Uint8Array<ArrayBuffer>, begin: number, count: number): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset + begin, count * 4);
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(i * 4, true));
}

/** Throws an Error if the bytes do not fit the shape. */
export function decodeMap(
  bytes: Uint8Array<ArrayBuffer>,
  shape: { rows: number; cols: number; levels: number },
  mask: MaskInfo,
): DecodedMap {
  const { rows, cols, levels } = shape;
  const codes = new Uint16Array(rows * cols).fill(FORBIDDEN);
  const sees = keyFilter(mask);
  const end = bytes.length - 4 * (rows + cols);
  let at = 0;
  let most = 0;
  for (let row = 0; row < rows; ++row) {
    const [first, last] = keyRange(mask, row, cols);
    for (let col = first; col < last; ++col) {
      if (sees && !sees(row, col)) continue;
      let code = bytes[at++] ?? 0;
      if (code === ESCAPE) {
        code = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
        at += 2;
      }
      codes[row * cols + col] = code;
      if (code > most) most = code;
    }
  }
  if (at !== end) throw new Error(`a map should take ${at} bytes but has ${end}; the page is damaged`);
  return {
    rows,
    cols,
    levels,
    codes,
    rowSums: floats(bytes, end, rows),
    colSums: floats(bytes, end + 4 * rows, cols),
    largest: most / levels,
  };
}

/** Mean or maximum of maps of one shape, cell by cell. */
export function mergeMaps(maps: DecodedMap[], how: 'mean' | 'max'): DecodedMap {
  const first = maps[0];
  if (!first) throw new Error('there is no map to merge');
  const sums = new Float64Array(first.codes.length);
  for (const map of maps) {
    for (let i = 0; i < sums.length; ++i) {
      const code = map.codes[i] as number;
      sums[i] = how === 'mean' ? (sums[i] as number) + code : Math.max(sums[i] as number, code);
    }
  }
  const share = how === 'mean' ? 1 / maps.length : 1;
  const codes = Uint16Array.from(sums, (sum) => Math.round(sum * share));
  const merged: DecodedMap = { ...first, codes, largest: 0 };
  let most = 0;
  for (const code of codes) if (code !== FORBIDDEN && code > most) most = code;
  merged.largest = most / first.levels;
  if (how === 'mean') {
    merged.rowSums = meanOf(maps.map((map) => map.rowSums));
    merged.colSums = meanOf(maps.map((map) => map.colSums));
  } else {
    merged.rowSums = Float32Array.from({ length: first.rows }, (_, row) => sumOf(lineOf(merged, row, false)));
    merged.colSums = Float32Array.from({ length: first.cols }, (_, col) => sumOf(lineOf(merged, col, true)));
  }
  return merged;
}

function meanOf(lines: Float32Array[]): Float32Array {
  const length = lines[0]?.length ?? 0;
  return Float32Array.from({ length }, (_, i) => lines.reduce((sum, line) => sum + (line[i] ?? 0), 0) / lines.length);
}

function sumOf(line: Float32Array): number {
  return line.reduce((sum, weight) => (Number.isNaN(weight) ? sum : sum + weight), 0);
}

/** The weights of one row, or of one column; NaN where the mask forbids. */
export function lineOf(map: DecodedMap, index: number, column: boolean): Float32Array {
  const count = column ? map.rows : map.cols;
  const step = column ? map.cols : 1;
  const begin = column ? index : index * map.cols;
  const line = new Float32Array(count);
  for (let i = 0; i < count; ++i) {
    const code = map.codes[begin + i * step] as number;
    line[i] = code === FORBIDDEN ? Number.NaN : code / map.levels;
  }
  return line;
}

/** Positions of a side in one block of its thumbnail. */
export function thumbnailBlock(size: number, side: number): number {
  return Math.max(1, Math.ceil(size / side));
}

/** The blocks of one head's thumbnail. */
export function thumbnailShape(rows: number, cols: number, side: number): [number, number] {
  const blocks = (size: number) => Math.ceil(size / thumbnailBlock(size, side));
  return [blocks(rows), blocks(cols)];
}

/** The share of a block, rows by mean and columns by sum; NaN for one without an allowed cell. */
export function thumbnailShare(code: number): number {
  return code === 65535 ? Number.NaN : (code / 65534) ** 2;
}
