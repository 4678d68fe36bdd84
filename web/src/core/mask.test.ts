import { describe, expect, it } from 'vitest';
import { hasForbidden, keyFilter, keyRange } from './mask';

const open = { offset: 0, behind: null, ahead: null };

describe('keyRange', () => {
  it('is everything, what came before, or a window', () => {
    expect(keyRange(open, 3, 10)).toEqual([0, 10]);
    expect(keyRange({ ...open, ahead: 0 }, 3, 10)).toEqual([0, 4]);
    expect(keyRange({ offset: 2, behind: 3, ahead: 0 }, 3, 10)).toEqual([2, 6]);
    expect(keyRange({ offset: 20, behind: 3, ahead: 0 }, 3, 10)).toEqual([0, 0]);
  });
});

describe('keyFilter', () => {
  it('hides padding and other groups', () => {
    expect(keyFilter(open)).toBeNull();
    const sees = keyFilter({ ...open, hiddenKeys: [1], queryGroups: [0, 1], keyGroups: [0, 0, 1] });
    expect([0, 1, 2].map((key) => sees?.(0, key))).toEqual([true, false, false]);
    expect([0, 1, 2].map((key) => sees?.(1, key))).toEqual([false, false, true]);
  });
});

describe('hasForbidden', () => {
  it('is true where the mask leaves out a cell', () => {
    expect(hasForbidden(open, 3, 3)).toBe(false);
    expect(hasForbidden({ ...open, ahead: 0 }, 3, 3)).toBe(true);
    expect(hasForbidden({ ...open, ahead: 2 }, 3, 3)).toBe(false);
  });
});
