import { describe, expect, it } from 'vitest';
import { numbersAlong, paragraphMarks, spreadOf, wordsAlong } from './map_marks';
import { Labels, type Label } from './run';
import { encode16, encodeEven, MASKED } from './tiles/code';

async function labelsOf(texts: string[]): Promise<Labels> {
  const all = texts.map((text, id): Label => ({ id, display: text, name: text.trim() || '␣', special: text.startsWith('['), kind: 'text', begins: true, group: id, before: '', text }));
  const labels = new Labels(all.length, (from, count) => Promise.resolve(all.slice(from, from + count)), () => undefined);
  await labels.need(0, all.length);
  return labels;
}

describe('names beside a map', () => {
  it('of rows are the first words of paragraphs', async () => {
    const labels = await labelsOf(['[CLS]', 'One', ' two', '\n', 'three', '.\n\n', 'Four', ' five', '\n\n', '  ', 'Six']);
    expect(paragraphMarks(labels).map(({ index, text }) => [index, text])).toEqual([[1, 'One two three.'], [6, 'Four five'], [10, 'Six']]);
  });

  it('are whole words that do not touch, and the pinned one wins', async () => {
    const labels = await labelsOf(Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? ',' : `word${i}`)));
    const marks = wordsAlong(labels, 10, 40, 6, 21, 23);
    expect(marks.some(({ index }) => index === 23)).toBe(true);
    marks.forEach(({ index, text }, i) => {
      expect(text).not.toBe(',');
      if (i > 0) expect((index - (marks[i - 1]?.index ?? 0)) * 6).toBeGreaterThanOrEqual(21);
    });
  });

  it('are round numbers with room between them', () => {
    for (const [first, end, perPixel] of [[0, 100352, 256], [51200, 53000, 4], [0, 60, 0.1]] as const) {
      const numbers = numbersAlong(first, end, perPixel, 70);
      expect(numbers.length).toBeGreaterThan(0);
      numbers.forEach((value, i) => i > 0 && expect((value - (numbers[i - 1] ?? 0)) / perPixel).toBeGreaterThanOrEqual(70));
    }
  });
});

describe('how values are spread', () => {
  it('counts cells and weights, and what lies beyond the ends', () => {
    const times = [1 / 100, 1, 1, 40];
    const weights = [0.01, 0.2, 0.3, 0.4];
    const tile = { codes: Uint16Array.from([...times.map(encodeEven), MASKED]), shares: Uint16Array.from([...weights.map((weight) => encode16(weight)), MASKED]) };
    const spread = spreadOf([tile], { low: 1 / 32, high: 32, curve: 'log', timesEven: true, below: false, above: false });
    expect(spread.cells.reduce((a, b) => a + b)).toBe(4);
    expect(spread.below[0]).toBeCloseTo(0.25, 6);
    expect(spread.beyond[0]).toBeCloseTo(0.25, 6);
    expect(spread.beyond[1]).toBeCloseTo(0.4 / 0.91, 3);
    expect(spread.largest).toBeCloseTo(40, 1);
  });
});
