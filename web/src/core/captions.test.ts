import { describe, expect, it } from 'vitest';
import { evenText, matrixCaption, placeText, sumText, tokenCaption, tokenText, weightText } from './captions';
import { golden } from './golden';

describe('captions are those of C++', () => {
  const { captions } = golden;
  it('for a matrix', () => {
    expect(matrixCaption(placeText(3, 7, 12), [1, 1.0001])).toBe(captions.matrix);
    expect(matrixCaption(placeText(3, 'mean', 12), [0.42, 1])).toBe(captions.matrixMean);
  });
  it('for a row and a column', () => {
    expect(tokenCaption(tokenText(captions.name, 1, false), placeText(3, 7, 12), 1)).toBe(captions.row);
    expect(tokenCaption(tokenText(captions.name, 1, true), placeText(3, 'mean', 12), 2.314)).toBe(captions.column);
  });
  it('say row or column, layer, head, what the numbers are and their sum', () => {
    expect(captions.row).toBe('Row 1 "cat" → what it attends to · layer 3, head 7 · softmax weight · sum 1.00');
    expect(captions.column).toBe('Column 1 "cat" ← who attends to it · layer 3, mean of 12 heads · softmax weight · sum 2.31');
    for (const text of Object.values(captions)) expect(text).not.toMatch(/importan/i);
  });
});

describe('sumText', () => {
  it('names both ends where sums differ', () => {
    expect(sumText([])).toBe('0.00');
    expect(sumText([0.999, 1.001])).toBe('1.00');
    expect(sumText([0.5, 1])).toBe('0.50 to 1.00');
  });
});

describe('evenText', () => {
  it('has as many digits as the steps can tell', () => {
    expect(evenText(0.207, 700, 65000)).toBe('×145');
    expect(evenText(0.25, 4, 65000)).toBe('even');
    expect(evenText(12 / 1920, 384, 1920)).toBe('×2.4');
    expect(evenText(1 / 1920, 384, 1920)).toBe('÷5');
    expect(evenText(0, 384, 1920)).toBe('< ÷10');
    expect(evenText(Number.NaN, 384, 1920)).toBe('');
  });
});

describe('weightText', () => {
  it('says no more than the steps can tell', () => {
    expect(weightText(0, 1920)).toBe('< 0.001');
    expect(weightText(0.0421, 1920)).toBe('0.042');
    expect(weightText(0.00004, 65000)).toBe('< 0.0001');
    expect(weightText(0.0421, 65000)).toBe('0.0421');
    expect(weightText(Number.NaN, 1920)).toBe('not allowed');
  });
});
