/** Values into places of a colour map, as fovea/figure/color_axis.cc puts them; both are held against tests/data/page/scales.json. */

export const CURVES = ['linear', 'sqrt', 'log'] as const;
export type Curve = (typeof CURVES)[number];

export interface ColorScale {
  low: number;
  high: number;
  curve: Curve;
  /** Values count from even attention: 2 is told as ×2, 0.5 as ÷2. */
  timesEven: boolean;
  /** Whether values lie beyond that end. */
  below: boolean;
  above: boolean;
}

export interface Tick {
  place: number;
  text: string;
  strong: boolean;
}

/** 0 at the low end, 1 at the high one, beyond them less and more. */
export function placeOn(scale: ColorScale, value: number): number {
  const { low, high, curve } = scale;
  if (curve === 'sqrt') return Math.sqrt(Math.max(value - low, 0) / (high - low));
  if (curve === 'log') return Math.log(Math.max(value, 1e-300) / low) / Math.log(high / low);
  return (value - low) / (high - low);
}

/** "0.25", "1e-4"; of times even "×2", "÷2", "even". */
export function scaleText(scale: { timesEven: boolean }, value: number): string {
  if (scale.timesEven && value > 0) {
    if (value === 1) return 'even';
    return value > 1 ? `×${general(value, 3)}` : `÷${general(1 / value, 3)}`;
  }
  return general(value, 3).replace('e-0', 'e-').replace(/^-/, '\u2212');
}

/** As printf's %g writes it. */
export function general(value: number, digits: number): string {
  const [mantissa, power] = value.toExponential(digits - 1).split('e') as [string, string];
  const short = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digits) return short(value.toFixed(digits - 1 - exponent));
  return `${short(mantissa)}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** About `wanted` ticks, rising. */
export function ticksOf(scale: ColorScale, wanted: number): Tick[] {
  return scale.curve === 'linear' ? linearTicks(scale, wanted) : curvedTicks(scale, wanted);
}

function tickStep(low: number, high: number, wanted: number): number {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

function linearTicks(scale: ColorScale, wanted: number): Tick[] {
  const { low, high, timesEven } = scale;
  const step = tickStep(low, high, wanted);
  const slack = step * 1e-6;
  const ticks: Tick[] = [];
  for (let k = Math.ceil((low - slack) / step); k * step <= high + slack; ++k) {
    const value = k * step;
    const even = timesEven && value > 0;
    ticks.push({ place: placeOn(scale, value), text: even ? scaleText(scale, value) : tickText(value, step), strong: even && value === 1 });
  }
  return ticks;
}

/** As few digits as tell numbers `step` apart. */
function tickText(value: number, step: number): string {
  if (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4)) {
    return value.toExponential(1).replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const digits = Math.max(0, Math.min(8, Math.ceil(-Math.log10(step) - 1e-9)));
  return (value === 0 ? 0 : value).toFixed(digits).replace(/^-/, '\u2212');
}

const SHORT_WAY = 16;

/** What may stand beside a curved scale, the most wanted first. */
function candidates({ low, high, curve, timesEven }: ColorScale): number[] {
  const values = timesEven ? [1, low, high] : [];
  // A short way from even on is told by halves: ×2, ×4, ×8.
  if (timesEven && low === 1 && high <= SHORT_WAY) {
    for (let value = high / 2; value > 1; value /= 2) values.push(value);
    return values;
  }
  if (low === 0) values.push(0);
  const least = low > 0 ? low : high * 1e-4;
  const tens = curve === 'log' && high / least > 100;
  const bottom = Math.floor(Math.log10(least));
  for (let power = Math.floor(Math.log10(high) + 1e-9); power >= bottom; --power) {
    for (const factor of tens ? [1] : [5, 2, 1]) values.push(factor * 10 ** power);
  }
  return values;
}

function curvedTicks(scale: ColorScale, wanted: number): Tick[] {
  const gap = 0.75 / wanted;
  const ticks: Tick[] = [];
  for (const value of candidates(scale)) {
    const place = placeOn(scale, value);
    if (place < -1e-9 || place > 1 + 1e-9) continue;
    if (ticks.some((tick) => Math.abs(tick.place - place) < gap)) continue;
    const even = scale.timesEven && value === 1;
    ticks.push({ place, text: even && scale.low === 1 ? 'even or less' : scaleText(scale, value), strong: even });
  }
  return ticks.sort((a, b) => a.place - b.place);
}
