/** "2674, 2279", "2674" or a word. */
import { fill, words } from '../../words/words';
import { countText } from '../../core/numbers';
import { isCausal, maskOfLayer } from '../../core/run';
import type { Model } from '../model.svelte';

let last = '';

/** Empty if it went there, else why not. */
export async function goTo(model: Model, text: string): Promise<string> {
  const { run, site, place } = model;
  if (!run || !site) return words.states.noRun;
  const numbers = /^\s*(\d[\d,]*?)\s*(?:[,; ]\s*(\d+))?\s*$/.exec(text);
  if (numbers) {
    const row = Number((numbers[1] as string).replaceAll(',', ''));
    const col = numbers[2] === undefined ? (place.col ?? Math.min(row, site.cols - 1)) : Number(numbers[2]);
    if (row >= site.rows || col >= site.cols) return fill(words.map.outside, { rows: countText(site.rows - 1), columns: countText(site.cols - 1) });
    model.go({ row, col });
    return '';
  }
  if (!text.trim()) return words.map.goToHint;
  last = text.trim();
  return findNext(model, false, true);
}

/** The next token with what was looked for last. */
export async function findNext(model: Model, back: boolean, first = false): Promise<string> {
  const { run, site, place } = model;
  if (!run || !site || !last) return words.map.goToHint;
  const now = place.column ? place.col : place.row;
  const from = now === null ? 0 : first ? now : now + (back ? -1 : 1);
  const found = await run.labels(site, place.column ? 'column' : 'row').find(last, from, back);
  if (found < 0) return fill(words.map.notFound, { text: last });
  if (place.column) model.go({ col: found, row: Math.max(found, place.row ?? 0) });
  else model.go({ row: found, col: Math.min(place.col ?? found, isCausal(maskOfLayer(site, place.layer)) ? found : site.cols - 1) });
  return '';
}
