import { describe, expect, it } from 'vitest';
import type { PageHeader, SiteInfo } from './header';
import { parseHeader } from './header';
import { askedOf, flipped, fromFragment, settled, startState, toFragment, VIEWS, type State } from './state';

const site = (name: string, kind: string, layer: number, rows: number, cols: number, colAxis: number): SiteInfo => ({
  site: name, kind, layer, heads: [0, 1, 2], allHeads: 3, rows, cols, rowAxis: 0, colAxis, mask: 0, levels: 1000, largest: [1, 1, 1],
});
const header: PageHeader = {
  format: 'fovea-page', version: 1, program: 'fovea', title: 't', model: 'm', modelHash: '',
  encoding: { map: '', thumbnails: '', thumbnailSide: 32 },
  start: { site: 1, head: '', view: 'matrix', colors: '', token: null, column: false },
  sites: [site('self.0', 'self', 0, 9, 9, 0), site('self.1', 'self', 1, 9, 9, 0), site('cross.0', 'cross', 0, 9, 5, 1)],
  axes: [], masks: [], colors: { inferno: '', paper: '' },
};

describe('fragments', () => {
  it('are empty at the start', () => {
    expect(toFragment(startState(header), header)).toBe('');
    expect(fromFragment('', header)).toEqual(startState(header));
  });

  it('carry every state there and back', () => {
    let seed = 3;
    const below = (count: number) => (seed = (seed * 16807) % 2147483647) % count;
    const one = <T>(items: readonly T[]): T => items[below(items.length)] as T;
    for (let round = 0; round < 300; ++round) {
      const state: State = settled(
        {
          site: below(3), head: one([0, 1, 2, 'mean', 'max'] as const), view: one(VIEWS), column: below(2) === 1,
          token: one([null, below(9)]), other: one([null, below(9)]), colors: one(['', 'inferno', 'paper']),
          of: one(['', 'weight', 'times-even'] as const), curve: one(['', 'linear', 'sqrt', 'log'] as const),
          askedRange: false, ownRange: below(2) === 1, theme: one(['', 'light', 'dark'] as const),
        },
        header,
      );
      const fragment = toFragment(state, header);
      expect(fromFragment(`#${fragment}`, header)).toEqual(state);
      expect(fragment.length).toBeLessThan(300);
    }
  });

  it('are passed over where they make no sense', () => {
    for (const fragment of ['#s=nowhere', '#h=99', '#h=-1', '#v=pie', '#t=999', '#m=<script>', '#%%%', '#g=root&d=blue', '#f=score', '#a=1']) {
      const state = fromFragment(fragment, header);
      expect({ ...state, theme: '' }).toEqual(startState(header));
    }
  });
});

describe('what the page was asked for', () => {
  const asked = { ...header, start: { ...header.start, of: 'times-even', scale: 'sqrt', range: [0.5, '99%'] as [number, string] } };
  it('is drawn at first', () => {
    expect(askedOf(startState(asked), asked)).toEqual({ of: 'times-even', curve: 'sqrt', range: [0.5, '99%'] });
    expect(askedOf(startState(header), header)).toEqual({ of: '', curve: '', range: null });
  });
  it('can be left and is kept in the address', () => {
    const state: State = { ...startState(asked), of: 'weight', curve: '', askedRange: false };
    expect(askedOf(state, asked)).toEqual({ of: 'weight', curve: '', range: null });
    expect(toFragment(state, asked)).toBe('f=weight&g=&a=0');
    expect(fromFragment('#f=weight&g=&a=0', asked)).toEqual(state);
  });
});

describe('flipped', () => {
  const state = { ...startState(header), token: 4, other: 2 };
  it('keeps the token where rows and columns are the same text', () => {
    expect(flipped(state, header.sites[0] as SiteInfo)).toMatchObject({ column: true, token: 4, other: 2 });
  });
  it('swaps both ends where they are not', () => {
    expect(flipped(state, header.sites[2] as SiteInfo)).toMatchObject({ column: true, token: 2, other: 4 });
  });
  it('twice is as before', () => {
    for (const each of header.sites) expect(flipped(flipped(state, each), each)).toEqual(state);
  });
});

describe('parseHeader', () => {
  it('refuses another format', () => {
    expect(() => parseHeader('{"format":"fovea-page","version":2}')).toThrow('fovea-page 1');
    expect(parseHeader(JSON.stringify(header))).toEqual(header);
  });
});
