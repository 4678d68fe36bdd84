/** A tile as the server sends it: 32 bytes of header, then the codes; WEB format FOVT 1. */
import { MASKED, OCTAVES, PENDING, encode16, topExponent, widened } from './code';

export const TILE = 256;
export const ENCODINGS = ['L16', 'L8', 'S16', 'F32'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const HEADER = 32;
const BYTES: Record<Encoding, number> = { L16: 2, L8: 1, S16: 2, F32: 4 };

export interface Tile {
  encoding: Encoding;
  level: number;
  /** From sampled rows; the exact one follows. */
  approximate: boolean;
  causal: boolean;
  /** What became of the cells of a bin; null at level 0. */
  pooling: 'max' | 'mean' | null;
  /** In cells of the map. */
  row: number;
  col: number;
  /** In bins of the level. */
  height: number;
  width: number;
  /** The power of two that the largest code stands for. */
  top: number;
  largest: number;
  /** L16 and L8 as codes of 16 bits, S16 as sent. F32 keeps its values too. */
  codes: Uint16Array;
  values: Float32Array | null;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (let i = 0; i < bytes.length; ++i) value = (value >>> 8) ^ (TABLE[(value ^ (bytes[i] as number)) & 255] as number);
  return ~value >>> 0;
}

/** Throws an Error in plain words for bytes that are no whole tile. */
export function readTile(buffer: ArrayBuffer): Tile {
  if (buffer.byteLength < HEADER) throw new Error(`a tile has a header of ${HEADER} bytes but ${buffer.byteLength} came`);
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== 0x54564f46) throw new Error('what came is no tile');
  if (view.getUint8(4) !== 1) throw new Error(`the tile is of version ${view.getUint8(4)}; this page reads version 1`);
  const encoding = ENCODINGS[view.getUint8(5)];
  if (!encoding) throw new Error(`the tile has an encoding that this page does not know (${view.getUint8(5)})`);
  const flags = view.getUint8(7);
  const height = view.getUint16(16, true);
  const width = view.getUint16(18, true);
  const wanted = height * width * BYTES[encoding];
  const payload = new Uint8Array(buffer, HEADER);
  if (payload.length !== wanted) throw new Error(`a tile of ${height} × ${width} should take ${wanted} bytes but has ${payload.length}`);
  if (crc32(payload) !== view.getUint32(28, true)) throw new Error('the tile was damaged on its way: its checksum is another');
  const octaves = view.getFloat32(20, true);
  if (octaves !== OCTAVES) throw new Error(`the tile spans ${octaves} octaves; this page reads ${OCTAVES}`);
  const largest = view.getFloat32(24, true);
  const tile: Tile = {
    encoding,
    level: view.getUint8(6),
    approximate: (flags & 1) !== 0,
    causal: (flags & 2) !== 0,
    pooling: flags & 4 ? 'max' : flags & 8 ? 'mean' : null,
    row: view.getUint32(8, true),
    col: view.getUint32(12, true),
    height,
    width,
    top: encoding === 'F32' ? 0 : topExponent(largest),
    largest,
    codes: new Uint16Array(0),
    values: null,
  };
  if (encoding === 'F32') {
    tile.values = new Float32Array(buffer.slice(HEADER));
    tile.codes = Uint16Array.from(tile.values, (value) => (Number.isNaN(value) ? MASKED : encode16(value)));
  } else if (encoding === 'L8') {
    tile.codes = Uint16Array.from(payload, widened);
  } else {
    tile.codes = new Uint16Array(buffer, HEADER);
  }
  return tile;
}

/** A tile of which nothing is known yet. */
export function emptyTile(level: number, row: number, col: number, height: number, width: number): Tile {
  return {
    encoding: 'L16', level, approximate: true, causal: false, pooling: null, row, col, height, width, top: 0, largest: 0,
    codes: new Uint16Array(height * width).fill(PENDING), values: null,
  };
}
