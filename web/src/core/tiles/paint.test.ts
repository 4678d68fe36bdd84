import { describe, expect, it } from 'vitest';
import { scales } from '../golden';
import { COLOR_NAMES, colorTable } from '../tables';
import { golden } from '../golden';
import { pixelOf, painter, type Color } from '../colors';
import { MASKED, PENDING, decode16, decodeEven, encode16, encodeEven } from './code';
import { buildLut } from './lut';
import { paintTiles } from './paint';
import type { Curve } from '../scale';

const GROUNDS = { zero: [0, 0, 4] as Color, masked: [1, 2, 3] as Color, pending: [4, 5, 6] as Color };

describe('the table', () => {
  it('has the colour maps of C++', () => {
    for (const { name, table } of golden.colors) {
      expect(COLOR_NAMES).toContain(name);
      expect(Buffer.from(colorTable(name as 'inferno')).toString('base64')).toBe(table);
    }
  });

  it('gives every value the colour that C++ gives it', () => {
    let compared = 0;
    for (const axis of scales.axes) {
      const of = axis.timesEven ? 'times-even' : 'weight';
      const scale = { low: axis.low, high: axis.high, curve: axis.curve as Curve, timesEven: axis.timesEven, below: false, above: false };
      const lut = buildLut(of, scale, colorTable(axis.colors as 'inferno'), GROUNDS);
      const steps = axis.curve === 'log' ? 1 : 2; // a code is a step of the logarithm, which is much of a small range
      for (const [value, , red, green, blue] of axis.values) {
        const code = axis.timesEven ? encodeEven(value) : encode16(value);
        const read = axis.timesEven ? decodeEven(code) : decode16(code);
        if (!(value > 0) || Math.abs(read / value - 1) > 1e-3) continue;
        const got = new Uint8Array(new Uint32Array([lut[code] as number]).buffer);
        const near = painter(colorTable(axis.colors as 'inferno'), scale);
        const around = [-2, -1, 0, 1, 2].map((k) => near(value * (1 + (k * 2e-4) / 2)));
        expect(around.includes(lut[code] as number) || Math.abs((got[0] as number) - red) <= 4 * steps).toBe(true);
        expect([green, blue].every(Number.isFinite)).toBe(true);
        ++compared;
      }
    }
    expect(compared).toBeGreaterThan(300);
  });

  it('tells what is no number from every number', () => {
    const lut = buildLut('weight', { low: 1e-5, high: 1, curve: 'log', timesEven: false, below: false, above: false }, colorTable('inferno'), GROUNDS);
    expect(lut[MASKED]).toBe(pixelOf(GROUNDS.masked));
    expect(lut[PENDING]).toBe(pixelOf(GROUNDS.pending));
    expect(lut[0]).toBe(pixelOf(GROUNDS.zero));
  });
});

describe('painting', () => {
  it('puts each cell on its own pixels, cut at the edges, later tiles above', () => {
    const lut = Uint32Array.from({ length: 65536 }, (_, code) => code * 3 + 1);
    for (const cell of [1, 2, 3, 7]) {
      for (const [left, top] of [[0, 0], [-5, -2], [4, 9], [-40, 3]] as const) {
        const codes = Uint16Array.from({ length: 30 }, (_, i) => 100 + i);
        const under = { codes: new Uint16Array(4).fill(7), width: 2, height: 2, left: 0, top: 0, cell: 3 };
        const tile = { codes, width: 6, height: 5, left, top, cell };
        const out = new Uint32Array(23 * 17);
        paintTiles(out, 23, 17, [under, tile], lut, 99);
        for (let y = 0; y < 17; ++y) {
          for (let x = 0; x < 23; ++x) {
            const [u, v] = [Math.floor((x - left) / cell), Math.floor((y - top) / cell)];
            const inside = u >= 0 && u < 6 && v >= 0 && v < 5;
            const wanted = inside ? (codes[v * 6 + u] as number) * 3 + 1 : x < 6 && y < 6 ? 22 : 99;
            expect(out[y * 23 + x]).toBe(wanted);
          }
        }
      }
    }
  });
});
