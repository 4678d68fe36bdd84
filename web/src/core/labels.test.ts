import { describe, expect, it } from 'vitest';
import { elide, isRightToLeft, isUpright, labelStep } from './labels';

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
