import type { MaskInfo } from './header';

/** The keys [begin, end) that the mask's range leaves to a row, as Mask::key_range in C++. */
export function keyRange(mask: MaskInfo, row: number, cols: number): [number, number] {
  const place = row + mask.offset;
  const begin = mask.behind === null ? 0 : Math.max(0, place - mask.behind);
  const end = mask.ahead === null ? cols : Math.min(cols, place + mask.ahead + 1);
  return begin < end ? [begin, end] : [0, 0];
}

/** Which keys of its range a row sees; null where the range alone decides. */
export function keyFilter(mask: MaskInfo): ((row: number, col: number) => boolean) | null {
  const { hiddenKeys, queryGroups, keyGroups } = mask;
  if (!hiddenKeys && !keyGroups) return null;
  const hidden = new Set(hiddenKeys);
  return (row, col) => !hidden.has(col) && (!keyGroups || queryGroups?.[row] === keyGroups[col]);
}

/** Whether the mask forbids any cell. */
export function hasForbidden(mask: MaskInfo, rows: number, cols: number): boolean {
  if (keyFilter(mask)) return true;
  for (let row = 0; row < rows; ++row) {
    const [begin, end] = keyRange(mask, row, cols);
    if (end - begin < cols) return true;
  }
  return false;
}

/** How many columns of [begin, end) a row sees. */
export type KeyCounter = (row: number, begin: number, end: number) => number;

export function keyCounter(mask: MaskInfo, cols: number): KeyCounter {
  const hidden = new Set(mask.hiddenKeys);
  const seenBefore = new Int32Array(cols + 1);
  for (let col = 0; col < cols; ++col) seenBefore[col + 1] = (seenBefore[col] as number) + (hidden.has(col) ? 0 : 1);
  const sees = mask.keyGroups ? keyFilter(mask) : null;
  return (row, begin, end) => {
    const [first, last] = keyRange(mask, row, cols);
    const from = Math.max(begin, first);
    const to = Math.min(end, last);
    if (from >= to) return 0;
    if (!sees) return (seenBefore[to] as number) - (seenBefore[from] as number);
    let count = 0;
    for (let col = from; col < to; ++col) if (sees(row, col)) ++count;
    return count;
  };
}
