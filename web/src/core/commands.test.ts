import { describe, expect, it } from 'vitest';
import { Commands, keyOf, matchScore } from './commands';

const event = (key: string, more: Partial<KeyboardEvent> = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });

describe('commands', () => {
  it('answer to keys, single letters only in a view', () => {
    const done: string[] = [];
    const commands = new Commands();
    commands.add({ id: 'flip', keys: ['r'], run: () => done.push('flip') }, { id: 'palette', keys: ['Ctrl+K'], everywhere: true, run: () => done.push('palette') });
    expect(commands.press('r', false)).toBe(false);
    expect(commands.press('r', true)).toBe(true);
    expect(commands.press('Ctrl+K', false)).toBe(true);
    commands.singleKeys = false;
    expect(commands.press('r', true)).toBe(false);
    expect(commands.press('Ctrl+K', true)).toBe(true);
    expect(done).toEqual(['flip', 'palette', 'palette']);
  });

  it('may be two keys, one after the other', () => {
    const done: number[] = [];
    const commands = new Commands();
    commands.add(...[1, 2].map((n) => ({ id: `view.${n}`, keys: [`v ${n}`], run: () => void done.push(n) })));
    expect(commands.press('v', true)).toBe(true);
    expect(commands.press('2', true)).toBe(true);
    expect(commands.press('2', true)).toBe(false);
    expect(done).toEqual([2]);
  });

  it('say why they cannot be done', () => {
    const commands = new Commands();
    commands.add({ id: 'lines', unless: () => 'Lines need 2,000 tokens or fewer.', run: () => { throw new Error(); } });
    expect(commands.run('lines')).toBe('Lines need 2,000 tokens or fewer.');
    expect(commands.run('none')).toContain('none');
  });

  it('have ids that are there once, and can be bound anew or taken away', () => {
    const commands = new Commands({ b: 'x' });
    let count = 0;
    const remove = commands.add({ id: 'a', keys: ['a'], run: () => ++count }, { id: 'b', keys: ['b'], run: () => ++count });
    expect(() => commands.add({ id: 'a', run: () => undefined })).toThrow('two commands a');
    expect(commands.press('b', true)).toBe(false);
    expect(commands.press('x', true)).toBe(true);
    commands.rebind('a', '');
    expect(commands.press('a', true)).toBe(false);
    remove();
    expect(commands.press('x', true)).toBe(false);
    expect(count).toBe(1);
  });

  it('are found by their letters', () => {
    const names = ['Go to a cell', 'Next head', 'Head before', 'Mean of all heads', 'Fit'];
    const best = (query: string) => names.map((name) => [matchScore(query, name), name] as const).filter(([score]) => score >= 0).sort((a, b) => b[0] - a[0])[0]?.[1];
    expect(best('head')).toBe('Head before');
    expect(best('gtc')).toBe('Go to a cell');
    expect(best('mh')).toBe('Mean of all heads');
    expect(best('zzz')).toBeUndefined();
  });

  it('are written one way', () => {
    expect(keyOf(event('k', { ctrlKey: true }))).toBe('Ctrl+K');
    expect(keyOf(event('C', { metaKey: true, shiftKey: true }))).toBe('Ctrl+Shift+C');
    expect(keyOf(event('?', { shiftKey: true }))).toBe('?');
    expect(keyOf(event('ArrowUp', { shiftKey: true }))).toBe('Shift+ArrowUp');
    expect(keyOf(event(' '))).toBe('Space');
  });
});
