/** A map whose pieces of words are put together: rows by mean, columns by sum, so that rows still sum to 1. */
import type { Label, WholeMap } from './run';

export interface Word {
  /** The tokens [begin, end). */
  begin: number;
  end: number;
  /** As it stands in the running text, and what stands before it there. */
  text: string;
  before: string;
  /** In lists, on axes and in captions: without spaces around it, and never empty. */
  name: string;
  special: boolean;
}

export function wordsOf(labels: readonly Label[], merge: boolean): Word[] {
  const words: Word[] = [];
  labels.forEach((label, index) => {
    const last = words.at(-1);
    if (merge && last && !label.special && !last.special && label.group >= 0 && !label.begins) {
      last.end = index + 1;
      last.text += label.before + label.text;
      last.name = last.text.trim() || last.name;
      return;
    }
    const own = label.special ? label.name : label.text || label.name;
    // Many tokens begin with the space before their word, which is no part of it; a bare space is one.
    const gap = own.trim() === '' || label.special ? '' : (/^\s*/.exec(own)?.[0] ?? '');
    words.push({ begin: index, end: index + 1, text: own.slice(gap.length), before: label.before + gap, name: label.special ? own : own.trim() || label.display, special: label.special });
  });
  return words;
}

export function mergedMap(map: WholeMap, rows: readonly Word[], cols: readonly Word[]): WholeMap {
  if (rows.length === map.rows && cols.length === map.cols) return map;
  const weights = new Float32Array(rows.length * cols.length);
  const rowSums = new Float64Array(rows.length);
  const colSums = new Float64Array(cols.length);
  rows.forEach((row, r) => {
    cols.forEach((col, c) => {
      let sum = 0;
      let seen = 0;
      for (let i = row.begin; i < row.end; ++i) {
        for (let j = col.begin; j < col.end; ++j) {
          const weight = map.weights[i * map.cols + j] as number;
          if (Number.isNaN(weight)) continue;
          sum += weight;
          ++seen;
        }
      }
      const share = sum / (row.end - row.begin);
      weights[r * cols.length + c] = seen > 0 ? share : Number.NaN;
      rowSums[r] = (rowSums[r] as number) + share;
      // What a word receives from all tokens, as the tokens' own sums say.
      colSums[c] = (colSums[c] as number) + share;
    });
  });
  return { rows: rows.length, cols: cols.length, weights, rowSums, colSums };
}

/** The word that holds a token. */
export function wordAt(words: readonly Word[], token: number | null): number | null {
  if (token === null) return null;
  const found = words.findIndex(({ begin, end }) => token >= begin && token < end);
  return found < 0 ? null : found;
}
