/** Values into colours: a table of 256 entries and the place of a value on it. */
import { placeOn, type ColorScale } from './scale';

export type Color = [number, number, number];

/** Red, green, blue at a place from 0 to 1; the same entry that ColorMap::at takes in C++. */
export function colorAt(table: Uint8Array, place: number): Color {
  const i = 3 * entryAt(place);
  return [table[i] as number, table[i + 1] as number, table[i + 2] as number];
}

function entryAt(place: number): number {
  return Math.round((place > 0 ? Math.min(1, place) : 0) * 255);
}

/** The colour of a value. */
export function colorOf(table: Uint8Array, scale: ColorScale, value: number): Color {
  return colorAt(table, placeOn(scale, value));
}

/** As a canvas keeps pixels: bytes red, green, blue, alpha in the order of this machine. */
export function pixelOf([red, green, blue]: readonly [number, number, number]): number {
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0] as number;
}

/** From values to pixels. */
export function painter(table: Uint8Array, scale: ColorScale): (value: number) => number {
  const pixels = Uint32Array.from({ length: 256 }, (_, i) => pixelOf(colorAt(table, i / 255)));
  return (value) => pixels[entryAt(placeOn(scale, value))] as number;
}

function luminance(color: readonly [number, number, number]): number {
  const [red, green, blue] = color.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever reads better; the contrast is 4.5 or more. */
export function textColorOn(background: readonly [number, number, number]): string {
  const light = luminance(background);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? '#000' : '#fff';
}

export function cssColor([red, green, blue]: readonly [number, number, number]): string {
  return `rgb(${red} ${green} ${blue})`;
}
