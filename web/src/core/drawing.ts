/** What of a map is drawn and how it becomes a colour, as fovea/figure/map_drawing.cc chooses it; tests/data/page/scales.json holds both. */
import { scaleText, type ColorScale, type Curve } from './scale';

export const MAP_VALUES = ['weight', 'times-even'] as const;
export type MapValue = (typeof MAP_VALUES)[number];

/** Up to so many positions a side a map is drawn as weights, a longer one as times even. */
export const SHORT_MAP = 64;
const NUMBERED_MAP = 24;
/** Bins a side of a figure of one map. */
const FIGURE_BINS = 512;

const EVEN_REACH = 32;
const LEAST_WEIGHT = 1e-5;

/** An end of the colours: a value, or as "1%" the one that so many percent of all lie below. */
export type RangeEnd = number | string;
export type ColorRange = readonly [RangeEnd, RangeEnd];

/** What is asked for; what is empty suits the map. */
export interface Asked {
  of: MapValue | '';
  curve: Curve | '';
  range: ColorRange | null;
}

export interface MapDrawing {
  of: MapValue;
  curve: Curve;
  range: ColorRange | null;
}

/** Of a map with so many positions on its longer side, or of several; of running text 1. Small weights show by their square root, unless each cell has room for its number. */
export function drawingOf(asked: Asked, positions: number, maps = 1): MapDrawing {
  const of = asked.of || (positions > SHORT_MAP ? 'times-even' : 'weight');
  const smallShow = of === 'weight' && !asked.range && positions <= SHORT_MAP && (maps > 1 || positions > NUMBERED_MAP);
  return { of, curve: asked.curve || (of === 'times-even' ? 'log' : smallShow ? 'sqrt' : 'linear'), range: asked.range };
}

/** The next of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 and their tenfolds: where the colours of weights end. */
export function roundEnd(largest: number): number {
  if (!(largest > 0)) return 1;
  const slack = 1 + 1e-5; // 1.0000001 is 1
  const power = 10 ** Math.floor(Math.log10(largest / slack));
  return ([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((step) => largest <= step * power * slack) ?? 10) * power;
}

/** Over a picture: times even from even on, unless something else is asked for. A figure ends at 8 where nothing goes beyond it; here every line that one may point at has the same colours. */
export function pictureDrawing(asked: Asked): MapDrawing {
  const drawing = drawingOf({ ...asked, of: asked.of || 'times-even' }, 1);
  return drawing.of === 'times-even' && !drawing.range ? { ...drawing, range: [1, EVEN_REACH] } : drawing;
}

/** Weights, linear from 0 to the largest: what a caption need not say. */
export function isPlain({ of, curve, range }: MapDrawing): boolean {
  return of === 'weight' && curve === 'linear' && !range;
}

/** Positions in a bin of the figure of one such map. Its values decide where colours end. */
export function figureBlock(rows: number, cols: number): number {
  return Math.max(1, Math.ceil(Math.max(rows, cols) / FIGURE_BINS));
}

/** The colours of such values; NaN counts for nothing. */
export function scaleOf(drawing: MapDrawing, values: ArrayLike<number>): ColorScale {
  const [least, most] = endsOf(values);
  const [low, high] = drawing.range ? askedEnds(drawing, drawing.range, values) : usualEnds(drawing, most);
  const scale = { low, high, curve: drawing.curve, timesEven: drawing.of === 'times-even', below: false, above: false };
  return isPlain(drawing) ? scale : withArrows(scale, least, most);
}

/** The scale with what of the values from `least` to `most` lies beyond its ends. */
export function withArrows(scale: ColorScale, least: number, most: number): ColorScale {
  const slack = (scale.high - scale.low) * 1e-6;
  return { ...scale, below: least < scale.low - slack, above: most > scale.high + slack };
}

/** The least and the largest number; 0 where there is none. */
export function endsOf(values: ArrayLike<number>): [number, number] {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i] as number;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? [least, most] : [0, 0];
}

function usualEnds({ of, curve }: MapDrawing, most: number): [number, number] {
  if (curve !== 'log') return [0, roundEnd(most)];
  return of === 'times-even' ? [1 / EVEN_REACH, EVEN_REACH] : [LEAST_WEIGHT, 1];
}

function askedEnds({ curve }: MapDrawing, range: ColorRange, values: ArrayLike<number>): [number, number] {
  let sorted: Float64Array | null = null;
  const numbers = () => (sorted ??= Float64Array.from(values).filter((value) => Number.isFinite(value)).sort());
  const valueOf = (end: RangeEnd) => (typeof end === 'number' ? end : percentile(numbers(), Number.parseFloat(end)));
  let low = valueOf(range[0]);
  const high = valueOf(range[1]);
  // A percentile of a map with zeros in it.
  if (curve === 'log' && low <= 0) low = Math.min(high, numbers().find((value) => value > 0) ?? high);
  return low < high ? [low, high] : [low, low + Math.max(1e-6, Math.abs(low) * 1e-3)];
}

function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.round(((sorted.length - 1) * percent) / 100)] ?? 0;
}

/** Beside the colour bar. */
export function valueName(of: MapValue): string {
  return of === 'times-even' ? 'weight, times even' : 'attention weight';
}

export function meaningOf(of: MapValue): string {
  return of === 'times-even' ? 'softmax weight, divided by what even attention gives' : 'softmax weight';
}

/** " · log colours ÷32 to ×32, largest ×150"; empty where the drawing is plain. */
export function colorsNote(drawing: MapDrawing, scale: ColorScale, largest: number): string {
  if (isPlain(drawing)) return '';
  const curve = scale.curve === 'linear' ? '' : scale.curve === 'sqrt' ? 'square-root ' : `${scale.curve} `;
  const low = scale.low === 1 && scale.timesEven ? '×1' : scaleText(scale, scale.low);
  return ` · ${curve}colours ${low} to ${scaleText(scale, scale.high)}, largest ${scaleText(scale, largest)}`;
}
