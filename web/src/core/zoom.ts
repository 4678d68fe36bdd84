/** How large a map is shown: in bins of whole pixels, all of it at first, then ever smaller parts, at last single cells. */

export interface Zoom {
  /** Positions a side of a bin; 1: cells. */
  block: number;
  /** Pixels a side of a bin, of the page's; whole ones of the screen where all of the map is shown. */
  bin: number;
}

const LARGEST_CELL = 36;
const CELLS = [1, 2, 3, 4, 6, 8, 10, 12, 14, 18, 22, 28, LARGEST_CELL];

/** The largest cells, or else the smallest bins, with which all of a map fits into the room. `ratio`: pixels of the screen in one of the page. */
export function fittingZoom(rows: number, cols: number, width: number, height: number, ratio: number): Zoom {
  const least = Math.ceil(ratio) / ratio; // a pixel of the page, or a little more
  const needed = (size: number, room: number) => Math.ceil(size / Math.max(1, Math.floor(room / least + 1e-9)));
  const block = Math.max(1, needed(cols, width), needed(rows, height));
  const room = Math.min(width / Math.ceil(cols / block), height / Math.ceil(rows / block));
  const bin = Math.floor(room * ratio + 1e-9) / ratio;
  return { block, bin: Math.max(least, Math.min(LARGEST_CELL, bin)) };
}

/** From all of the map to the largest cells. Bins are halved, which about doubles what is seen of a position. */
export function zoomSteps(fit: Zoom): Zoom[] {
  const steps = [fit];
  for (let { block } = fit; block > 1; ) {
    block = Math.ceil(block / 2);
    steps.push({ block, bin: fit.bin });
  }
  for (const bin of CELLS) if (bin > fit.bin) steps.push({ block: 1, bin });
  return steps;
}
