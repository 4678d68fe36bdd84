import { describe, expect, it } from 'vitest';
import { fittingZoom, zoomSteps } from './zoom';

describe('fittingZoom', () => {
  it('shows all of any map, in whole pixels of the screen, and wastes no more than a bin', () => {
    for (const ratio of [1, 1.25, 1.5, 2, 3]) {
      for (const size of [1, 7, 64, 65, 300, 589, 590, 591, 1200, 2590, 7639, 32768]) {
        for (const [width, height] of [[950, 590], [284, 420], [700, 1000]] as const) {
          const { block, bin } = fittingZoom(size, size, width, height, ratio);
          const bins = Math.ceil(size / block);
          expect(bins * bin).toBeLessThanOrEqual(Math.min(width, height) + 1e-6);
          expect(Math.abs(bin * ratio - Math.round(bin * ratio))).toBeLessThan(1e-6);
          expect(bin).toBeGreaterThanOrEqual(1);
          if (block > 1) expect(Math.ceil(size / (block - 1)) * Math.ceil(ratio) / ratio).toBeGreaterThan(Math.min(width, height));
          else if (bin < 36) expect((bin + 1 / ratio) * size).toBeGreaterThan(Math.min(width, height));
        }
      }
    }
  });
  it('keeps cells square where a map is not', () => {
    expect(fittingZoom(5, 3, 900, 590, 1)).toEqual({ block: 1, bin: 36 });
    expect(fittingZoom(100, 1800, 900, 590, 1)).toEqual({ block: 2, bin: 1 });
  });
});

describe('zoomSteps', () => {
  it('go from the whole map to cells, each larger than the one before', () => {
    expect(zoomSteps({ block: 13, bin: 1 }).slice(0, 6)).toEqual([
      { block: 13, bin: 1 }, { block: 7, bin: 1 }, { block: 4, bin: 1 }, { block: 2, bin: 1 }, { block: 1, bin: 1 }, { block: 1, bin: 2 },
    ]);
    expect(zoomSteps({ block: 1, bin: 20 })).toEqual([{ block: 1, bin: 20 }, { block: 1, bin: 22 }, { block: 1, bin: 28 }, { block: 1, bin: 36 }]);
    expect(zoomSteps({ block: 1, bin: 36 })).toEqual([{ block: 1, bin: 36 }]);
  });
});
