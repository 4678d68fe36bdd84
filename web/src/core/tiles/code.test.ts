import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as code from './code';
import { readTile, crc32 } from './tile';

type Cell = number | 'masked' | 'not computed';
interface Vectors {
  tiles: {
    bytes: string; encoding: 'L16' | 'L8' | 'S16' | 'F32'; level: number; row: number; col: number; rows: number; cols: number;
    approximate: boolean; causal: boolean; pool: 'none' | 'max' | 'mean'; largest: number; cells: Cell[];
  }[];
  codes: { encoding: 'L16' | 'L8' | 'S16'; top: number; code: number; value: Cell }[];
}
const folder = process.env['FOVEA_TEST_DATA'] ?? resolve(import.meta.dirname, '../../../../tests/data');
const vectors = JSON.parse(readFileSync(resolve(folder, 'tile_code/vectors.json'), 'utf8')) as Vectors;

const CODERS = {
  L16: [code.encode16, code.decode16],
  L8: [code.encode8, code.decode8],
  S16: [code.encodeSigned, code.decodeSigned],
} as const;

function bytesOf(hex: string): ArrayBuffer {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)).buffer;
}

function cellOf(tile: ReturnType<typeof readTile>, at: number): Cell {
  const bits = tile.codes[at] as number;
  if (tile.values) return Number.isNaN(tile.values[at]) ? 'masked' : (tile.values[at] as number);
  const signed = tile.encoding === 'S16';
  if (bits === (signed ? code.MASKED_SIGNED : code.MASKED)) return 'masked';
  if (bits === (signed ? code.PENDING_SIGNED : code.PENDING)) return 'not computed';
  return signed ? code.decodeSigned(bits, tile.top) : code.decode16(bits, tile.top);
}

describe('codes', () => {
  it('mean what C++ says they mean', () => {
    for (const { encoding, top, code: bits, value } of vectors.codes) {
      const read = CODERS[encoding][1](bits, top);
      if (typeof value === 'string') expect(read).toBeNaN();
      else expect(Math.abs(read - value)).toBeLessThanOrEqual(1e-12 * Math.abs(value));
    }
    expect(vectors.codes.length).toBeGreaterThan(200);
  });

  it('come back from their own value, every one of them', () => {
    const wrong: number[] = [];
    for (const top of [0, 7]) {
      for (let bits = 0; bits < code.MASKED; ++bits) if (code.encode16(code.decode16(bits, top), top) !== bits) wrong.push(bits);
      for (let bits = 0; bits < 254; ++bits) if (code.encode8(code.decode8(bits, top), top) !== bits) wrong.push(bits);
      for (let bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 0x7fff) >= code.MASKED_SIGNED || bits === 0x8000) continue;
        if (code.encodeSigned(code.decodeSigned(bits, top), top) !== bits) wrong.push(bits);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('are as exact as they say', () => {
    for (let i = 0; i < 2000; ++i) {
      const weight = 2 ** (-31.9 * Math.random());
      expect(Math.abs(code.decode16(code.encode16(weight)) / weight - 1)).toBeLessThan(1.8e-4);
      expect(Math.abs(code.decode8(code.encode8(weight)) / weight - 1)).toBeLessThan(0.046);
    }
  });

  it('of a division are a subtraction', () => {
    for (let i = 0; i < 2000; ++i) {
      const even = 1 / (1 + Math.floor(100352 * Math.random()));
      const weight = Math.max(1e-8, Math.random() ** 6);
      const times = code.decodeEven(code.shifted(code.encode16(weight), code.evenShift(even)));
      const wanted = Math.max(2 ** -14, weight / even);
      expect(Math.abs(times / wanted - 1)).toBeLessThan(4e-4);
    }
    expect(code.shifted(code.MASKED, 5)).toBe(code.MASKED);
    expect(code.shifted(code.PENDING, -5)).toBe(code.PENDING);
    expect(code.shifted(0, 5)).toBe(0);
    expect(code.decodeEven(code.encodeEven(1))).toBeCloseTo(1, 3);
  });
});

describe('tiles', () => {
  it('are read as C++ wrote them', () => {
    for (const each of vectors.tiles) {
      const tile = readTile(bytesOf(each.bytes));
      expect([tile.encoding, tile.level, tile.row, tile.col, tile.height, tile.width, tile.approximate, tile.causal, tile.pooling ?? 'none']).toEqual(
        [each.encoding, each.level, each.row, each.col, each.rows, each.cols, each.approximate, each.causal, each.pool]);
      each.cells.forEach((cell, at) => {
        const read = cellOf(tile, at);
        if (each.encoding === 'F32' && typeof cell === 'string') expect(read).toBe('masked');
        else if (typeof cell === 'string') expect(read).toBe(cell);
        else if (each.encoding === 'L8') expect(Math.abs((read as number) - cell)).toBeLessThanOrEqual(2e-4 * cell);
        else expect(Math.abs((read as number) - cell)).toBeLessThanOrEqual(1e-6 * Math.abs(cell));
      });
    }
  });

  it('that are cut, damaged or strange are refused in words', () => {
    const good = bytesOf(vectors.tiles[0]?.bytes ?? '');
    const changed = (at: number, to: number) => {
      const bytes = new Uint8Array(good.slice(0));
      bytes[at] = to;
      return bytes.buffer;
    };
    expect(() => readTile(good.slice(0, 20))).toThrow('header of 32 bytes');
    expect(() => readTile(good.slice(0, good.byteLength - 1))).toThrow('should take');
    expect(() => readTile(changed(40, 1))).toThrow('checksum');
    expect(() => readTile(changed(0, 0))).toThrow('no tile');
    expect(() => readTile(changed(4, 2))).toThrow('version 2');
    expect(() => readTile(changed(5, 9))).toThrow('encoding');
  });

  it('have the checksum that everyone has', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  });
});
