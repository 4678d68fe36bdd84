import { describe, expect, it } from 'vitest';
import { fromBase64 } from './codec';
import { colorOf } from './colors';
import { golden, scales } from './golden';
import { general, placeOn, scaleText, ticksOf, type ColorScale } from './scale';

describe.each(scales.axes.map((axis) => [`${axis.curve} from ${axis.low} to ${axis.high}${axis.timesEven ? ', times even' : ''}`, axis] as const))('%s', (_, axis) => {
  const scale: ColorScale = { ...axis, below: false, above: false };
  const table = fromBase64(golden.colors.find(({ name }) => name === axis.colors)?.table ?? '');

  it('puts values where C++ puts them, in its colours and words', () => {
    expect(axis.values.length).toBeGreaterThan(40);
    for (const [value, place, red, green, blue, text] of axis.values) {
      expect(Math.abs(placeOn(scale, value) - place)).toBeLessThan(1e-9 * Math.max(1, Math.abs(place)));
      expect(colorOf(table, scale, value)).toEqual([red, green, blue]);
      expect(scaleText(scale, value)).toBe(text);
    }
  });

  it('has its ticks', () => {
    for (const [wanted, ticks] of Object.entries(axis.ticks)) {
      const made = ticksOf(scale, Number(wanted));
      expect(made.map(({ text, strong }) => [text, strong])).toEqual(ticks.map(([, text, strong]) => [text, strong]));
      made.forEach(({ place }, i) => expect(place).toBeCloseTo(ticks[i]?.[0] as number, 9));
    }
  });
});

describe('general', () => {
  it('writes numbers as printf does', () => {
    const numbers = [0, 1, 0.5, 1234, 0.0001234, 0.00001234, 99.96, 999.6, 1e-7, 3e21];
    expect(numbers.map((value) => general(value, 3))).toEqual(['0', '1', '0.5', '1.23e+03', '0.000123', '1.23e-05', '100', '1e+03', '1e-07', '3e+21']);
  });
});
