import { describe, expect, it } from 'vitest';
import { fromBase64 } from './codec';
import { colorAt, colorOf, painter, pixelOf, textColorOn } from './colors';
import { golden } from './golden';
import type { ColorScale } from './scale';

describe('colorOf and painter', () => {
  it.each(golden.colors.map((each) => [each.name, each] as const))('%s has the colours of C++', (_, each) => {
    const table = fromBase64(each.table);
    const scale: ColorScale = { low: 0, high: each.high, curve: 'linear', timesEven: false, below: false, above: false };
    const paint = painter(table, scale);
    for (const [code, ...color] of each.entries) {
      expect(colorOf(table, scale, code / each.levels)).toEqual(color);
      expect(paint(code / each.levels)).toBe(pixelOf(color));
    }
  });
});

describe('colorAt', () => {
  it('stays between the ends', () => {
    const table = fromBase64(golden.colors[0]?.table ?? '');
    expect(colorAt(table, 2)).toEqual(colorAt(table, 1));
    expect(colorAt(table, -1)).toEqual(colorAt(table, 0));
    expect(colorAt(table, Number.NaN)).toEqual(colorAt(table, 0));
  });
});

describe('textColorOn', () => {
  it('keeps a contrast of 4.5 on every colour of every map', () => {
    const light = (channel: number) => {
      const value = channel / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    for (const { table } of golden.colors) {
      const colors = fromBase64(table);
      for (let i = 0; i < 256; ++i) {
        const color = colorAt(colors, i / 255);
        const [red, green, blue] = color.map(light) as [number, number, number];
        const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        const text = textColorOn(color) === '#fff' ? 1 : 0;
        const [low, high] = [Math.min(text, luminance), Math.max(text, luminance)];
        expect((high + 0.05) / (low + 0.05)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
