import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Api } from './api';
import { EXAMPLE, exampleFetch, type Examples } from './example';
import { headFacts } from './head_facts';
import { Run, lineOfMap } from './run';
import { fetchLabels, fetchRun } from './wire';
import { mergedMap, wordsOf } from './words_map';

const examples = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../public/examples.json'), 'utf8')) as Examples;

async function open() {
  const api = new Api('', exampleFetch(examples));
  const info = await fetchRun(api, EXAMPLE);
  const run = new Run(api, info, (site, axis, from, count) => fetchLabels(api, info, site, axis, from, count), () => undefined);
  return { run, site: run.site('self') };
}

describe('the example', () => {
  it('is a run like any other', async () => {
    const { run, site } = await open();
    expect([site.rows, site.cols, site.layers.length, site.heads, site.special]).toEqual([13, 13, 6, 12, [0, 12]]);
    const labels = run.labels(site, 'row');
    await labels.need(0, 13);
    const words = wordsOf(Array.from({ length: 13 }, (_, i) => labels.at(i)).filter((label) => label !== undefined), true);
    expect(words.filter(({ special }) => !special).map(({ before, text }) => before + text).join('')).toBe(examples.sentence.text);
    expect(await labels.find('tired', 0, false)).toBe(10);
    expect(await labels.find('the', 4, false)).toBe(5);
    expect(await labels.find('the', 4, true)).toBe(1);
    expect(await labels.find('zebra', 0, false)).toBe(-1);
  });

  it('has rows that sum to 1, and says the same by tile, row and column', async () => {
    const { run, site } = await open();
    const { layer, head, row, column } = examples.sentence.start;
    const map = await run.whole(run.at(site, layer, head));
    map.rowSums.forEach((sum) => expect(sum).toBeCloseTo(1, 2));
    const line = await run.line(run.at(site, layer, head), row, false);
    expect([...line]).toEqual([...lineOfMap(map, row, false)]);
    expect((await run.line(run.at(site, layer, head), column, true))[row]).toBe(line[column]);
    expect(line[column]).toBeCloseTo(0.767, 2);
    expect(headFacts(map, site.special).special).toBeCloseTo(0.49, 2);
    const mean = await run.whole(run.at(site, layer, 'mean'));
    mean.rowSums.forEach((sum) => expect(sum).toBeCloseTo(1, 2));
    expect((await run.sprite(site, 13)).width).toBe(12 * 13);
  });

  it('merged keeps what rows give', async () => {
    const { run, site } = await open();
    const map = await run.whole(run.at(site, 2, 8));
    const pieces = [{ begin: 0, end: 1 }, { begin: 1, end: 4 }, { begin: 4, end: 13 }].map((each) => ({ ...each, text: '', before: '', name: '', special: false }));
    const merged = mergedMap(map, pieces, pieces);
    expect(merged.rows).toBe(3);
    merged.rowSums.forEach((sum) => expect(sum).toBeCloseTo(1, 2));
  });
});
