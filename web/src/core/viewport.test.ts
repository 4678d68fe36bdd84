import { describe, expect, it } from 'vitest';
import * as view from './viewport';

const SHAPES = [[100352, 100352], [7639, 7639], [513, 2000], [60, 60], [1, 1], [40000, 300]] as const;
const ROOMS = [[588, 588], [256, 256], [900, 500], [2600, 1400]] as const;

describe('the viewport', () => {
  it('fits the whole map in the smallest bins that have room', () => {
    for (const [rows, cols] of SHAPES) {
      for (const [width, height] of ROOMS) {
        for (const ratio of width < 512 ? [1] : [1, 2]) {
          const shape = { rows, cols };
          const fit = view.fitting(shape, width, height, ratio);
          const bin = 2 ** fit.level;
          expect(Math.ceil(cols / bin) * fit.cell).toBeLessThanOrEqual(width);
          expect(Math.ceil(rows / bin) * fit.cell).toBeLessThanOrEqual(height);
          expect(fit.cell).toBeGreaterThanOrEqual(ratio);
          if (fit.level > 0) expect(Math.ceil(cols / (bin / 2)) * ratio > width || Math.ceil(rows / (bin / 2)) * ratio > height).toBe(true);
          const list = view.steps(fit, ratio);
          list.forEach((step, i) => i > 0 && expect(step.cell / 2 ** step.level).toBeGreaterThan((list[i - 1] as view.ZoomStep).cell / 2 ** (list[i - 1] as view.ZoomStep).level));
          list.forEach((step, i) => expect(view.stepIndex(list, step)).toBe(i));
        }
      }
    }
  });

  it('keeps the token under the cursor when zooming, to a bin, wherever the edge allows it', () => {
    const shape = { rows: 100352, cols: 100352 };
    const [width, height] = [900, 600];
    const list = view.steps(view.fitting(shape, width, height, 1), 1);
    for (let trial = 0; trial < 300; ++trial) {
      const from = list[1 + Math.floor(Math.random() * (list.length - 2))] as view.ZoomStep;
      const to = list[1 + Math.floor(Math.random() * (list.length - 2))] as view.ZoomStep;
      const start = view.centredOn(from, 20000 + Math.random() * 60000, 20000 + Math.random() * 60000, shape, width, height);
      const [x, y] = [Math.floor(Math.random() * width), Math.floor(Math.random() * height)];
      const before = view.cellUnder(start, x, y, shape);
      const next = view.zoomedAt(start, to, x, y, shape, width, height);
      const after = view.cellUnder(next, x, y, shape);
      if (!before || !after || next.row === 0 || next.col === 0) continue;
      const { down, across } = view.binsIn(next, shape, width, height);
      if (next.row + down * 2 ** to.level >= shape.rows || next.col + across * 2 ** to.level >= shape.cols) continue;
      const slack = 1.5 * Math.max(2 ** from.level, 2 ** to.level);
      expect(Math.abs(before.row - after.row)).toBeLessThanOrEqual(slack);
      expect(Math.abs(before.col - after.col)).toBeLessThanOrEqual(slack);
    }
  });

  it('finds under each pixel the cell that is drawn there', () => {
    const shape = { rows: 7639, cols: 7639 };
    for (const step of view.steps(view.fitting(shape, 588, 588, 1), 1)) {
      const at = view.centredOn(step, 2674, 2279, shape, 588, 588);
      for (const [x, y] of [[0, 0], [17, 300], [300, 301]] as const) {
        const cell = view.cellUnder(at, x, y, shape);
        if (!cell) continue;
        const corner = view.pixelOfCell(at, cell.row, cell.col);
        expect(x - corner.x).toBeGreaterThanOrEqual(0);
        expect(x - corner.x).toBeLessThan(step.cell);
        expect(y - corner.y).toBeLessThan(step.cell);
      }
    }
  });

  it('needs every tile in view once, and the overview always', () => {
    const shape = { rows: 100352, cols: 100352 };
    const fit = view.fitting(shape, 600, 600, 1);
    const at = view.centredOn({ level: 0, cell: 6 }, 51203, 88, shape, 600, 600);
    const { visible, prefetch } = view.needed(at, fit, shape, 600, 600);
    const keys = [...visible, ...prefetch].map(view.tileKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(visible.every(({ level }) => level === 0)).toBe(true);
    expect(keys).toContain('0/200/0');
    expect(prefetch.filter(({ level }) => level === fit.level)).toHaveLength(Math.ceil(100352 / 256 / 2 ** fit.level) ** 2);
  });
});
