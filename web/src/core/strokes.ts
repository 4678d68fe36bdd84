/** The lines between words: of every row the largest weights until enough of it is shown, the weakest drawn first. */
import type { WholeMap } from './run';

export interface Stroke {
  row: number;
  col: number;
  weight: number;
  head: number;
}

/** At most so many are drawn. */
export const MOST_STROKES = 25_000;
const LEAST = 0.005;

/** Of one row, from the largest on, until their sum is `mass` of the row's. */
export function strongest(line: ArrayLike<number>, mass: number): number[] {
  const order = Array.from({ length: line.length }, (_, i) => i).filter((i) => (line[i] as number) >= LEAST).sort((a, b) => (line[b] as number) - (line[a] as number));
  let all = 0;
  for (let i = 0; i < line.length; ++i) all += line[i] || 0;
  const taken: number[] = [];
  let sum = 0;
  for (const index of order) {
    if (sum >= mass * all) break;
    taken.push(index);
    sum += line[index] as number;
  }
  return taken;
}

export function strokesOf(map: WholeMap, head: number, mass: number): Stroke[] {
  const strokes: Stroke[] = [];
  for (let row = 0; row < map.rows; ++row) {
    const line = map.weights.subarray(row * map.cols, (row + 1) * map.cols);
    for (const col of strongest(line, mass)) strokes.push({ row, col, weight: line[col] as number, head });
  }
  return strokes;
}

/** The strongest of all heads, the weakest first. */
export function drawnStrokes(all: readonly Stroke[]): Stroke[] {
  const sorted = [...all].sort((a, b) => a.weight - b.weight);
  return sorted.length > MOST_STROKES ? sorted.slice(sorted.length - MOST_STROKES) : sorted;
}
