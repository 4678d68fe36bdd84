import { describe, expect, it } from 'vitest';
import { shownColumns, softmaxParts, writtenSum } from './steps';

describe('steps', () => {
  it('write sums whose parts add up', () => {
    const values = Array.from({ length: 32 }, () => Math.random() * 8 - 4);
    const { parts, rest, others, sum } = writtenSum(values);
    expect(parts).toHaveLength(4);
    expect(others).toBe(28);
    expect(parts.reduce((a, b) => a + b) + rest).toBeCloseTo(sum, 10);
    expect(Math.min(...parts.map(Math.abs))).toBeGreaterThanOrEqual(Math.max(...values.filter((value) => !parts.includes(value)).map(Math.abs)));
  });

  it('divide what softmax divides', () => {
    for (const scores of [[5.7, 3.9, -2, null], [800, 790, null, 3], [-90, -95]]) {
      const seen = scores.filter((score) => score !== null);
      const most = Math.max(...seen);
      const wanted = Math.exp((scores[0] as number) - most) / seen.reduce((sum, score) => sum + Math.exp(score - most), 0);
      const { own, sum } = softmaxParts(scores, 0);
      expect(own / sum).toBeCloseTo(wanted, 10);
      expect(Number.isFinite(own)).toBe(true);
    }
    expect(softmaxParts([1, null], 1).own).toBe(0);
  });

  it('show the strongest columns and the chosen one, in their order', () => {
    const weights = Array.from({ length: 100 }, (_, i) => (i * 37) % 101);
    const shown = shownColumns(weights, 0, 13);
    expect(shown).toHaveLength(13);
    expect(shown).toContain(0);
    expect([...shown].sort((a, b) => a - b)).toEqual(shown);
    expect(shownColumns([1, 2, 3], 1, 13)).toEqual([0, 1, 2]);
  });
});
