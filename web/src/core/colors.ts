/** Codes into colours: one table of 65536 entries holds range, curve and colour map. */

export type Curve = 'linear' | 'root';

/** Where a value stands between the ends of a colour map, 0 to 1. */
export function positionOf(value: number, high: number, curve: Curve): number {
  const share = Math.min(1, Math.max(0, value / high));
  return curve === 'root' ? Math.sqrt(share) : share;
}

/** Red, green, blue at a position; the same entry that ColorMap::at takes in C++. */
export function colorAt(table: Uint8Array, position: number): [number, number, number] {
  const i = 3 * Math.round((position > 0 ? Math.min(1, position) : 0) * 255);
  return [table[i] as number, table[i + 1] as number, table[i + 2] as number];
}

/** As a canvas keeps pixels: bytes red, green, blue, alpha in the order of this machine. */
export function pixelOf([red, green, blue]: readonly [number, number, number]): number {
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0] as number;
}

/** The pixel of every code of a map with `levels` steps; codes above `levels` are as `levels`. */
export function buildColorTable(table: Uint8Array, levels: number, high: number, curve: Curve): Uint32Array {
  const pixels = Uint32Array.from({ length: 256 }, (_, i) => pixelOf(colorAt(table, i / 255)));
  const result = new Uint32Array(65536);
  for (let code = 0; code < result.length; ++code) {
    result[code] = pixels[Math.round(positionOf(code / levels, high, curve) * 255)] as number;
  }
  return result;
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
