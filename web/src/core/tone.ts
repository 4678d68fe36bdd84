/** How weights lie over a photograph, as fovea/figure/picture_tone.cc has it; tests/data/page/scales.json holds both. */
import { colorAt, type Color } from './colors';

const DARKEST = 0.08; // of the ground, as a part of white
const REACH = 0.38;
const MIDDLE_GROUND = 0.27; // below the colours of a legend
const LEAST_CONTRAST = 0.2;
const TAIL = 0.01; // of the pixels, at either end
const FIRST_COLOR = 0.4;
const MOST_COVER = 0.86;
const FULL_FROM = 0.3;
const STEEPNESS = 0.8;

/** Makes pixels (red, green, blue, alpha) grey and dark: their lightness from nearly black to a middle grey. */
export function darken(pixels: Uint8ClampedArray): void {
  const levels = new Uint8Array(pixels.length / 4);
  const counts = new Uint32Array(256);
  for (let i = 0; i < levels.length; ++i) {
    const luma = Math.round(0.2126 * (pixels[4 * i] as number) + 0.7152 * (pixels[4 * i + 1] as number) + 0.0722 * (pixels[4 * i + 2] as number));
    levels[i] = luma;
    counts[luma] = (counts[luma] as number) + 1;
  }
  const low = levelWith(counts, TAIL * levels.length) / 255;
  const high = levelWith(counts, (1 - TAIL) * levels.length) / 255;
  const greys = Uint8Array.from({ length: 256 }, (_, level) => {
    const stretched = (level / 255 - low) / Math.max(high - low, LEAST_CONTRAST);
    return Math.round(255 * (DARKEST + REACH * Math.max(0, Math.min(1, stretched))));
  });
  for (let i = 0; i < levels.length; ++i) {
    const grey = greys[levels[i] as number] as number;
    pixels[4 * i] = pixels[4 * i + 1] = pixels[4 * i + 2] = grey;
  }
}

/** The level below which so many pixels lie. */
function levelWith(counts: Uint32Array, pixels: number): number {
  let below = 0;
  for (let level = 0; level < 256; ++level) {
    below += counts[level] as number;
    if (below > pixels) return level;
  }
  return 255;
}

/** A colour, and how much of the ground it covers, from 0 to 1. */
export function tintOf(table: Uint8Array, place: number): { color: Color; cover: number } {
  const at = Math.max(0, Math.min(1, place));
  return { color: colorAt(table, FIRST_COLOR + (1 - FIRST_COLOR) * at), cover: MOST_COVER * Math.min(1, at / FULL_FROM) ** STEEPNESS };
}

/** The colours as they look over a ground of middling lightness: what a legend shows. */
export function overGround(table: Uint8Array): Uint8Array {
  const ground = Math.round(255 * MIDDLE_GROUND);
  const result = new Uint8Array(table.length);
  for (let i = 0; i < 256; ++i) {
    const { color, cover } = tintOf(table, i / 255);
    color.forEach((channel, k) => (result[3 * i + k] = Math.round(ground + (channel - ground) * cover)));
  }
  return result;
}

/** "half in 15, 90 % in 87 of 784": how many of the values hold so much of their sum; empty where there is none. */
export function massNote(values: ArrayLike<number>): string {
  const rising = Float64Array.from(values).filter((value) => value > 0).sort();
  const sum = rising.reduce((all, value) => all + value, 0);
  const within = (share: number) => {
    let count = 0;
    for (let soFar = 0; count < rising.length && soFar < share * sum * (1 - 1e-6); ++count) soFar += rising[rising.length - 1 - count] as number;
    return count;
  };
  return rising.length > 0 ? `half in ${within(0.5)}, 90 % in ${within(0.9)} of ${values.length}` : '';
}
