/** How a weight came about, as the server tells it step by step, and what of it is written out. */

export interface Steps {
  row: number;
  token: string;
  cols: string[];
  scale: number;
  soft_cap?: number;
  q: number[];
  k: number[][];
  v: number[][];
  products: number[][];
  scores: number[];
  scaled: number[];
  /** null where the mask forbids. */
  masked: (number | null)[];
  weights: number[];
  weighted_sum: number[];
  map_difference: number;
  output_difference?: number;
}

export interface Summed {
  /** The largest parts, as they are added. */
  parts: number[];
  /** What all others come to, and how many they are. */
  rest: number;
  others: number;
  sum: number;
}

/** A sum written out: its few largest parts, and the rest together. */
export function writtenSum(values: readonly number[], most = 4): Summed {
  const order = values.map((_, i) => i).sort((a, b) => Math.abs(values[b] as number) - Math.abs(values[a] as number));
  const parts = order.slice(0, most).map((i) => values[i] as number);
  const sum = values.reduce((all, value) => all + value, 0);
  return { parts, rest: sum - parts.reduce((all, value) => all + value, 0), others: Math.max(0, values.length - most), sum };
}

/** e to a score and the sum of all of them, with the largest score taken away where that would be too large to write. */
export function softmaxParts(masked: readonly (number | null)[], at: number): { own: number; sum: number; shift: number } {
  const seen = masked.filter((score): score is number => score !== null && Number.isFinite(score));
  const most = Math.max(...seen, -1e300);
  const shift = most > 12 || most < -12 ? most : 0;
  const own = masked[at];
  return { own: own === null || own === undefined ? 0 : Math.exp(own - shift), sum: seen.reduce((all, score) => all + Math.exp(score - shift), 0), shift };
}

/** The columns that are shown, in their order: all that fit, else those with the largest weights and the chosen one. */
export function shownColumns(weights: readonly number[], chosen: number, most: number): number[] {
  const all = weights.map((_, i) => i);
  if (all.length <= most) return all;
  const best = [...all].sort((a, b) => (weights[b] as number) - (weights[a] as number)).slice(0, most);
  if (!best.includes(chosen)) best[most - 1] = chosen;
  return best.sort((a, b) => a - b);
}
