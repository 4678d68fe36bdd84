/** What a head does on a text, counted from its map. */
import type { WholeMap } from './run';

export interface HeadFacts {
  /** Mean over rows, in nats. */
  entropy: number;
  /** Tokens, weighted. */
  distance: number;
  /** Share of all weight on special columns. */
  special: number;
  largest: number;
}

export function headFacts({ rows, cols, weights }: WholeMap, special: readonly number[]): HeadFacts {
  const grey = new Set(special);
  let entropy = 0;
  let distance = 0;
  let onSpecial = 0;
  let all = 0;
  let largest = 0;
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const weight = weights[i * cols + j] as number;
      if (!(weight > 0)) continue;
      all += weight;
      entropy -= weight * Math.log(weight);
      distance += weight * Math.abs(i - j);
      if (grey.has(j)) onSpecial += weight;
      else if (weight > largest) largest = weight;
    }
  }
  return { entropy: entropy / rows, distance: distance / (all || 1), special: onSpecial / (all || 1), largest };
}

/** What so much of all weights to words lies below. */
export function quantileOf({ weights, cols }: WholeMap, special: readonly number[], share: number): { value: number; count: number } {
  const grey = new Set(special);
  const list = Array.from(weights).filter((weight, at) => weight >= 0 && !grey.has(at % cols)).sort((a, b) => a - b);
  return { value: list[Math.round(share * (list.length - 1))] ?? 0, count: list.length };
}
