import { describe, expect, it } from 'vitest';
import { commandOf } from './keyboard';

const press = (key: string, more = {}) => commandOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

describe('commandOf', () => {
  it('knows the keys of the help', () => {
    expect(['[', ']', ',', '.', '{', '}', 'r', 'Escape', 'v', '?'].map((key) => press(key))).toEqual([
      'layer-before', 'layer-after', 'head-before', 'head-after', 'head-before', 'head-after', 'flip', 'unpin', 'next-view', 'help',
    ]);
    expect(press('R', { shiftKey: true })).toBe('flip');
    expect(press('ArrowLeft')).toBe('left');
    expect(press('ArrowDown', { shiftKey: true })).toBe('far-down');
  });
  it('leaves the browser its own', () => {
    expect(press('r', { ctrlKey: true })).toBeNull();
    expect(press('ArrowLeft', { altKey: true })).toBeNull();
    expect(press('q')).toBeNull();
    expect(press('Tab')).toBeNull();
  });
});
