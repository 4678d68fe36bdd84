/** The words under a view, the same as fovea/figure/caption.cc writes. */

export type HeadName = number | 'mean' | 'max';

export function headsText(head: HeadName, heads: number): string {
  if (typeof head === 'number') return `head ${head}`;
  return heads === 1 ? 'head 0' : `${head} of ${heads} heads`;
}

export function placeText(layer: number, head: HeadName, heads: number): string {
  return `layer ${layer}, ${headsText(head, heads)}`;
}

/** "1.00", or "0.42 to 1.00" where they differ. */
export function sumText(sums: ArrayLike<number>): string {
  if (sums.length === 0) return '0.00';
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < sums.length; ++i) {
    low = Math.min(low, sums[i] as number);
    high = Math.max(high, sums[i] as number);
  }
  const least = low.toFixed(2);
  const most = high.toFixed(2);
  return least === most ? most : `${least} to ${most}`;
}

export function tokenText(name: string, index: number, column: boolean): string {
  return column ? `Column ${index} "${name}" ← who attends to it` : `Row ${index} "${name}" → what it attends to`;
}

export function matrixCaption(place: string, rowSums: ArrayLike<number>): string {
  const sums = sumText(rowSums);
  const each = sums.includes(' ') ? 'rows sum to' : 'each row sums to';
  return `Rows attend to columns · ${place} · softmax weight · ${each} ${sums}`;
}

/** The same of other values than weights, without their sums. */
export function valueCaption(place: string, meaning: string): string {
  return `Rows attend to columns · ${place} · ${meaning}`;
}

/** `value`: what the colours are of; the sum is that of the weights. */
export function tokenCaption(token: string, place: string, sum: number, value = 'softmax weight'): string {
  return `${token} · ${place} · ${value} · sum ${sumText([sum])}`;
}

/** Keeps a name of any script from turning the words around it. */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}

/** How many decimals the steps of a map can carry. */
export function decimalsOf(levels: number): number {
  return levels >= 10000 ? 4 : 3;
}

/** "×3.2", as exactly as the steps can tell; what they cannot tell from zero is "< ÷20". `allowed`: columns that the row may see. */
export function evenText(weight: number, allowed: number, levels: number): string {
  if (Number.isNaN(weight)) return '';
  const code = Math.round(weight * levels);
  if (code === 0) return `< ${timesText((0.5 / levels) * allowed, 1)}`;
  return timesText(weight * allowed, code >= 100 ? 3 : code >= 10 ? 2 : 1);
}

function timesText(times: number, digits: number): string {
  const shown = Number((times >= 1 ? times : 1 / times).toPrecision(digits));
  return shown === 1 ? 'even' : `${times >= 1 ? '×' : '÷'}${shown.toLocaleString('en-US')}`;
}

/** "0.042", or "< 0.001" for what the steps cannot tell from zero. */
export function weightText(weight: number, levels: number): string {
  if (Number.isNaN(weight)) return 'not allowed';
  const decimals = decimalsOf(levels);
  const least = 10 ** -decimals;
  return weight < least ? `< ${least.toFixed(decimals)}` : weight.toFixed(decimals);
}
