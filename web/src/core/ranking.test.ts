import { describe, expect, it } from 'vitest';
import { largest, rankOf } from './ranking';

describe('largest', () => {
  it('is what sorting gives, for any line', () => {
    let seed = 7;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let round = 0; round < 50; ++round) {
      const line = Array.from({ length: 1 + round }, () => (random() < 0.2 ? Number.NaN : Math.round(random() * 9) / 10));
      const sorted = line
        .map((weight, index) => ({ index, weight }))
        .filter(({ weight }) => !Number.isNaN(weight))
        .sort((a, b) => b.weight - a.weight || a.index - b.index);
      expect(largest(line, 10)).toEqual(sorted.slice(0, 10));
      sorted.forEach(({ index }, rank) => expect(rankOf(line, index)).toEqual([rank + 1, sorted.length]));
    }
  });
});
