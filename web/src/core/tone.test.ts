import { describe, expect, it } from 'vitest';
import { scales } from './golden';
import { darken, massNote, overGround, tintOf } from './tone';

const { tone } = scales;
const table = Uint8Array.from(tone.table);

describe('what C++ lays over a picture', () => {
  it('is on the same ground', () => {
    const pixels = new Uint8ClampedArray(tone.picture.flatMap((color) => [...color, 255]));
    darken(pixels);
    expect(Array.from({ length: tone.picture.length }, (_, i) => pixels[4 * i])).toEqual(tone.ground);
  });
  it('covers as much of it with the same colours', () => {
    for (const [place, red, green, blue, cover] of tone.tints) {
      const tint = tintOf(table, place);
      expect(tint.color).toEqual([red, green, blue]);
      expect(tint.cover).toBeCloseTo(cover, 12);
    }
  });
  it('has the same legend', () => {
    const legend = overGround(table);
    tone.legend.forEach((value, i) => expect(Math.abs((legend[i] as number) - value)).toBeLessThanOrEqual(1));
  });
  it('says how many cells hold most of the weight', () => {
    for (const { values, note } of tone.masses) expect(massNote(values.map((value) => value ?? Number.NaN))).toBe(note);
  });
});
