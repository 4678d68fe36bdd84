import { describe, expect, it } from 'vitest';
import { colorsNote, drawingOf, endsOf, figureBlock, meaningOf, pictureDrawing, scaleOf, valueName, withArrows } from './drawing';
import { scales } from './golden';

const values = scales.drawings.values.map((value) => value ?? Number.NaN);

describe('what C++ draws of a map', () => {
  it.each(scales.drawings.drawings.map((each) => [`${each.positions} positions, ${each.of || '-'} ${each.curve || '-'} ${each.range?.join(':') ?? '-'}`, each] as const))('%s', (_, each) => {
    const drawing = drawingOf(each, each.positions);
    expect([drawing.of, drawing.curve]).toEqual([each.drawnOf, each.drawnCurve]);
    const scale = scaleOf(drawing, values);
    expect(scale.low).toBeCloseTo(each.low, 12);
    expect(scale.high).toBeCloseTo(each.high, 12);
    expect([scale.below, scale.above]).toEqual([each.below, each.above]);
    expect(colorsNote(drawing, scale, endsOf(values)[1])).toBe(each.note);
    expect([valueName(drawing.of), meaningOf(drawing.of)]).toEqual([each.name, each.meaning]);
  });
});

describe('scaleOf', () => {
  it('takes an empty map', () => {
    expect(scaleOf(drawingOf({ of: '', curve: '', range: null }, 10), [Number.NaN])).toMatchObject({ low: 0, high: 1 });
    expect(scaleOf(drawingOf({ of: '', curve: '', range: ['1%', '99%'] }, 10), [])).toMatchObject({ low: 0, high: 1e-6 });
  });
});

describe('pictureDrawing', () => {
  it('has times even from even on, or weights', () => {
    expect(pictureDrawing({ of: 'weight', curve: '', range: null })).toEqual({ of: 'weight', curve: 'linear', range: null });
    expect(pictureDrawing({ of: '', curve: '', range: null })).toEqual({ of: 'times-even', curve: 'log', range: [1, 32] });
    expect(pictureDrawing({ of: 'times-even', curve: 'sqrt', range: [0, 9] }).range).toEqual([0, 9]);
  });
});

describe('withArrows', () => {
  it('tells what lies beyond an end', () => {
    const scale = scaleOf(drawingOf({ of: '', curve: '', range: null }, 100), [1]);
    expect(withArrows(scale, 1 / 32, 32)).toMatchObject({ below: false, above: false });
    expect(withArrows(scale, 0, 33)).toMatchObject({ below: true, above: true });
  });
});

describe('figureBlock', () => {
  it('leaves maps of up to 512 positions as they are', () => {
    expect([figureBlock(1, 1), figureBlock(512, 40), figureBlock(40, 513), figureBlock(7639, 7639)]).toEqual([1, 1, 2, 15]);
  });
});
