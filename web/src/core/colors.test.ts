import { describe, expect, it } from 'vitest';
import { fromBase64 } from './codec';
import { buildColorTable, colorAt, pixelOf, positionOf, textColorOn } from './colors';
import { golden } from './golden';

describe('buildColorTable', () => {
  it.each(golden.colors.map((each) => [each.name, each] as const))('%s has the colours of C++', (_, each) => {
    const table = buildColorTable(fromBase64(each.table), each.levels, each.high, 'linear');
    expect(table.length).toBe(65536);
    for (const [code, red, green, blue] of each.entries) expect(table[code]).toBe(pixelOf([red, green, blue]));
  });

  it('brings small weights up with the square root and leaves the ends', () => {
    const colors = fromBase64(golden.colors[0]?.table ?? '');
    const linear = buildColorTable(colors, 1000, 1, 'linear');
    const root = buildColorTable(colors, 1000, 1, 'root');
    expect(root[0]).toBe(linear[0]);
    expect(root[1000]).toBe(linear[1000]);
    expect(root[250]).toBe(linear[500]);
  });
});

describe('positionOf', () => {
  it('stays between the ends', () => {
    expect(positionOf(2, 1, 'linear')).toBe(1);
    expect(positionOf(-1, 1, 'root')).toBe(0);
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
