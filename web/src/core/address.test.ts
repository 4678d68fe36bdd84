import { describe, expect, it } from 'vitest';
import { PAGES, START, TEXT_VIEWS, VALUES, fromAddress, isMove, toAddress, type Place } from './address';

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const whole = (most: number) => Math.floor(Math.random() * most);

function anyPlace(): Place {
  return {
    page: pick(PAGES), view: pick(TEXT_VIEWS), run: pick(['', 'a3f09c', '0123456789abcdef']), site: pick(['self', 'cross', 'vision.self']),
    layer: whole(90), head: pick([0, 31, 'mean', 'max'] as const), column: pick([true, false]), row: pick([null, 0, 100351]), col: pick([null, 0, 88]),
    of: pick(['', ...VALUES] as const), curve: pick(['', 'linear', 'sqrt', 'log'] as const), colors: pick(['', 'viridis']), pool: pick(['mean', 'max'] as const),
    hideSinks: pick([true, false]), words: pick([true, false]), more: pick([[], [3], [0, 100351, 7]]), heads: pick([[], [0], [3, 11]]), mass: pick([0.9, 0.5, 1, 0.01]),
    zoom: pick([null, { level: 3, cell: 2, row: 51203, col: 0 }]), theme: pick(['', 'light', 'dark'] as const),
  };
}

describe('the address', () => {
  it('says everything: what is written is read again', () => {
    for (let i = 0; i < 3000; ++i) {
      const place = anyPlace();
      expect(fromAddress(`#${toAddress(place)}`)).toEqual(place);
    }
  });

  it('is empty at the start and short otherwise', () => {
    expect(toAddress(START)).toBe('');
    for (let i = 0; i < 300; ++i) expect(toAddress(anyPlace()).length).toBeLessThan(300);
  });

  it('passes over nonsense', () => {
    for (const text of ['', '#', 'p=evil', 'l=-1', 'l=1e9', 'z=1.0.0.0', 'z=x', 'o=1.2.', 'r=../../etc', 'a=0', 'a=101', 'i=%00', 'h=median', '%%%', 'p']) {
      expect(fromAddress(text)).toEqual(START);
    }
    for (let i = 0; i < 1000; ++i) {
      const noise = Array.from({ length: 40 }, () => String.fromCharCode(32 + whole(95))).join('');
      expect(() => fromAddress(noise)).not.toThrow();
    }
  });

  it('knows moving about from doing something', () => {
    const here = anyPlace();
    expect(isMove(here, { ...here, zoom: { level: 0, cell: 6, row: 1, col: 2 } })).toBe(true);
    expect(isMove(here, { ...here, layer: here.layer + 1 })).toBe(false);
    expect(isMove(here, { ...here, more: [...here.more, 5] })).toBe(false);
  });
});
