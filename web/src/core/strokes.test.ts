import { describe, expect, it } from 'vitest';
import { MOST_STROKES, drawnStrokes, strokesOf, strongest } from './strokes';

describe('lines', () => {
  it('are the fewest that hold so much of a row', () => {
    expect(strongest([0.1, 0.6, Number.NaN, 0.25, 0.05], 0.9)).toEqual([1, 3, 0]);
    expect(strongest([0.1, 0.6, 0.25, 0.05], 0.5)).toEqual([1]);
    expect(strongest([Number.NaN, 1], 1)).toEqual([1]);
    for (let i = 0; i < 200; ++i) {
      const raw = Array.from({ length: 30 }, () => Math.random() ** 4);
      const all = raw.reduce((a, b) => a + b);
      const line = raw.map((value) => value / all);
      const taken = strongest(line, 0.8);
      const sum = taken.reduce((a, index) => a + (line[index] as number), 0);
      expect(sum).toBeGreaterThanOrEqual(0.8 - 1e-9);
      expect(sum - (line[taken.at(-1) as number] as number)).toBeLessThan(0.8);
    }
  });

  it('of all rows are as many as fit, the strongest of them', () => {
    const map = { rows: 2, cols: 2, weights: Float32Array.from([0.75, 0.25, 0.5, 0.5]), rowSums: new Float64Array(2), colSums: new Float64Array(2) };
    expect(strokesOf(map, 3, 0.7).map(({ row, col, head }) => [row, col, head])).toEqual([[0, 0, 3], [1, 0, 3], [1, 1, 3]]);
    const many = Array.from({ length: MOST_STROKES + 10 }, (_, i) => ({ row: i, col: 0, weight: (i * 7919) % 100_003, head: 0 }));
    const drawn = drawnStrokes(many);
    expect(drawn).toHaveLength(MOST_STROKES);
    expect(drawn.every(({ weight }, i) => i === 0 || weight >= (drawn[i - 1]?.weight as number))).toBe(true);
  });
});
