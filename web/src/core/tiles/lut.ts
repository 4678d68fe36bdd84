/** One table of 65,536 pixels holds what a code looks like: scale, range, curve and colours. Both renderers look up, nothing else. */
import { colorAt, pixelOf, type Color } from '../colors';
import { placeOn, type ColorScale } from '../scale';
import { MASKED, PENDING, decode16, decodeEven, decodeSigned } from './code';

export type Lut = Uint32Array<ArrayBuffer>;

/** What is no number: the ground under it. Hatches are drawn over it by the page. */
export interface Grounds {
  zero: Color;
  masked: Color;
  pending: Color;
}

type Decoder = (code: number) => number;
const DECODERS: Record<'weight' | 'times-even', Decoder> = { weight: decode16, 'times-even': decodeEven };

/** Of L16 codes of weights, or of the codes that evenCodes() gives. */
export function buildLut(of: 'weight' | 'times-even', scale: ColorScale, table: Uint8Array, grounds: Grounds): Lut {
  const lut = new Uint32Array(65536);
  const decode = DECODERS[of];
  const pixels = pixelsOf(table);
  lut[0] = scale.low > 0 ? pixelOf(grounds.zero) : (pixels[0] as number);
  for (let code = 1; code < MASKED; ++code) lut[code] = pixels[entryOf(placeOn(scale, decode(code)))] as number;
  lut[MASKED] = pixelOf(grounds.masked);
  lut[PENDING] = pixelOf(grounds.pending);
  return lut;
}

/** Of S16 codes: linear and symmetric about zero, whose place is the middle. */
export function buildSignedLut(reach: number, top: number, table: Uint8Array, grounds: Grounds): Lut {
  const lut = new Uint32Array(65536);
  const pixels = pixelsOf(table);
  for (let code = 0; code < 65536; ++code) {
    const value = decodeSigned(code, top);
    if (Number.isNaN(value)) lut[code] = pixelOf((code & 0x7fff) === 0x7ffe ? grounds.masked : grounds.pending);
    else lut[code] = pixels[entryOf(0.5 + value / reach / 2)] as number;
  }
  return lut;
}

function pixelsOf(table: Uint8Array): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, i) => pixelOf(colorAt(table, i / 255)));
}

function entryOf(place: number): number {
  return Math.round((place > 0 ? Math.min(1, place) : 0) * 255);
}
