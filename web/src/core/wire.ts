/** The server's JSON, turned into what the page works with. */
import type { Api } from './api';
import type { MaskInfo } from './header';
import type { Label, RunInfo, Site } from './run';

export interface ModelInfo {
  name: string;
  kind: string;
  layers: number;
  heads: number;
  /** The most tokens it reads; 0: no limit known. */
  most: number;
  /** What it takes: "text", "image", … */
  takes: string[];
  writes: boolean;
  translates: boolean;
  /** Why it cannot be opened; empty: it can. */
  wrong: string;
}

export interface RunSummary {
  hash: string;
  model: string;
  input: string;
  tokens: number;
  sort: string;
  bytes: number;
}

type Loose = Record<string, unknown>;

const text = (value: unknown, fallback = ''): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : fallback);
const whole = (value: unknown, fallback = 0): number => (typeof value === 'number' && Number.isFinite(value) ? value : fallback);
const list = (value: unknown): Loose[] => (Array.isArray(value) ? (value as Loose[]) : []);
const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.filter((each): each is number => typeof each === 'number') : []);

export async function fetchModels(api: Api): Promise<ModelInfo[]> {
  const answer = await api.json<Loose>('/models');
  return list(answer['models']).map((each) => ({
    name: text(each['name']),
    kind: text(each['architecture']),
    layers: whole(each['layers']),
    heads: whole(each['heads']),
    most: whole(each['most_tokens']),
    takes: Array.isArray(each['takes']) ? (each['takes'] as string[]) : [],
    writes: each['writes'] === true,
    translates: each['translates'] === true,
    wrong: text((each['error'] as Loose | undefined)?.['message']),
  }));
}

export async function fetchRuns(api: Api): Promise<RunSummary[]> {
  const answer = await api.json<Loose>('/runs');
  return list(answer['runs']).map((each) => ({
    hash: text(each['run']),
    model: text(each['model']).split('/').pop() ?? '',
    input: text(each['input']) || text(each['name']),
    tokens: whole(each['positions']),
    sort: text(each['sort'], 'text'),
    bytes: whole(each['bytes']),
  }));
}

function maskOf(value: unknown): MaskInfo {
  const mask = (typeof value === 'object' && value !== null ? value : {}) as Loose;
  const maybe = (key: string): number | null => (typeof mask[key] === 'number' ? (mask[key] as number) : null);
  const info: MaskInfo = { offset: whole(mask['offset']), behind: maybe('behind'), ahead: maybe('ahead') };
    if (Array.isArray(mask['hidden_keys']) && mask['hidden_keys'].length > 0) info.hiddenKeys = numbers(mask['hidden_keys']);
  if (Array.isArray(mask['key_groups'])) {
    info.queryGroups = numbers(mask['query_groups']);
    info.keyGroups = numbers(mask['key_groups']);
  }
  return info;
}

function siteOf(each: Loose, axes: Loose[]): Site {
  // A server that does not tell it layer by layer says whether rows see what is before them.
  const told = list(each['visible']);
  const visible = (told.length > 0 ? told : numbers(each['layers']).map(() => (each['mask'] === 'causal' ? { ahead: 0 } : {}))).map(maskOf);
  const columns = axes.find((axis) => axis['name'] === each['column_axis']);
  return {
    name: text(each['name']),
    words: text(each['words']),
    layers: numbers(each['layers']),
    heads: whole(each['heads']),
    rows: whole(each['rows']),
    cols: whole(each['columns']),
    visible,
    rowAxis: text(each['row_axis']),
    colAxis: text(each['column_axis']),
    special: list(columns?.['special']).map((special) => whole(special['position'])),
    sinks: list(each['sinks']).map((sink) => whole(sink['position'])),
    of: Array.isArray(each['of']) ? (each['of'] as string[]) : ['weight', 'times-even'],
  };
}

export async function fetchRun(api: Api, hash: string): Promise<RunInfo> {
  const answer = await api.json<Loose>(`/runs/${encodeURIComponent(hash)}`);
  const axes = list(answer['axes']);
  const about = answer['model'];
  const input = (typeof answer['input'] === 'object' && answer['input'] !== null ? answer['input'] : {}) as Loose;
  const sources: Record<string, string> = {};
  for (const axis of axes) if (typeof axis['source'] === 'string') sources[text(axis['name'])] = axis['source'];
  return {
    hash,
    // A model that was opened by its folder is called by the folder's own name.
    model: (typeof about === 'object' && about !== null ? text((about as Loose)['name']) : text(about)).split('/').pop() ?? '',
    input: text(input['text'], text(answer['input'], Object.values(sources)[0] ?? text(answer['name']))),
    sites: list(answer['sites']).map((site) => siteOf(site, axes)),
    sources,
    sort: text(answer['sort'], 'text'),
  };
}

/** Signs that keep a name of any script from turning the words around it; on a page elements do that. */
const ISOLATES = /[\u2066-\u2069]/g;
const MARKS = /^\u00b7/;

/** Names of positions, with what stands between them in the text. Spans count bytes. */
export async function fetchLabels(api: Api, info: RunInfo, site: string, axis: 'row' | 'column', from: number, count: number): Promise<Label[]> {
  const answer = await api.json<Loose>(`/runs/${encodeURIComponent(info.hash)}/${encodeURIComponent(site)}/labels?axis=${axis}&from=${from}&n=${count}`);
  return labelsFrom(list(answer['labels']), info.sources[text(answer['axis'])] ?? '');
}

export function labelsFrom(labels: unknown[], of: string): Label[] {
  const source = new TextEncoder().encode(of);
  const decoder = new TextDecoder();
  let end = -1;
  let word = -1;
  return (labels as Loose[]).map((each): Label => {
    const display = text(each['display']).replace(ISOLATES, '');
    const [begin, stop] = numbers(each['span']) as [number?, number?];
    const inText = begin !== undefined && stop !== undefined;
    const own = inText ? decoder.decode(source.subarray(begin, stop)) : '';
    const before = inText && end >= 0 ? decoder.decode(source.subarray(end, begin)) : '';
    if (inText) end = stop;
    const group = whole(each['group'], -1);
    const begins = group < 0 || group !== word;
    word = group;
    return {
      id: whole(each['id'], -1), display, name: display.replace(MARKS, '') || display, special: text(each['kind']) === 'special',
      kind: text(each['kind'], 'text'), begins, group, before, text: inText ? own : display,
    };
  });
}
