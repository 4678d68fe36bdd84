import { describe, expect, it } from 'vitest';
import { elide, isRightToLeft, isUpright, labelStep, paragraphs, receivers, roundNumbers, spread } from './labels';

describe('labelStep', () => {
  it('shows every name, or every round number of them', () => {
    expect([20, 10, 6, 4, 2, 1, 0.01].map((cell) => labelStep(cell, 10))).toEqual([1, 1, 2, 5, 5, 10, 1000]);
  });
});

describe('elide', () => {
  it('cuts between characters as readers see them', () => {
    expect(elide('short', 5)).toBe('short');
    expect(elide('longer', 5)).toBe('long…');
    expect(elide('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧');
    expect(elide('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 2)).toBe('👩‍👩‍👧…');
    expect(elide('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
  });
});

describe('scripts', () => {
  it('know which stand upright and which run from the right', () => {
    expect(['日本', 'かな', '한국', 'cat', '日a', '。', '12'].map(isUpright)).toEqual([true, true, true, false, false, false, false]);
    expect(['שלום', '12 مرحبا', 'cat שלום', '12'].map(isRightToLeft)).toEqual([true, true, false, false]);
  });
});

describe('paragraphs', () => {
  it('are named by their first words', () => {
    const read: [string, string, 0 | 1 | 2][] = [
      ['', 'GNU', 0], [' ', 'GEN', 0], ['', 'ERAL', 0], ['\n  ', '↵', 1], [' ', 'Version', 0], [' ', '␣', 1], ['', '3', 0],
      ['\n\n', '↵×2', 1], [' ', 'Everyone', 0], [' ', 'is', 0], [' ', 'permitted', 0], [' ', 'to', 0], [' ', 'copy', 0], ['\n', '↵', 1], ['\n', '↵', 1], ['', 'End', 0],
    ];
    expect(paragraphs({ read })).toEqual([{ index: 0, text: 'GNU GENERAL Version 3…'.slice(0, 22) }, { index: 8, text: 'Everyone is permitted…' }, { index: 15, text: 'End' }]);
  });
});

describe('receivers', () => {
  it('are the columns with most of the weight, then round numbers', () => {
    const sums = Array.from({ length: 2000 }, () => 0.5);
    sums[7] = 40;
    sums[300] = 900;
    const labels = sums.map((_, i) => `w${i}`);
    const marks = receivers(sums, 2000, labels);
    expect(marks.slice(0, 2)).toEqual([{ index: 300, text: 'w300' }, { index: 7, text: 'w7' }]);
    expect(marks.slice(2).map(({ index }) => index)).toEqual([0, 250, 500, 750, 1000, 1250, 1500, 1750]);
  });
});

describe('roundNumbers', () => {
  it('are few', () => {
    for (const count of [1, 9, 10, 700, 7639, 32768]) {
      const numbers = roundNumbers(count);
      expect(numbers.length).toBeLessThanOrEqual(9);
      expect(numbers[0]).toEqual({ index: 0, text: '' });
    }
  });
});

describe('spread', () => {
  it('keeps what comes first and gives way around it', () => {
    const marks = [{ index: 10, text: 'a' }, { index: 4, text: 'b' }, { index: 9, text: 'c' }, { index: 14, text: 'd' }];
    expect(spread(marks, 4).map(({ text }) => text)).toEqual(['b', 'a', 'd']);
  });
});
