/**
 * Weights as whole numbers on a log axis, as fovea/atlas/tile_code.cc writes them: equal steps of the code are equal ratios of the
 * weight, so that a range, a curve and a colour map become one table, and a division by even attention becomes a subtraction.
 */

export const OCTAVES = 32;

/** 16 bits: 0 is zero, 1 to 65533 are 2^-32 to 1, the last two say why there is no number. */
export const MASKED = 65534;
export const PENDING = 65535;
export const TOP_CODE = 65533;
const TOP = TOP_CODE;
const STEPS = TOP - 1;
/** Codes in one doubling. */
export const PER_OCTAVE = STEPS / OCTAVES;

const MASKED_8 = 254;
const PENDING_8 = 255;
const TOP_8 = 253;

/** Signed: the highest bit is the sign, the others are the size. */
export const MASKED_SIGNED = 0x7ffe;
export const PENDING_SIGNED = 0x7fff;
const SIGN = 0x8000;
const TOP_SIGNED = 0x7ffd;

function codeIn(value: number, most: number, top: number): number {
  const octave = Math.log2(value) - top + OCTAVES;
  // Below the smallest step there is nothing.
  return octave >= 0 ? Math.min(most, 1 + Math.round((octave * (most - 1)) / OCTAVES)) : 0;
}

function valueOf(code: number, most: number, top: number): number {
  if (code === 0) return 0;
  return code > most ? Number.NaN : 2 ** ((OCTAVES * (code - 1)) / (most - 1) - OCTAVES + top);
}

/** Codes reach up to a power of two: the least from 1 on that is not below the largest value of the tile. */
export function topExponent(largest: number): number {
  return largest > 1 ? Math.ceil(Math.log2(largest)) : 0;
}

export function encode16(value: number, top = 0): number {
  return codeIn(value, TOP, top);
}

/** NaN where the mask forbids the cell, or where it is not computed. */
export function decode16(code: number, top = 0): number {
  return valueOf(code, TOP, top);
}

export function encode8(value: number, top = 0): number {
  return codeIn(value, TOP_8, top);
}

export function decode8(code: number, top = 0): number {
  return valueOf(code, TOP_8, top);
}

/** The 16-bit code of the same weight. */
export function widened(code: number): number {
  if (code === MASKED_8) return MASKED;
  if (code === PENDING_8) return PENDING;
  return code === 0 ? 0 : 1 + Math.round(((code - 1) * STEPS) / (TOP_8 - 1));
}

export function encodeSigned(value: number, top = 0): number {
  const code = codeIn(Math.abs(value), TOP_SIGNED, top);
  return value < 0 && code > 0 ? code | SIGN : code;
}

export function decodeSigned(code: number, top = 0): number {
  const value = valueOf(code & ~SIGN, TOP_SIGNED, top);
  return code & SIGN ? -value : value;
}

/**
 * Times even on the same axis, moved: ÷2^14 to ×2^18, since a text of 100,000 tokens has weights of ×2^17. What lies outside is
 * beyond every colour range anyway.
 */
const EVEN_FLOOR = -14;

/** What is added to a code that reaches up to 2^top to put it on this axis. */
export function wideShift(top: number): number {
  return (top - OCTAVES - EVEN_FLOOR) * PER_OCTAVE;
}

/** What is added to the code of a weight to give the code of weight / even. */
export function evenShift(even: number): number {
  return wideShift(-Math.log2(even));
}

export function shifted(code: number, shift: number): number {
  if (code === 0 || code > TOP) return code;
  return Math.min(TOP, Math.max(1, Math.round(code + shift)));
}

export function encodeEven(times: number): number {
  return times > 0 ? Math.min(TOP, Math.max(1, Math.round(1 + (Math.log2(times) - EVEN_FLOOR) * PER_OCTAVE))) : 0;
}

export function decodeEven(code: number): number {
  if (code === 0) return 0;
  return code > TOP ? Number.NaN : 2 ** ((code - 1) / PER_OCTAVE + EVEN_FLOOR);
}
