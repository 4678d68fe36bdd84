/** What stands beside a long map: names, round numbers, sums and how values are spread. */
import type { Labels } from './run';
import { labelStep, type Mark } from './labels';
import { placeOn, type ColorScale } from './scale';
import { decode16, decodeEven, MASKED } from './tiles/code';

const WORD = /^\s*[\p{L}\p{N}]{2,}/u;
const PARTS = 92;
/** Letters of a paragraph's first words; the page cuts them to its room. */
const OPENING = 60;

/** Whole words along an axis, at least `apart` pixels from each other and from the pinned one. */
export function wordsAlong(labels: Labels, first: number, count: number, cell: number, apart: number, pinned: number | null): Mark[] {
  const marks: Mark[] = [];
  let last = -Infinity;
  for (let index = first; index < Math.min(labels.count, first + count); ++index) {
    const at = (index - first) * cell;
    if (at - last < apart) continue;
    if (pinned !== null && index !== pinned && Math.abs(index - pinned) * cell < apart) continue;
    const label = labels.at(index);
    if (!label || (cell < apart && !WORD.test(label.name) && !label.special)) continue;
    marks.push({ index, text: label.name });
    last = at;
  }
  return marks;
}

/** Round numbers along an axis, at least `apart` pixels from each other. `perPixel`: tokens in a pixel. */
export function numbersAlong(first: number, end: number, perPixel: number, apart: number): number[] {
  const step = labelStep(1, Math.max(1, apart * perPixel));
  const numbers: number[] = [];
  for (let index = Math.ceil(first / step) * step; index < end; index += step) numbers.push(index);
  return numbers;
}

/** The first words of every paragraph, which an empty line parts from the one before. */
export function paragraphMarks(labels: Labels): Mark[] {
  const marks: Mark[] = [];
  let lines = 2;
  for (let index = 0; index < labels.count; ++index) {
    const label = labels.at(index);
    if (!label) return [];
    const text = label.before + label.text;
    if (label.special || text.trim() === '') {
      lines += text.split('\n').length - 1;
      continue;
    }
    lines += (/^\s*/.exec(text)?.[0] ?? '').split('\n').length - 1;
    if (lines >= 2) marks.push({ index, text: openingOf(labels, index) });
    lines = (/\s*$/.exec(text)?.[0] ?? '').split('\n').length - 1;
  }
  return marks;
}

function openingOf(labels: Labels, from: number): string {
  let text = '';
  for (let index = from; index < labels.count && text.length < OPENING && !/\S\s*\n\s*\n/.test(text); ++index) {
    text += `${index > from ? (labels.at(index)?.before ?? '') : ''}${labels.at(index)?.text ?? ''}`;
  }
  return text.trim().replace(/\s+/g, ' ').slice(0, OPENING);
}

export interface Spread {
  cells: Float64Array;
  weights: Float64Array;
  /** Shares of cells and of weight beyond the ends. */
  below: [number, number];
  beyond: [number, number];
  largest: number;
}

/** How many cells of the view, and how much of their weight, lie at each part of the scale. */
export function spreadOf(codes: Iterable<{ codes: Uint16Array; shares: Uint16Array }>, scale: ColorScale): Spread {
  const counts = new Float64Array(MASKED);
  const masses = new Float64Array(MASKED);
  for (const tile of codes) {
    for (let i = 0; i < tile.codes.length; ++i) {
      const code = tile.codes[i] as number;
      if (code >= MASKED) continue;
      counts[code] = (counts[code] as number) + 1;
      masses[code] = (masses[code] as number) + decode16(tile.shares[i] as number);
    }
  }
  const decode = scale.timesEven ? decodeEven : decode16;
  const result: Spread = { cells: new Float64Array(PARTS), weights: new Float64Array(PARTS), below: [0, 0], beyond: [0, 0], largest: 0 };
  let cells = 0;
  let weight = 0;
  for (let code = 0; code < MASKED; ++code) {
    const count = counts[code] as number;
    if (count === 0) continue;
    const mass = masses[code] as number;
    const value = decode(code);
    const place = value > 0 || scale.curve !== 'log' ? placeOn(scale, value) : -1;
    const part = Math.max(0, Math.min(PARTS - 1, Math.floor(place * PARTS)));
    result.cells[part] = (result.cells[part] as number) + count;
    result.weights[part] = (result.weights[part] as number) + mass;
    cells += count;
    weight += mass;
    result.largest = Math.max(result.largest, value);
    const end = place < 0 ? result.below : place > 1 ? result.beyond : null;
    if (end) {
      end[0] += count;
      end[1] += mass;
    }
  }
  for (const end of [result.below, result.beyond]) {
    end[0] /= cells || 1;
    end[1] /= weight || 1;
  }
  return result;
}
